#include "hyphos/params.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <set>
#include <thread>

#include "node/params/param_rules.hpp"
#include "node/params/param_store.hpp"
#include "tests/node/harness.hpp"

namespace hyphos::test {
namespace {

using params::Store;

/// Runs the enqueued work on demand, so that no test depends on threads.
struct Pool {
  std::deque<std::function<void()>> work;
  params::Enqueue enqueue() {
    return [this](std::function<void()> one) { work.push_back(std::move(one)); };
  }
  void run() {
    while (!work.empty()) {
      auto one = std::move(work.front());
      work.pop_front();
      one();
    }
  }
};

ParamInfo info(const std::string& name, const ParamVariant& value) {
  ParamInfo made;
  made.name = name;
  made.value = value;
  made.standard = value;
  return made;
}

Result<void> set(Store& store, const std::string& name, const ParamVariant& value) {
  return store.set({{name, value}}, ParamOrigin::set);
}

TEST(ParamValues, every_type_reads_back_from_its_yaml) {
  const std::vector<ParamVariant> values = {
      true,
      std::int64_t{-7},
      0.1,
      2.0,
      -HUGE_VAL,
      1e300,
      std::string("a \"b\"\n\tc\\ ä: #"),
      std::string("true"),
      std::string(),
      ParamBytes{std::byte{0x00}, std::byte{0xff}, std::byte{0x10}},
      std::vector<bool>{true, false},
      std::vector<std::int64_t>{},
      std::vector<std::int64_t>{1, -2},
      std::vector<double>{1.0, .5},
      std::vector<std::string>{"a, b", "", "]"}};
  for (const ParamVariant& value : values) {
    const auto back = parse_param(type_of(value), to_yaml(value));
    ASSERT_TRUE(back.ok()) << to_yaml(value) << ": " << back.error().to_string();
    EXPECT_EQ(*back, value) << to_yaml(value);
  }
}

TEST(ParamValues, an_unreadable_value_gets_an_error_with_the_valid_format) {
  EXPECT_NE(parse_param(ParamType::real, "fast").error().message.find("expected a number"),
            std::string::npos);
  EXPECT_NE(parse_param(ParamType::integer, "1.5").error().message.find("whole number"),
            std::string::npos);
  EXPECT_NE(parse_param(ParamType::boolean, "1").error().message.find("true or false"),
            std::string::npos);
  EXPECT_NE(parse_param(ParamType::bytes, "abc").error().message.find("hexadecimal"),
            std::string::npos);
  EXPECT_NE(parse_param(ParamType::reals, "3").error().message.find("list"), std::string::npos);
  EXPECT_FALSE(parse_param(ParamType::reals, "[1, two]").ok());
  EXPECT_FALSE(parse_param(ParamType::integers, "[1").ok());
  EXPECT_EQ(*parse_param(ParamType::text, "a: b # c"), ParamVariant(std::string("a: b # c")));
  EXPECT_EQ(*parse_param(ParamType::real, "3"), ParamVariant(3.0));
}

TEST(ParamStore, an_invalid_value_is_refused_and_the_old_value_kept) {
  Pool pool;
  Store store(pool.enqueue());
  ParamInfo speed = info("speed", 0.5);
  speed.range = ParamRange<double>{0, 2, 0.25};
  speed.unit = "m/s";
  ASSERT_TRUE(store.declare(speed, {}).ok());
  ParamInfo mode = info("mode", std::string("slow"));
  mode.choices = {"slow", "fast"};
  ASSERT_TRUE(store.declare(mode, {}).ok());
  ParamInfo fixed = info("fixed", std::int64_t{1});
  fixed.read_only = true;
  ASSERT_TRUE(store.declare(fixed, {}).ok());

  EXPECT_EQ(set(store, "speed", 2.5).error().message,
            "speed: 2.5 is not in 0.0 to 2.0 in steps of 0.25 m/s");
  EXPECT_EQ(set(store, "speed", 0.3).error().code, Code::invalid_config);
  EXPECT_EQ(set(store, "speed", std::nan("")).error().message, "speed: is not a number");
  EXPECT_EQ(set(store, "speed", std::string("2")).error().code, Code::type_mismatch);
  EXPECT_NE(set(store, "mode", std::string("fats")).error().message.find("did you mean 'fast'"),
            std::string::npos);
  EXPECT_EQ(set(store, "fixed", std::int64_t{2}).error().code, Code::permission);
  EXPECT_NE(set(store, "sped", 1.0).error().message.find("did you mean 'speed'"),
            std::string::npos);
  EXPECT_EQ(set(store, "mode", std::string("\x1b[31m")).error().code, Code::invalid_config);

  EXPECT_EQ(store.values().get<double>("speed"), 0.5);
  EXPECT_EQ(store.values().get<std::string>("mode"), "slow");
  EXPECT_TRUE(set(store, "speed", std::int64_t{1}).ok());  // an integer is also a valid real
  EXPECT_EQ(store.values().get<double>("speed"), 1.0);
  EXPECT_TRUE(set(store, "fixed", std::int64_t{1}).ok());  // nothing changes
}

TEST(ParamStore, several_values_are_set_together_or_not_at_all) {
  Pool pool;
  Store store(pool.enqueue());
  ASSERT_TRUE(store.declare(info("low", 1.0), {}).ok());
  ASSERT_TRUE(store.declare(info("high", 2.0), {}).ok());
  ASSERT_TRUE(store
                  .add_check([](const ParamSet& next) {
                    const bool fine = next.get<double>("low") < next.get<double>("high");
                    return fine ? std::string() : "low must be below high";
                  })
                  .ok());
  EXPECT_EQ(set(store, "low", 3.0).error().message, "low must be below high");
  const auto refused = store.set({{"low", 0.0}, {"high", std::string("x")}}, ParamOrigin::set);
  EXPECT_FALSE(refused.ok());
  EXPECT_EQ(store.values().get<double>("low"), 1.0);
  ASSERT_TRUE(store.set({{"low", 3.0}, {"high", 4.0}}, ParamOrigin::set).ok());
  EXPECT_EQ(store.values().get<double>("low"), 3.0);
  EXPECT_EQ(store.values().get<double>("high"), 4.0);
  EXPECT_FALSE(store.set({{"low", 0.0}, {"low", 1.0}}, ParamOrigin::set).ok());
  // All reasons at once.
  const auto both = store.set({{"lo", 0.0}, {"high", true}}, ParamOrigin::set).error().message;
  EXPECT_NE(both.find("'lo'"), std::string::npos);
  EXPECT_NE(both.find("high: expected real, found true"), std::string::npos);
}

TEST(ParamStore, a_check_may_accept_refuse_and_throw) {
  Pool pool;
  Store store(pool.enqueue());
  const auto odd = [](const ParamVariant& value) -> std::string {
    const auto number = std::get<std::int64_t>(value);
    if (number == 13) throw std::runtime_error("no thirteen");
    return number % 2 == 0 ? "must be odd" : "";
  };
  ASSERT_TRUE(store.declare(info("n", std::int64_t{1}), odd).ok());
  EXPECT_EQ(set(store, "n", std::int64_t{2}).error().message, "n: must be odd");
  EXPECT_EQ(set(store, "n", std::int64_t{13}).error().message, "n: no thirteen");
  EXPECT_TRUE(set(store, "n", std::int64_t{3}).ok());
  EXPECT_FALSE(store.declare(info("m", std::int64_t{4}), odd).ok());
  EXPECT_EQ(store.add_check([](const ParamSet&) { return std::string("never"); }).error().message,
            "never");
}

TEST(ParamStore, a_check_that_sets_parameters_ends_in_an_error) {
  Pool pool;
  Store store(pool.enqueue());
  ASSERT_TRUE(store.declare(info("a", std::int64_t{0}), {}).ok());
  ASSERT_TRUE(store.declare(info("b", std::int64_t{0}), {}).ok());
  bool inside = false;
  ASSERT_TRUE(store
                  .add_check([&](const ParamSet& next) {
                    if (!next.changed("a") || std::exchange(inside, true)) return std::string();
                    (void)set(store, "b", next.get<std::int64_t>("b") + 1);
                    inside = false;
                    return std::string();
                  })
                  .ok());
  EXPECT_EQ(set(store, "a", std::int64_t{1}).error().code, Code::overloaded);
  EXPECT_EQ(store.values().get<std::int64_t>("a"), 0);
}

TEST(ParamStore, changes_are_merged_while_a_watcher_is_busy) {
  Pool pool;
  Store store(pool.enqueue());
  ASSERT_TRUE(store.declare(info("a", std::int64_t{0}), {}).ok());
  ASSERT_TRUE(store.declare(info("b", std::int64_t{0}), {}).ok());
  std::vector<std::pair<std::int64_t, std::vector<std::string>>> told;
  const auto all = store.watchers().add("", [&](const ParamSet& now) {
    told.emplace_back(now.get<std::int64_t>("a"), now.changed());
  });
  int only_b = 0;
  const auto watch_b = store.watchers().add("b", [&](const ParamSet&) { ++only_b; });
  ASSERT_TRUE(set(store, "a", std::int64_t{0}).ok());  // the same value: no watcher is notified
  pool.run();
  EXPECT_TRUE(told.empty());
  ASSERT_TRUE(set(store, "a", std::int64_t{1}).ok());
  pool.run();
  ASSERT_TRUE(set(store, "a", std::int64_t{2}).ok());
  ASSERT_TRUE(set(store, "b", std::int64_t{5}).ok());
  ASSERT_TRUE(set(store, "a", std::int64_t{3}).ok());
  pool.run();
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0].first, 1);
  EXPECT_EQ(told[1].first, 3);
  EXPECT_EQ(told[1].second, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(all->merged(), 2U);
  EXPECT_EQ(only_b, 1);
  all->close();
  ASSERT_TRUE(set(store, "a", std::int64_t{4}).ok());
  pool.run();
  EXPECT_EQ(told.size(), 2U);
}

TEST(ParamStore, a_removed_parameter_may_return_with_another_type) {
  Pool pool;
  Store store(pool.enqueue());
  const std::string large(kMaxParamBytes - 1000, 'x');
  ASSERT_TRUE(store.declare(info("a", std::int64_t{1}), {}).ok());
  ASSERT_TRUE(store.declare(info("b", std::int64_t{2}), {}).ok());
  std::vector<std::string> told;
  (void)store.watchers().add("", [&](const ParamSet& now) { told = now.changed(); });
  EXPECT_TRUE(store.forget("a"));
  EXPECT_FALSE(store.forget("a"));
  pool.run();
  EXPECT_EQ(told, std::vector<std::string>{"a"});
  EXPECT_EQ(store.values().find("a"), nullptr);
  EXPECT_EQ(set(store, "a", std::int64_t{3}).error().code, Code::not_found);
  ASSERT_TRUE(store.declare(info("a", std::string("now text")), {}).ok());
  EXPECT_EQ(store.values().get<std::string>("a"), "now text");
  for (int round = 0; round < 40; ++round) {
    ASSERT_TRUE(store.declare(info("large", large), {}).ok()) << "its space is free again";
    ASSERT_TRUE(store.forget("large"));
  }
}

TEST(ParamStore, names_descriptions_and_bounds_are_checked) {
  Pool pool;
  Store store(pool.enqueue());
  for (const char* name : {"", "9x", "a..b", "a b", ".a", "a/b"}) {
    EXPECT_FALSE(store.declare(info(name, true), {}).ok()) << name;
  }
  ASSERT_TRUE(store.declare(info("laser.rate_hz", 20.0), {}).ok());
  EXPECT_EQ(store.declare(info("laser.rate_hz", 20.0), {}).error().code, Code::already_exists);
  EXPECT_EQ(store.declare(info("laser", 1.0), {}).error().code, Code::already_exists);
  EXPECT_EQ(store.declare(info("laser.rate_hz.x", 1.0), {}).error().code, Code::already_exists);
  ParamInfo empty = info("range", 1.0);
  empty.range = ParamRange<double>{2, 1};
  EXPECT_NE(store.declare(empty, {}).error().message.find("range is empty"), std::string::npos);
  ParamInfo outside = info("outside", 3.0);
  outside.range = ParamRange<double>{0, 1};
  EXPECT_NE(store.declare(outside, {}).error().message.find("its default"), std::string::npos);
  EXPECT_FALSE(store.declare(info("big", std::string(kMaxParamBytes + 1, 'x')), {}).ok());
  // Many values, each small enough.
  ASSERT_TRUE(store.declare(info("text", std::string()), {}).ok());
  Code code = Code::io;
  for (std::size_t i = 0; i < kMaxParams + 1 && code == Code::io; ++i) {
    const auto made = store.declare(info("p" + std::to_string(i), std::string(2000, 'x')), {});
    if (!made) code = made.error().code;
  }
  EXPECT_EQ(code, Code::exhausted);
}

TEST(ParamCell, many_readers_see_whole_values_while_one_thread_writes) {
  const std::vector<std::string> short_one(1, "s");
  const std::vector<std::string> long_one(64, std::string(40, 'l'));
  detail::ParamCell cell("list", short_one);
  std::atomic<bool> stop{false};
  std::atomic<int> torn{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i) {
    readers.emplace_back([&] {
      while (!stop.load()) {
        const ParamView<std::vector<std::string>> view(cell);
        if (!(view == short_one) && !(view == long_one)) ++torn;
      }
    });
  }
  for (int i = 0; i < 20'000; ++i) cell.assign(i % 2 == 0 ? long_one : short_one);
  stop = true;
  for (auto& reader : readers) reader.join();
  EXPECT_EQ(torn.load(), 0);
}

TEST(ParamCell, a_view_keeps_its_value_while_the_parameter_changes) {
  detail::ParamCell cell("name", std::string("one"));
  const ParamView<std::string> held(cell);
  for (int i = 0; i < 100; ++i) cell.assign(std::string("number ") + std::to_string(i));
  EXPECT_EQ(held, "one");
  EXPECT_EQ(ParamView<std::string>(cell), "number 99");
}

TEST(Params, every_kind_of_handle_reads_its_value) {
  Runtime runtime = Runtime::open(offline_options()).or_throw();
  const Node node = runtime.node("n").or_throw();
  const Params params = node.params();
  enum class Gait { walk, trot };
  const auto speed =
      params.declare<double>("speed", {.value = 0.5, .unit = "m/s", .range = {0, 2}});
  const auto beams = params.declare<int>("beams", {.value = 360, .range = {1, 3600}});
  const auto on = params.declare<bool>("on", {.value = true});
  const auto frame = params.declare<std::string>("frame", {.value = "odom"});
  const auto gains =
      params.declare<std::vector<double>>("gains", {.value = {1, 2}, .range = {0, 9}});
  const auto gait = params.declare<Gait>(
      "gait", {.value = Gait::walk, .choices = {{"walk", Gait::walk}, {"trot", Gait::trot}}});
  EXPECT_EQ(*speed, 0.5);
  EXPECT_EQ(*beams, 360);
  EXPECT_TRUE(*on);
  EXPECT_EQ(*frame, "odom");
  EXPECT_EQ(frame->size(), 4U);
  EXPECT_EQ(gains->at(1), 2.0);
  EXPECT_EQ(*gait, Gait::walk);
  ASSERT_TRUE(params.set({{"speed", 1.5}, {"gait", std::string("trot")}, {"on", false}}).ok());
  EXPECT_EQ(*speed, 1.5);
  EXPECT_EQ(*gait, Gait::trot);
  EXPECT_FALSE(*on);
  ASSERT_TRUE(gait.set(Gait::walk).ok());
  EXPECT_EQ(*gait, Gait::walk);
  ASSERT_TRUE(frame.set("map").ok());
  const std::string copy = frame.get();
  EXPECT_EQ(copy, "map");
  EXPECT_FALSE(gains.set({1, 10}).ok());
  EXPECT_FALSE(params.set("beams", std::int64_t{1} << 40).ok());  // an int cannot hold it
  EXPECT_THROW((void)params.declare<bool>("on"), Exception);
  EXPECT_EQ(params.values().find("speed")->unit, "m/s");
  EXPECT_EQ(params.values().find("speed")->origin, ParamOrigin::set);
}

TEST(Params, watchers_run_on_the_pool_and_end_with_the_node) {
  Arrivals got;
  Runtime runtime = Runtime::open(offline_options()).or_throw();
  const Node node = runtime.node("n").or_throw();
  const auto speed = node.params().declare<double>("speed", {.value = 1});
  speed.watch([&](double now) { got.add(static_cast<int>(now)); });
  EXPECT_THROW(node.params().watch("sped", [](const ParamSet&) {}), Exception);
  ASSERT_TRUE(speed.set(7).ok());
  ASSERT_TRUE(got.wait_for(1));
  EXPECT_EQ(got.values().back(), 7);
  node.close();
  EXPECT_EQ(speed.set(8).error().code, Code::disconnected);
  EXPECT_EQ(*speed, 7);
}

TEST(Params, many_threads_set_values_and_no_change_is_lost) {
  Runtime runtime = Runtime::open(offline_options()).or_throw();
  const Node node = runtime.node("n").or_throw();
  const auto sum = node.params().declare<std::int64_t>("sum");
  node.params().check(
      [](const ParamSet& next) { return next.get<std::int64_t>("sum") >= 0 ? "" : "negative"; });
  std::atomic<int> done{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    const std::string own = "own" + std::to_string(t);
    node.params().declare<std::int64_t>(own);
    threads.emplace_back([&, own] {
      for (std::int64_t i = 1; i <= 200; ++i) {
        if (node.params().set(own, i)) ++done;
        (void)*sum;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  const ParamSet now = node.params().values();
  for (int t = 0; t < 4; ++t) {
    EXPECT_EQ(now.get<std::int64_t>("own" + std::to_string(t)), 200);
  }
  EXPECT_EQ(done.load(), 800);
}

TEST(Params, values_start_from_the_plan) {
  const PlanFile file("hyphos: 1\ndomain: \"" + fresh_domain() + R"("
processes: {main: {params: {one: {laser: {rate_hz: 40}}}}}
nodes:
  one: {process: main, params: {laser: {rate_hz: 20, beams: 10}, name: front, spede: 3}}
)");
  RuntimeOptions options = file.options("main");
  options.overrides = {"nodes.one.params.laser.beams=99"};
  Runtime runtime = Runtime::open(options).or_throw();
  const Node one = runtime.node("one").or_throw();
  const Params params = one.params();
  EXPECT_EQ(*params.declare<double>("laser.rate_hz", {.value = 1}), 40.0);
  EXPECT_EQ(*params.declare<std::int64_t>("laser.beams", {.value = 1}), 99);
  EXPECT_EQ(*params.declare<double>("speed", {.value = 0.5}), 0.5);
  EXPECT_EQ(params.values().find("laser.rate_hz")->origin, ParamOrigin::plan);
  EXPECT_EQ(params.values().find("speed")->origin, ParamOrigin::standard);
  try {
    (void)params.declare<double>("name");
    FAIL();
  } catch (const Exception& error) {
    EXPECT_NE(error.error().where.find("robot.yaml:5"), std::string::npos);
  }
  try {
    (void)params.declare<std::int64_t>("spede", {.value = 5, .range = {4, 9}});
    FAIL();
  } catch (const Exception& error) {
    EXPECT_NE(error.error().message.find("3 is not in 4 to 9"), std::string::npos);
  }
}

TEST(Params, a_plain_read_declares_a_read_only_parameter) {
  const PlanFile file("hyphos: 1\ndomain: \"" + fresh_domain() +
                      "\"\nnodes: {one: {params: {gain: 2}}}\n");
  Runtime runtime = Runtime::open(file.options("main")).or_throw();
  const Node one = runtime.node("one").or_throw();
  EXPECT_EQ(one.param("gain", 1.0), 2.0);
  EXPECT_EQ(one.param("gain", 1), 2);  // reading as two types still works
  EXPECT_EQ(one.param("name", "x"), "x");
  const ParamSet now = one.params().values();
  EXPECT_TRUE(now.find("gain")->read_only);
  EXPECT_EQ(one.params().set("gain", 3.0).error().code, Code::permission);
  // After a later declaration, it can be set.
  const auto gain = one.params().declare<double>("gain", {.value = 1, .unit = "dB"});
  EXPECT_EQ(*gain, 2.0);
  EXPECT_TRUE(gain.set(3).ok());
  EXPECT_EQ(one.param("gain", 1.0), 3.0);
}

TEST(Params, all_unknown_keys_of_a_plan_are_one_line) {
  const PlanFile file("hyphos: 1\ndomain: \"" + fresh_domain() +
                      "\"\nnodes: {one: {params: {gain: 2, deep: {a: 1, b: 2}, name: x}}}\n");
  Runtime runtime = Runtime::open(file.options("main")).or_throw();
  const Node one = runtime.node("one").or_throw();
  (void)one.params().declare<double>("gain", {.value = 1});
  testing::internal::CaptureStderr();
  runtime.ready();
  const std::string logged = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(logged.begin(), logged.end(), '\n'), 1) << logged;
  EXPECT_NE(logged.find("robot.yaml:3:"), std::string::npos) << logged;
  EXPECT_NE(logged.find("none of these 3 parameters: deep.a, deep.b, name. "), std::string::npos)
      << logged;
}

}  // namespace
}  // namespace hyphos::test
