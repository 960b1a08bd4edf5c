// Transforms over channels: several processes (runtimes of one domain), late joiners, waits.
#include <gtest/gtest.h>

#include <future>

#include "hyphos/future.hpp"
#include "node/transforms/tf_codec.hpp"
#include "tests/node/harness.hpp"
#include <hyphos/msgs/tf.pb.h>

namespace hyphos::test {
namespace {

constexpr std::int64_t kBegin = 1'700'000'000'000'000'000;

Time at_ms(std::int64_t ms) { return Time{kBegin + ms * 1'000'000}; }

Transform moved(const std::string& parent, const std::string& child, Time stamp, double x) {
  return {parent, child, stamp, {x, 0, 0}, {}};
}

struct Process {
  explicit Process(const std::string& domain, const std::string& name)
      : runtime(open_runtime(domain, name)), node(runtime.node(name).or_throw()) {}
  Runtime runtime;
  Node node;
};

Runtime offline() {
  RuntimeOptions options = offline_options();
  options.threads = 1;
  return Runtime::open(options).or_throw();
}

/// Waits until another process knows this process's transforms.
Transform soon(const Transforms& transforms, const std::string& target, const std::string& source,
               Time time = latest) {
  return transforms.get(target, source, time, Duration::from_ms(60'000)).or_throw();
}

TEST(Transforms, three_processes_build_the_tree_of_the_paper) {
  const std::string domain = fresh_domain();
  const Process left(domain, "left");
  const Process right(domain, "right");
  const Process asks(domain, "asks");
  const Transforms a = left.node.transforms();
  const Transforms b = right.node.transforms();
  const Transforms c = asks.node.transforms();
  ASSERT_TRUE(a.set_static(moved("a1", "a2", {}, 1)));
  ASSERT_TRUE(b.set_static(moved("a1", "a3", {}, 2)));
  ASSERT_TRUE(b.set_static(moved("a5", "a8", {}, 200)));
  // Moving transforms are sent at their rate. Those sent before the others subscribed are lost. No
  // faster than real time: otherwise one of two branches could be ahead by more than the history.
  int ms = 0;
  const bool known = eventually([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const std::vector<Transform> below{moved("a2", "a4", at_ms(ms), 10),
                                       moved("a4", "a6", at_ms(ms), 100)};
    EXPECT_TRUE(a.set(below));
    EXPECT_TRUE(b.set(moved("a3", "a5", at_ms(ms++), 20)));
    return c.get("a8", "a6").ok();
  });
  ASSERT_TRUE(known);
  const Transform found = c.get("a8", "a6").or_throw();
  EXPECT_DOUBLE_EQ(found.translation.x, 111 - 222);
  const TransformChain chain = c.chain("a8", "a6").or_throw();
  EXPECT_EQ(chain.frames, (std::vector<std::string>{"a6", "a4", "a2", "a1", "a3", "a5", "a8"}));
  EXPECT_EQ(chain.frames[chain.ancestor], "a1");
}

TEST(Transforms, late_processes_get_the_static_transforms_of_all_others) {
  const std::string domain = fresh_domain();
  const Process one(domain, "one");
  const Process two(domain, "two");
  ASSERT_TRUE(one.node.transforms().set_static(moved("base", "laser", {}, 1)));
  ASSERT_TRUE(one.node.transforms().set_static(moved("base", "camera", {}, 2)));
  ASSERT_TRUE(two.node.transforms().set_static(moved("map", "base", {}, 10)));
  const Process late(domain, "late");
  const Transforms transforms = late.node.transforms();
  EXPECT_EQ(soon(transforms, "map", "laser").translation.x, 11);
  EXPECT_EQ(soon(transforms, "map", "camera").translation.x, 12);
}

TEST(Transforms, a_local_transform_is_known_at_once_and_only_once) {
  Runtime runtime = offline();
  const Node node = runtime.node("n").or_throw();
  const Node other = runtime.node("m").or_throw();
  const Transforms transforms = node.transforms();
  ASSERT_TRUE(transforms.set(moved("map", "base", at_ms(0), 1)));
  ASSERT_TRUE(transforms.set_static(moved("base", "laser", {}, 1)));
  // One tree per process. Our own messages, received on our own channel, change nothing.
  EXPECT_EQ(other.transforms().get("map", "laser").or_throw().translation.x, 2);
  EXPECT_EQ(transforms.counters().accepted, 2U);
  EXPECT_EQ(transforms.counters().duplicates, 0U);
  EXPECT_EQ(transforms.channel(), "tf");
}

TEST(Transforms, a_prefix_separates_robots) {
  Runtime runtime = offline();
  const Node node = runtime.node("n").or_throw();
  TransformsOptions options;
  options.prefix = "robot1";
  const Transforms one = node.transforms(options);
  const Transforms plain = node.transforms();
  ASSERT_TRUE(one.set_static(moved("map", "base", {}, 1)));
  EXPECT_EQ(one.channel(), "robot1/tf");
  EXPECT_TRUE(one.get("map", "base"));
  EXPECT_EQ(plain.get("map", "base").error().code, Code::not_found);
  options.prefix = "not good";
  EXPECT_THROW((void)node.transforms(options), Exception);
}

TEST(Transforms, the_message_on_the_channel_is_tf_message) {
  Runtime runtime = offline();
  const Node node = runtime.node("n").or_throw();
  std::vector<msgs::TfMessage> heard;
  std::vector<msgs::TfMessage> heard_static;
  node.subscribe<msgs::TfMessage>("tf", inline_, [&](const auto& m) { heard.push_back(*m); });
  node.subscribe<msgs::TfMessage>("tf_static", inline_,
                                  [&](const auto& m) { heard_static.push_back(*m); });
  const Transforms transforms = node.transforms();
  const std::vector<Transform> both{
      {"map", "odom", at_ms(1), {1, 2, 3}, to_quaternion({0.1, 0.2, 0.3})},
      moved("odom", "base", at_ms(2), 7)};
  ASSERT_TRUE(transforms.set(both));
  ASSERT_EQ(heard.size(), 1U);
  ASSERT_EQ(heard[0].transforms_size(), 2);
  const auto& first = heard[0].transforms(0);
  EXPECT_EQ(first.header().frame_id(), "map");
  EXPECT_EQ(first.header().stamp_ns(), at_ms(1).ns);
  EXPECT_EQ(first.child_frame_id(), "odom");
  EXPECT_EQ(first.transform().translation().z(), 3);
  EXPECT_EQ(first.transform().rotation().w(), both[0].rotation.w);
  // Every message holds all static transforms of the process.
  ASSERT_TRUE(transforms.set_static(moved("base", "laser", {}, 1)));
  ASSERT_TRUE(transforms.set_static(moved("base", "camera", {}, 2)));
  ASSERT_EQ(heard_static.size(), 2U);
  EXPECT_EQ(heard_static[1].transforms_size(), 2);
  // From now on, a frame that moves is not static any more.
  ASSERT_TRUE(transforms.set(moved("base", "camera", at_ms(3), 2)));
  ASSERT_EQ(heard_static.size(), 3U);
  EXPECT_EQ(heard_static[2].transforms_size(), 1);

  // In the other direction: the tree accepts messages of any publisher.
  const auto publisher = node.publisher<msgs::TfMessage>("tf");
  msgs::TfMessage message;
  auto* stamped = message.add_transforms();
  stamped->mutable_header()->set_frame_id("/base");
  stamped->mutable_header()->set_stamp_ns(at_ms(2).ns);
  stamped->set_child_frame_id("/arm");
  stamped->mutable_transform()->mutable_translation()->set_y(5);
  stamped->mutable_transform()->mutable_rotation()->set_w(1);
  message.add_transforms()->set_child_frame_id("broken");
  publisher.publish(message);
  EXPECT_EQ(transforms.get("base", "arm").or_throw().translation.y, 5);
  EXPECT_EQ(transforms.counters().refused, 1U);
}

TEST(Transforms, valid_transforms_are_set_and_the_first_bad_is_reported) {
  Runtime runtime = offline();
  const Node node = runtime.node("n").or_throw();
  int sent = 0;
  node.subscribe<msgs::TfMessage>("tf", inline_,
                                  [&](const auto& m) { sent += m->transforms_size(); });
  const Transforms transforms = node.transforms();
  const std::vector<Transform> all{moved("a", "b", at_ms(0), 1), moved("b", "a", at_ms(0), 1),
                                   moved("b", "c", at_ms(0), 1), moved("c", "c", at_ms(0), 1)};
  const auto result = transforms.set(all);
  EXPECT_NE(result.error().message.find("loop"), std::string::npos);
  EXPECT_TRUE(transforms.get("a", "c"));
  EXPECT_EQ(sent, 2);
}

TEST(Transforms, an_absent_frame_names_the_channels_that_the_plan_omits) {
  const auto error = [](const std::string& hosts, const std::string& channels) {
    const PlanFile file("hyphos: 1\nrobot: test\ndomain: \"" + fresh_domain() + "\"\n" + hosts + R"(
nodes: {pilot: {process: body}}
)" + channels);
    RuntimeOptions options = file.options("body");
    options.offline = true;
    Runtime runtime = Runtime::open(options).or_throw();
    const Transforms transforms = runtime.node("pilot").or_throw().transforms();
    const std::string empty = transforms.get("map", "base").error().message;
    transforms.set_static(moved("base", "laser", Time{}, 1)).or_throw();
    const std::string known = transforms.get("map", "laser").error().message;
    transforms.set_static(moved("map", "odom", Time{}, 1)).or_throw();
    const std::string apart = transforms.get("map", "laser").error().message;
    return std::vector<std::string>{empty, known, apart};
  };
  const std::string one = "processes: {body: {}}";
  const std::string two =
      "hosts: {robot: {address: 127.0.0.1}, desk: {address: 127.0.0.2}}\n"
      "processes: {body: {host: robot}}";
  const std::string remedy = "Transforms of other machines do not arrive: name ";
  const std::string end = " under channels: of the plan";
  for (const std::string& text : error(two, "channels: {scan: {}}")) {
    EXPECT_NE(text.find(remedy + "'tf' and 'tf_static'" + end), std::string::npos) << text;
  }
  for (const std::string& text : error(two, "channels: {tf: {}}")) {
    EXPECT_NE(text.find(remedy + "'tf_static'" + end), std::string::npos) << text;
  }
  for (const std::string& text : error(two, "channels: {tf: {}, tf_static: {latched: true}}")) {
    EXPECT_EQ(text.find(remedy), std::string::npos) << text;
  }
  for (const std::string& text : error(one, "channels: {scan: {}}")) {
    EXPECT_EQ(text.find(remedy), std::string::npos) << text;
  }
}

TEST(Transforms, a_wait_ends_when_the_missing_transform_arrives) {
  Runtime runtime = offline();
  const Node node = runtime.node("n").or_throw();
  const Transforms transforms = node.transforms();
  auto unknown = transforms.wait("map", "laser", at_ms(50), Duration::from_ms(60'000));
  std::promise<Result<Transform>> called;
  transforms.wait("map", "laser", at_ms(50), Duration::from_ms(60'000),
                  [&](Result<Transform> result) { called.set_value(std::move(result)); });
  const auto pending = [](auto& f) {
    return f.wait_for(std::chrono::seconds(0)) == std::future_status::timeout;
  };
  ASSERT_TRUE(transforms.set_static(moved("base", "laser", {}, 1)));
  ASSERT_TRUE(transforms.set(moved("map", "base", at_ms(0), 0)));
  EXPECT_TRUE(pending(unknown));
  ASSERT_TRUE(transforms.set(moved("map", "base", at_ms(100), 10)));
  EXPECT_FALSE(pending(unknown));  // the writer has ended the wait
  EXPECT_NEAR(unknown.get().or_throw().translation.x, 6, 1e-12);
  EXPECT_NEAR(called.get_future().get().or_throw().translation.x, 6, 1e-12);
  // Already known: at once.
  EXPECT_TRUE(transforms.wait("map", "base", latest, Duration{}).get());
}

TEST(Transforms, a_wait_ends_with_the_reason_at_its_timeout) {
  Runtime runtime = offline();
  const Node node = runtime.node("n").or_throw();
  const Transforms transforms = node.transforms();
  ASSERT_TRUE(transforms.set(moved("map", "base", at_ms(0), 0)));
  const Error error = transforms.get("map", "base", at_ms(30), Duration::from_ms(1)).error();
  EXPECT_EQ(error.code, Code::timeout);
  EXPECT_NE(error.message.find("timed out after 1 ms: 'map' from 'base'"), std::string::npos);
  EXPECT_NE(error.message.find("30 ms after its newest"), std::string::npos);
  // A time older than the history will never arrive.
  const Error never =
      transforms.wait("map", "base", at_ms(-20'000), Duration::from_ms(60'000)).get().error();
  EXPECT_EQ(never.code, Code::out_of_range);
}

TEST(Transforms, waits_are_bounded_and_end_with_the_process) {
  std::vector<std::future<Result<Transform>>> waits;
  std::promise<Result<Transform>> called;
  {
    Runtime runtime = offline();
    const Node node = runtime.node("n").or_throw();
    TransformsOptions options;
    options.max_waiting = 3;
    const Transforms transforms = node.transforms(options);
    for (int i = 0; i < 3; ++i) {
      waits.push_back(transforms.wait("a", "b", latest, Duration::from_ms(1'000'000)));
    }
    EXPECT_EQ(transforms.wait("a", "b", latest, Duration::from_ms(1000)).get().error().code,
              Code::overloaded);
    transforms.wait("a", "b", latest, Duration::from_ms(1000),
                    [&](Result<Transform> result) { called.set_value(std::move(result)); });
  }
  for (auto& wait : waits) EXPECT_EQ(wait.get().error().code, Code::disconnected);
  EXPECT_EQ(called.get_future().get().error().code, Code::overloaded);
}

TEST(Transforms, a_callback_may_wait_for_a_transform_with_one_thread) {
  const std::string domain = fresh_domain();
  const Process other(domain, "other");
  RuntimeOptions options;
  options.domain = domain;
  options.threads = 1;
  Runtime runtime = Runtime::open(options).or_throw();
  const Node node = runtime.node("n").or_throw();
  const Transforms here = node.transforms();
  const Transforms there = other.node.transforms();
  std::promise<Result<Transform>> answer;
  std::promise<void> begun;
  node.subscribe<Number>("go", serial, [&](const Message<Number>&) {
    auto future = here.wait("map", "base", at_ms(5), Duration::from_ms(20'000));
    begun.set_value();
    answer.set_value(future.get());
  });
  node.publisher<Number>("go").publish({1});
  begun.get_future().wait();
  const auto answered = answer.get_future();
  for (int i = 0; answered.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready;
       ++i) {
    ASSERT_TRUE(there.set(moved("map", "base", at_ms(i % 2 == 0 ? 0 : 5), 3)));
  }
  SUCCEED();
}

TEST(Transforms, after_the_end_nothing_is_sent) {
  std::optional<Transforms> kept;
  {
    Runtime runtime = offline();
    kept = runtime.node("n").or_throw().transforms();
    ASSERT_TRUE(kept->set(moved("a", "b", at_ms(0), 1)));
  }
  EXPECT_EQ(kept->set(moved("a", "b", at_ms(1), 1)).error().code, Code::disconnected);
  EXPECT_EQ(kept->wait("a", "x", latest, Duration::from_ms(1000)).get().error().code,
            Code::disconnected);
  EXPECT_TRUE(kept->get("a", "b", at_ms(0)));
}

TEST(TfCodec, the_codec_is_compatible_with_protobuf) {
  const std::vector<Transform> all{
      {"map", "odom", Time{-5}, {1, -0.0, 3e300}, {0, 0, 0, 0}},
      {"", "", Time{}, {}, {0, 0, 0, 0}},
      {"a", std::string(300, 'x'), Time{kBegin}, {0, 0, 1}, {0.5, -0.5, 0.5, -0.5}}};
  std::vector<std::byte> bytes(tf::size(all));
  tf::write(all, bytes.data());
  msgs::TfMessage message;
  ASSERT_TRUE(message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  ASSERT_EQ(message.transforms_size(), 3);
  const std::string theirs = message.SerializeAsString();
  EXPECT_EQ(std::as_bytes(std::span(theirs)).size(), bytes.size());
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), std::as_bytes(std::span(theirs)).begin()));
  std::size_t i = 0;
  ASSERT_TRUE(tf::read(bytes, [&](const Transform& t) {
    EXPECT_EQ(t.parent, all[i].parent);
    EXPECT_EQ(t.child, all[i].child);
    EXPECT_EQ(t.stamp, all[i].stamp);
    EXPECT_EQ(t.isometry(), all[i].isometry());
    ++i;
  }));
  EXPECT_EQ(i, 3U);
}

TEST(TfCodec, malformed_bytes_are_refused) {
  const std::vector<Transform> all{{"map", "odom", Time{5}, {1, 2, 3}, {}}};
  std::vector<std::byte> bytes(tf::size(all));
  tf::write(all, bytes.data());
  const auto ignore = [](const Transform&) {};
  for (std::size_t length = 1; length < bytes.size(); ++length) {
    EXPECT_FALSE(tf::read(std::span(bytes).first(length), ignore)) << length;
  }
  EXPECT_TRUE(tf::read({}, ignore));
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      auto flipped = bytes;
      flipped[at] ^= static_cast<std::byte>(1 << bit);
      (void)tf::read(flipped, ignore);  // any result is valid, but it must end
    }
  }
}

}  // namespace
}  // namespace hyphos::test
