#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "trace/record.hpp"
#include "transport/transport.hpp"

namespace hyphos::trace {
namespace {

struct FreeArea {
  void operator()(std::byte* p) const { ::operator delete(p, std::align_val_t{64}); }
};
using Area = std::unique_ptr<std::byte, FreeArea>;

Area make_area(std::size_t size) {
  Area area(static_cast<std::byte*>(::operator new(size, std::align_val_t{64})));
  std::memset(area.get(), 0, size);
  return area;
}

TEST(Histogram, every_value_is_within_the_edges_of_its_bucket) {
  using H = Histogram<6>;
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t value = random() >> (24 + random() % 40);
    const std::size_t at = H::index(value);
    ASSERT_LE(value, static_cast<std::uint64_t>(H::upper_edge(at)));
    if (at > 0) {
      ASSERT_GT(value, static_cast<std::uint64_t>(H::upper_edge(at - 1)));
    }
  }
}

TEST(Histogram, percentiles_are_within_one_bucket_of_the_exact_ones) {
  auto histogram = std::make_unique<Histogram<6>>();
  std::vector<std::int64_t> values;
  std::mt19937_64 random(2);
  for (int i = 0; i < 20'000; ++i) {
    const auto value = static_cast<std::int64_t>(random() % 5'000'000);
    values.push_back(value);
    histogram->record(value);
  }
  std::sort(values.begin(), values.end());
  const HistogramSnapshot snapshot = histogram->snapshot();
  EXPECT_EQ(snapshot.count, values.size());
  EXPECT_EQ(snapshot.max_ns, values.back());
  for (const double p : {0.5, 0.95, 0.99, 0.999}) {
    const auto rank = static_cast<std::size_t>(p * static_cast<double>(values.size()));
    const auto exact = static_cast<double>(values[std::min(rank, values.size() - 1)]);
    EXPECT_NEAR(static_cast<double>(snapshot.percentile_ns(p)), exact, exact / 32 + 1) << p;
  }
}

TEST(Histogram, very_long_times_use_the_last_bucket_and_negative_ones_0) {
  auto histogram = std::make_unique<Histogram<3>>();
  histogram->record(std::int64_t{1} << 60);
  histogram->record(-5);
  const auto snapshot = histogram->snapshot();
  EXPECT_EQ(snapshot.count, 2U);
  EXPECT_EQ(snapshot.min_ns, 0);
  EXPECT_EQ(snapshot.max_ns, std::int64_t{1} << 60);
}

TEST(Histogram, a_difference_of_snapshots_has_only_newer_samples) {
  auto histogram = std::make_unique<Histogram<6>>();
  histogram->record(1000);
  const auto before = histogram->snapshot();
  histogram->record(1000);
  histogram->record(90'000);
  const auto between = histogram->snapshot().since(before);
  EXPECT_EQ(between.count, 2U);
  EXPECT_NEAR(between.mean_ns, 45'500, 1);
  EXPECT_GE(between.percentile_ns(1.0), 90'000);
}

TEST(Timings, the_layers_add_up_to_the_latency) {
  auto timings = std::make_unique<Timings>();
  // publish, encoded, handed, arrived, scheduled, decoded, callback
  timings->record({100, 150, 160, 400, 420, 500, 510}, 450);
  std::int64_t sum = 0;
  for (const auto& layer : timings->layers) {
    const auto snapshot = layer.snapshot();
    sum += static_cast<std::int64_t>(snapshot.mean_ns * static_cast<double>(snapshot.count));
  }
  EXPECT_EQ(sum, 410);
  EXPECT_EQ(timings->latency.snapshot().max_ns, 410);
}

TEST(Registry, counters_are_read_through_the_area) {
  const std::size_t size = Registry::kMinArea;
  const Area area = make_area(size);
  Registry registry({area.get(), size}, nullptr, "sense", 42);
  const std::size_t shm = registry.transport_index("shm");
  EndpointId id{"scan", "mapper",     make_type_id("pkg.Scan", Encoding::structure, 8),
                {},     Mode::serial, false};
  const auto endpoint = registry.add(id);
  (**endpoint).count(Counter::received, 7);
  (**endpoint).transports.store(1U | 2U << shm);
  endpoint->drop(shm, static_cast<std::size_t>(transport::Drop::overflow), 3);
  endpoint->timings()->latency.record(5000);

  const auto process = read_area({area.get(), size});
  ASSERT_TRUE(process.ok()) << process.error().to_string();
  EXPECT_EQ(process->name, "sense");
  EXPECT_EQ(process->participant, 42U);
  ASSERT_EQ(process->endpoints.size(), 1U);
  const EndpointInfo& info = process->endpoints[0];
  EXPECT_EQ(info.channel, "scan");
  EXPECT_EQ(info.node, "mapper");
  EXPECT_EQ(info.type_name, "pkg.Scan");
  EXPECT_EQ(info.transports, "pointer+shm");
  EXPECT_EQ(info.counter("received"), 7U);
  EXPECT_EQ(info.counter("drop.shm.overflow"), 3U);
  EXPECT_EQ(info.latency.count, 1U);
}

TEST(Registry, a_removed_endpoint_leaves_a_clean_record) {
  const std::size_t size = Registry::kMinArea;
  const Area area = make_area(size);
  Registry registry({area.get(), size}, nullptr, "p", 1);
  const EndpointId id{"a", "n", make_type_id("t", Encoding::bytes), {}, Mode::serial, false};
  {
    const auto endpoint = registry.add(id);
    (**endpoint).count(Counter::received, 9);
    endpoint->timings()->latency.record(5);
  }
  EXPECT_TRUE(read_area({area.get(), size})->endpoints.empty());
  const auto again = registry.add(id);
  const auto process = read_area({area.get(), size});
  ASSERT_EQ(process->endpoints.size(), 1U);
  EXPECT_EQ(process->endpoints[0].counter("received"), 0U);
  EXPECT_EQ(process->endpoints[0].latency.count, 0U);
}

TEST(Registry, endpoints_beyond_the_area_are_counted_on_the_heap) {
  const std::size_t size = Registry::kMinArea;
  const Area area = make_area(size);
  Registry registry({area.get(), size}, nullptr, "p", 1);
  std::vector<std::unique_ptr<Endpoint>> all;
  for (int i = 0; i < 700; ++i) {
    all.push_back(registry.add({"c" + std::to_string(i),
                                "n",
                                make_type_id("t", Encoding::bytes),
                                {},
                                Mode::serial,
                                false}));
    (**all.back()).count(Counter::received);
    ASSERT_NE(all.back()->timings(), nullptr);
  }
  EXPECT_EQ(all.back()->info().counter("received"), 1U);
  EXPECT_LT(read_area({area.get(), size})->endpoints.size(), all.size());
}

TEST(ReadArea, an_area_has_the_state_of_the_process) {
  const std::size_t size = Registry::kMinArea;
  const Area area = make_area(size);
  Registry registry({area.get(), size}, nullptr, "p", 1);
  EXPECT_EQ(read_area({area.get(), size})->state, ProcessState::starting);
  EXPECT_EQ(read_area({area.get(), size})->heartbeat_ns, 0);
  registry.set_state(ProcessState::ready);
  registry.beat(42);
  EXPECT_EQ(read_area({area.get(), size})->state, ProcessState::ready);
  EXPECT_EQ(read_area({area.get(), size})->heartbeat_ns, 42);
}

TEST(Registry, all_endpoints_are_listed_also_those_on_the_heap) {
  Registry heap({}, nullptr, "p", 0);
  heap.set_state(ProcessState::ready);  // not visible to tools, but harmless
  heap.beat(1);
  EXPECT_TRUE(heap.endpoints().empty());
  const auto id = make_type_id("t", Encoding::bytes);
  auto first = heap.add({"a", "n", id, {}, Mode::serial, true});
  const auto second = heap.add({"b", "n", id, {}, Mode::serial, false});
  ASSERT_EQ(heap.endpoints().size(), 2U);
  EXPECT_EQ(heap.endpoints()[0].channel, "a");
  first.reset();
  ASSERT_EQ(heap.endpoints().size(), 1U);
  EXPECT_EQ(heap.endpoints()[0].channel, "b");
}

TEST(ReadArea, random_bytes_are_refused) {
  const std::size_t size = Registry::kMinArea;
  const Area area = make_area(size);
  EXPECT_EQ(read_area({area.get(), 100}).error().code, Code::corrupt);
  EXPECT_EQ(read_area({area.get(), size}).error().code, Code::corrupt);
}

TEST(ReadArea, a_corrupt_index_is_ignored) {
  const std::size_t size = Registry::kMinArea;
  const Area area = make_area(size);
  Registry registry({area.get(), size}, nullptr, "p", 1);
  const auto endpoint =
      registry.add({"c", "n", make_type_id("t", Encoding::bytes), {}, Mode::serial, false});
  const std::uint32_t real = (**endpoint).timings.exchange(4'000'000);
  (**endpoint).channel.fill('x');  // text without a terminator
  const auto process = read_area({area.get(), size});
  ASSERT_TRUE(process.ok());
  EXPECT_EQ(process->endpoints.at(0).channel.size(), (**endpoint).channel.size());
  EXPECT_EQ(process->endpoints.at(0).latency.count, 0U);
  (**endpoint).timings.store(real);
}

TEST(Counters, names_of_drops_match_the_transport_interface) {
  const std::size_t size = Registry::kMinArea;
  const Area area = make_area(size);
  Registry registry({area.get(), size}, nullptr, "p", 1);
  const std::size_t index = registry.transport_index("x");
  const auto endpoint =
      registry.add({"c", "n", make_type_id("t", Encoding::bytes), {}, Mode::serial, true});
  for (std::size_t kind = 0; kind < transport::kDropReasons; ++kind) {
    endpoint->drop(index, kind, 1);
    const auto name = "drop.x." + std::string(to_string(static_cast<transport::Drop>(kind)));
    EXPECT_EQ(endpoint->info().counter(name), 1U) << name;
  }
}

}  // namespace
}  // namespace hyphos::trace
