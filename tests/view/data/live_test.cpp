#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <fstream>
#include <mutex>
#include <thread>

#include "hyphos/hyphos.hpp"
#include "source_sink.hpp"
#include "view/core/graph_state.hpp"
#include "view/sources/open.hpp"
#include "view/sources/past.hpp"
#include <hyphos/msgs/std.pb.h>

namespace hyphos::view {
namespace {

/// A bell that the source rings.
class Bell {
 public:
  void ring() {
    const std::lock_guard lock(mutex_);
    rung_ = true;
    bell_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    bell_.wait_for(lock, std::chrono::milliseconds(100), [this] { return rung_; });
    rung_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable bell_;
  bool rung_ = false;
};

/// A robot in a process of its own, because the viewer leaves out its own process. See
/// robot/main.cpp.
class Robot {
 public:
  explicit Robot(const std::string& domain, const std::string& type = "text") {
    int ends[2];
    int out[2];
    if (::pipe2(ends, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) std::abort();
    std::string program = VIEW_TEST_ROBOT;
    std::string words[] = {program, domain, type};
    char* argv[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
    ::posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    if (::posix_spawn(&pid_, program.c_str(), &actions, nullptr, argv, ::environ) != 0) {
      std::abort();
    }
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[0]);
    ::close(out[1]);
    stdin_ = ends[1];
    stdout_ = out[0];
  }
  Robot(const Robot&) = delete;
  Robot& operator=(const Robot&) = delete;
  ~Robot() { end(); }
  void count() { ASSERT_EQ(::write(stdin_, "n\n", 2), 2); }
  /// Returns when the process is stopped.
  void stop() const {
    ASSERT_EQ(::kill(pid_, SIGSTOP), 0);
    ASSERT_EQ(::waitpid(pid_, nullptr, WUNTRACED), pid_);
  }
  void go_on() const { ASSERT_EQ(::kill(pid_, SIGCONT), 0); }
  /// Waits for a line of its output.
  [[nodiscard]] std::string line() {
    for (std::size_t end = 0; (end = output_.find('\n')) == std::string::npos;) {
      std::array<char, 4'096> some{};
      const ::ssize_t size = ::read(stdout_, some.data(), some.size());
      if (size <= 0) return "";
      output_.append(some.data(), static_cast<std::size_t>(size));
    }
    const std::string line = output_.substr(0, output_.find('\n'));
    output_.erase(0, line.size() + 1);
    return line;
  }
  void end() {
    if (pid_ <= 0) return;
    ::close(stdin_);
    ::close(stdout_);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  ::pid_t pid_ = 0;
  int stdin_ = -1;
  int stdout_ = -1;
  std::string output_;
};

class LiveTest : public ::testing::Test {
 protected:
  LiveTest() {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    domain_ = "view" + std::to_string(::getpid()) + std::string(info->name()).substr(0, 8);
  }

  /// Advances until `done`, and returns false after a minute.
  bool until(Source& source, const std::function<bool()>& done) {
    source.on_arrival([this] { bell_.ring(); });
    for (int i = 0; i < 600; ++i) {
      source.advance(0, sink_);
      if (done()) return true;
      bell_.wait();
    }
    return false;
  }

  std::string domain_;
  Bell bell_;
  Collector sink_;
};

TEST_F(LiveTest, selected_channels_arrive_with_their_latched_values) {
  Robot robot(domain_);
  const auto source = open_live(domain_).or_throw();
  EXPECT_TRUE(source->live());
  EXPECT_EQ(source->domain(), domain_);
  ASSERT_TRUE(until(*source, [&] { return find(*source, "numbers") != nullptr; }));
  EXPECT_EQ(find(*source, "numbers")->type, "hyphos.msgs.Int32");
  EXPECT_TRUE(find(*source, "value")->latched);
  EXPECT_TRUE(sink_.samples.empty()) << "nothing is selected";
  source->select({"value"});
  ASSERT_TRUE(until(*source, [&] { return !sink_.samples.empty(); }));
  const Sample& first = sink_.samples[0];
  EXPECT_EQ(first.channel, find(*source, "value")->id);
  msgs::String text;
  ASSERT_TRUE(text.ParseFromArray(first.payload.data(), static_cast<int>(first.payload.size())));
  EXPECT_EQ(text.data(), "ready");
  EXPECT_LE(first.publish_ns, first.time_ns);
  EXPECT_LT(std::abs(first.time_ns - wall_now().ns), 3'600'000'000'000);
  EXPECT_NE(first.stamps.arrived, 0);
  source->select({"value", "numbers"});
  GraphState state(*source);
  const auto subscribed = [&] {
    state.sample();
    for (const ChannelRow& row : state.snapshot().channels) {
      if (row.name == "numbers" && row.subscribers == 1 && row.publishers == 1) return true;
    }
    return false;
  };
  ASSERT_TRUE(until(*source, subscribed));
  const auto& nodes = state.snapshot().nodes;
  EXPECT_EQ(std::count_if(nodes.begin(), nodes.end(), [](const auto& n) { return n.viewer; }), 1);
  // The publisher connects to the subscription a moment after both are listed.
  ASSERT_TRUE(until(*source, [&] {
    robot.count();
    return sink_.samples.size() >= 4;
  }));
  const std::uint32_t numbers = find(*source, "numbers")->id;
  EXPECT_GE(source->loss(numbers).received, 3U);
  EXPECT_EQ(source->loss(numbers).missing, 0U);
  EXPECT_EQ(source->channels()[numbers].messages, sink_.samples.size() - 1);
  EXPECT_TRUE(source->problems().empty());
}

TEST_F(LiveTest, the_past_is_kept_while_new_messages_arrive) {
  Robot robot(domain_);
  const auto source = open_live(domain_).or_throw();
  source->select({"numbers", "value"});
  ASSERT_TRUE(until(*source, [&] { return sink_.samples.size() == 1; })) << "the latched value";
  ASSERT_TRUE(until(*source, [&] {
    robot.count();
    return sink_.samples.size() >= 20;
  }));
  const std::vector<std::int64_t> times = sink_.times();
  EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
  Collector past;
  source->seek(times[10], 0, past).or_throw();
  EXPECT_EQ(past.samples.size(), 2U) << "one value of each channel";
  EXPECT_LE(past.samples.back().time_ns, times[10]);
  EXPECT_EQ(source->step(times[10], 1), times[11]);
  EXPECT_EQ(source->step(times[11], -1), times[10]);
  // Paused: new messages are kept, and the past is played.
  const std::size_t before = sink_.samples.size();
  ASSERT_TRUE(until(*source, [&] {
    robot.count();
    return source->range().end_ns > times.back();
  }));
  EXPECT_EQ(sink_.samples.size(), before);
  past.samples.clear();
  EXPECT_EQ(source->advance(times[12], past), 2U);
  source->resume(1'000'000'000'000, past);
  EXPECT_GT(past.samples.size(), before);
  EXPECT_EQ(past.clears, 2);
  const std::size_t now = past.samples.size();
  ASSERT_TRUE(until(*source, [&] {
    robot.count();
    return sink_.samples.size() > before;
  })) << "new messages arrive again";
  EXPECT_GT(now, 0U);
}

TEST_F(LiveTest, a_short_past_loses_no_message_for_the_displays) {
  Robot robot(domain_);
  const auto source = open_live(domain_).or_throw();
  source->select({"numbers"});
  ASSERT_TRUE(until(*source, [&] {
    robot.count();
    return !sink_.samples.empty();
  }));
  source->limit_memory(1'500);  // a few samples
  const std::uint32_t numbers = find(*source, "numbers")->id;
  for (int i = 0; i < 100; ++i) {  // one after another, so that no queue before the viewer is full
    const std::uint64_t before = source->loss(numbers).received;
    robot.count();
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (source->loss(numbers).received == before) {
      ASSERT_LT(std::chrono::steady_clock::now(), end);
      std::this_thread::yield();
    }
  }
  // Numbers of the first wait may still arrive.
  EXPECT_TRUE(
      until(*source, [&] { return sink_.samples.size() == source->loss(numbers).received; }));
  EXPECT_EQ(source->loss(numbers).dropped, 0U);
  EXPECT_LE(source->memory(), 1'500U) << "passed samples leave";
}

TEST_F(LiveTest, a_past_on_disk_is_longer_than_the_memory_and_is_a_recording) {
  const Folder folder;
  const std::string file = folder / "past.mcap";
  std::vector<std::int64_t> times;
  {
    Robot robot(domain_);
    const auto source = open_live(domain_).or_throw();
    source->select({"numbers", "value"});
    ASSERT_TRUE(until(*source, [&] { return sink_.samples.size() == 1; })) << "the latched value";
    ASSERT_TRUE(until(*source, [&] {
      robot.count();
      return sink_.samples.size() >= 10;
    }));
    source->keep_past(file).or_throw();  // with the samples that came before
    EXPECT_EQ(source->keep_past(folder / "other.mcap").error().code, Code::already_exists);
    EXPECT_EQ(source->past_file(), file);
    ASSERT_TRUE(until(*source, [&] {
      robot.count();
      return sink_.samples.size() >= 60;
    }));
    source->limit_memory(1'500);  // a few samples
    times = sink_.times();
    const std::uint32_t numbers = find(*source, "numbers")->id;
    Collector past;
    source->seek(times[20], 0, past).or_throw();
    ASSERT_EQ(past.samples.size(), 2U) << "one value of each channel";
    EXPECT_EQ(past.samples.back().time_ns, times[20]);
    EXPECT_EQ(past.samples.back().channel, numbers);
    EXPECT_EQ(past.samples.back().payload.text(), sink_.samples[20].payload.text());
    EXPECT_EQ(source->range().begin_ns, times.front());
    EXPECT_EQ(source->step(times[20], 1), times[21]);
    EXPECT_EQ(source->step(times[21], -1), times[20]);
    // A long past comes from the file and from the memory, each sample once and in order.
    source->seek(times.back(), 1'000'000'000'000, past).or_throw();
    std::vector<std::int64_t> passed;
    for (const Sample& sample : past.samples) {
      if (sample.channel == numbers) passed.push_back(sample.time_ns);
    }
    std::vector<std::int64_t> came;
    for (const Sample& sample : sink_.samples) {
      if (sample.channel == numbers) came.push_back(sample.time_ns);
    }
    EXPECT_EQ(passed, came);
    source->resume(1'000'000'000'000, past);
    EXPECT_GE(past.samples.size(), times.size());  // more may have arrived
    EXPECT_TRUE(source->problems().empty());
  }
  const auto recording = open_recording(file).or_throw();
  EXPECT_TRUE(recording->problems().empty());
  EXPECT_EQ(find(*recording, "numbers")->type, "hyphos.msgs.Int32");
  EXPECT_TRUE(find(*recording, "value")->latched);
  recording->select({"numbers", "value"});
  Collector all;
  while (recording->advance(times.back(), all) > 0) {
  }
  EXPECT_EQ(all.times(), times) << "in the order in which they came";
  const auto& counters = recording->metadata().at("hyphos.recording");
  EXPECT_NE(counters.at("numbers").find("\"drop_queue\": 0"), std::string::npos);
}

TEST_F(LiveTest, a_past_file_that_exists_is_not_replaced) {
  const Folder folder;
  std::ofstream(folder / "past.mcap") << "x";
  const auto source = open_live(domain_).or_throw();
  EXPECT_EQ(source->keep_past(folder / "past.mcap").error().code, Code::already_exists);
  EXPECT_EQ(source->past_file(), "");
}

// The robot and the view go on.
TEST_F(LiveTest, a_disk_that_is_full_is_a_problem_and_no_end) {
  const Folder folder;
  std::signal(SIGXFSZ, SIG_IGN);
  ::rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  Robot robot(domain_);
  const auto source = open_live(domain_).or_throw();
  source->select({"numbers"});
  // The queue between both needs memory, before it is limited.
  ASSERT_TRUE(until(*source, [&] {
    robot.count();
    return !sink_.samples.empty();
  }));
  source->keep_past(folder / "past.mcap").or_throw();
  ::rlimit small = before;
  small.rlim_cur = 200;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  for (int i = 0; i < 20; ++i) robot.count();
  const bool reported = until(*source, [&] {
    const auto problems = source->problems();
    return std::any_of(problems.begin(), problems.end(), [](const std::string& text) {
      return text.find("The past is kept in memory only") != std::string::npos;
    });
  });
  ::setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_TRUE(reported);
  const std::size_t now = sink_.samples.size();
  EXPECT_TRUE(until(*source, [&] {
    robot.count();
    return sink_.samples.size() > now;
  }));
  Collector past;
  source->seek(sink_.samples[now].time_ns, 0, past).or_throw();
  EXPECT_EQ(past.samples.size(), 1U);
}

TEST_F(LiveTest, a_robot_may_come_and_go) {
  const auto source = open_live(domain_).or_throw();
  source->select({"value"});
  ASSERT_EQ(source->problems().size(), 1U);
  EXPECT_NE(source->problems()[0].find("no process runs in domain"), std::string::npos);
  Robot first(domain_);
  ASSERT_TRUE(until(*source, [&] { return sink_.samples.size() == 1; }));
  EXPECT_TRUE(source->problems().empty());
  first.end();
  ASSERT_TRUE(until(*source, [&] { return !source->problems().empty(); }));
  Robot second(domain_);
  EXPECT_TRUE(until(*source, [&] { return sink_.samples.size() == 2; }));
}

TEST_F(LiveTest, a_channel_that_changes_its_type_gets_a_new_id) {
  const auto source = open_live(domain_).or_throw();
  source->select({"value"});
  Robot first(domain_, "int");
  ASSERT_TRUE(until(*source, [&] { return sink_.samples.size() == 1; }));
  first.end();
  Robot second(domain_, "text");
  ASSERT_TRUE(until(*source, [&] { return sink_.samples.size() == 2; }));
  EXPECT_NE(sink_.samples[0].channel, sink_.samples[1].channel);
  EXPECT_EQ(sink_.samples[1].channel, find(*source, "value")->id);
  EXPECT_EQ(source->channels()[sink_.samples[0].channel].type, "hyphos.msgs.Int32");
  EXPECT_EQ(find(*source, "value")->type, "hyphos.msgs.String");
  ASSERT_FALSE(source->problems().empty());
  EXPECT_NE(source->problems()[0].find("changed its type"), std::string::npos);
}

TEST_F(LiveTest, a_stopped_guest_does_not_stop_a_robot) {
  Robot robot(domain_, "block");
  Robot guest(domain_, "guest");
  std::atomic<bool> connected{false};
  std::thread publishing([&] {
    while (!connected) {
      robot.count();
      (void)robot.line();
    }
  });
  EXPECT_EQ(guest.line().substr(0, 4), "got ");
  connected = true;
  publishing.join();
  guest.stop();
  // More than the queue holds: without a check for a stopped tool, one of them waits for ever.
  std::string last;
  for (int i = 0; i < 100; ++i) {
    robot.count();
    last = robot.line();
  }
  EXPECT_EQ(last.substr(0, 5), "sent ");
  // The losses are counted at the publisher.
  std::uint64_t dropped = 0;
  for (const ProcessInfo& process : inspect(domain_).or_throw()) {
    for (const EndpointInfo& end : process.endpoints) {
      if (end.channel == "numbers" && end.is_publisher) dropped = end.counter("drop.shm.timeout");
    }
  }
  EXPECT_GE(dropped, 80U);
  guest.go_on();
  const int next = std::stoi(last.substr(5)) + 1;
  for (std::string line = "got 0"; std::stoi(line.substr(4)) < next;) {
    robot.count();  // it waits for a running guest again
    (void)robot.line();
    line = guest.line();
  }
}

Sample sample_at(std::int64_t time_ns, std::uint32_t channel, std::uint64_t sender,
                 std::size_t size) {
  Sample sample;
  sample.time_ns = time_ns;
  sample.channel = channel;
  sample.sender = sender;
  sample.payload = Buffer::copy_of(std::string(size, 'x'));
  return sample;
}

TEST(Past, the_oldest_samples_are_dropped_but_not_the_last_value) {
  Past past(1U << 20U);
  past.add(sample_at(1, 7, 1, 10), true);
  past.add(sample_at(2, 7, 2, 10), true);
  past.add(sample_at(3, 8, 1, 10), false);
  past.add(sample_at(4, 8, 2, 10), false);
  for (int i = 0; i < 1'000; ++i) past.add(sample_at(10 + i, 9, 1, 10'000), false);
  EXPECT_LE(past.bytes(), 1U << 20U);
  EXPECT_GT(past.begin(), 800U);
  EXPECT_EQ(past.end(), 1'004U);
  const auto values = past.values_before(past.begin());
  std::vector<std::int64_t> times;
  for (const Sample& value : values) times.push_back(value.time_ns);
  ASSERT_EQ(times.size(), 4U) << "two senders of 7, the last one of 8 and of 9";
  EXPECT_EQ(times[0], 1);
  EXPECT_EQ(times[1], 2);
  EXPECT_EQ(times[2], 4);
  EXPECT_EQ(past.after(1'009), past.end());
  EXPECT_EQ(past.at(past.after(1'000)).time_ns, 1'001);
  past.limit(100);
  EXPECT_EQ(past.end() - past.begin(), 1U) << "the newest is kept";
}

TEST(Past, samples_from_a_position_on_stay_beyond_the_bound) {
  Past past(100);
  past.keep_from(2);
  for (int i = 0; i < 50; ++i) past.add(sample_at(i, 1, 1, 1'000), false);
  EXPECT_EQ(past.begin(), 2U);
  EXPECT_EQ(past.end(), 50U);
  past.keep_from(40);
  EXPECT_EQ(past.begin(), 40U);
  past.keep_from(Past::kNone);
  EXPECT_EQ(past.begin(), 49U) << "the newest is kept";
}

TEST(Past, times_never_decrease) {
  Past past(1U << 20U);
  past.add(sample_at(10, 1, 1, 1), false);
  past.add(sample_at(5, 1, 1, 1), false);
  EXPECT_EQ(past.at(1).time_ns, 10);
}

TEST(GraphState, rates_drops_and_latencies_come_from_two_states) {
  EndpointInfo publisher;
  publisher.channel = "scan";
  publisher.node = "laser";
  publisher.type_name = "T";
  publisher.is_publisher = true;
  publisher.id = 1;
  publisher.last_ns = 900;
  publisher.counters = {{"sent", 30}, {"bytes", 3'000}, {"drop.shm.overflow", 4}};
  EndpointInfo subscription = publisher;
  subscription.node = "mapper";
  subscription.is_publisher = false;
  subscription.id = 2;
  subscription.counters = {{"received", 20}, {"drop.queue.overflow", 6}, {"callback_error", 1}};
  subscription.latency = {20, 10, 1'000, 100, {{100, 19}, {1'000, 1}}};
  subscription.layers = {{"queue", {20, 1, 9, 5, {{9, 20}}}}};
  EndpointInfo internal = publisher;
  internal.channel = "laser/_params";
  EndpointsBefore before;
  before[{5, 1}] = publisher;
  before[{5, 1}].counters = {{"sent", 10}, {"bytes", 1'000}, {"drop.shm.overflow", 2}};
  before[{5, 2}] = subscription;
  before[{5, 2}].counters = {{"received", 10}};
  ProcessInfo process;
  process.name = "body";
  process.participant = 5;
  process.endpoints = {subscription, publisher, internal};
  const GraphSnapshot now = make_snapshot({process}, before, 2.0, 1'000);
  ASSERT_EQ(now.channels.size(), 1U);
  const ChannelRow& row = now.channels[0];
  EXPECT_EQ(row.publishers, 1U);
  EXPECT_EQ(row.subscribers, 1U);
  EXPECT_DOUBLE_EQ(row.rate_hz, 10);
  EXPECT_DOUBLE_EQ(row.bytes_per_s, 1'000);
  EXPECT_EQ(row.sent, 30U);
  EXPECT_EQ(row.received, 20U);
  EXPECT_EQ(row.dropped, 10U);
  EXPECT_EQ(row.age_ns, 100);
  EXPECT_EQ(row.callback_errors, 1U);
  ASSERT_EQ(row.drops.size(), 2U);
  EXPECT_EQ(row.drops[0].place, "queue") << "the most per second first";
  EXPECT_EQ(row.drops[0].why, "overflow");
  EXPECT_DOUBLE_EQ(row.drops[0].per_s, 3);
  EXPECT_EQ(row.drops[0].at, "mapper subscribes in body");
  ASSERT_EQ(row.latency.size(), 2U);
  EXPECT_EQ(row.latency[0].layer, "total");
  EXPECT_EQ(row.latency[0].p50_ns, 100);
  EXPECT_EQ(row.latency[1].layer, "queue");
  ASSERT_EQ(now.edges.size(), 2U);
  EXPECT_EQ(now.nodes[now.edges[0].node].node, "mapper");
  EXPECT_EQ(now.edges[0].queue.p95_ns, 9);
  EXPECT_TRUE(now.edges[1].publishes);
  EXPECT_EQ(now.edges[1].dropped, 4U);
}

}  // namespace
}  // namespace hyphos::view
