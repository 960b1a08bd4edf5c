#include "cosim/remote/remote.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <thread>

#include "cosim/remote/serve.hpp"
#include "rig.hpp"

namespace hyphos::cosim {
namespace {

std::unique_ptr<Worker> fork_network(const std::function<std::unique_ptr<Network>()>& make,
                                     Worker::Options options = {}) {
  return Worker::fork(options,
                      [&](IpcChannel& channel) {
                        const auto network = make();
                        serve(channel, *network);
                      })
      .or_throw();
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  DIR* folder = ::opendir("/proc/self/fd");
  while (::readdir(folder) != nullptr) ++count;
  ::closedir(folder);
  return count;
}

bool no_children() { return ::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD; }

Trial team() {
  Trial trial;
  trial.paths = {Waypoints{{{0, 0, 1}, {60, 0, 1}}, 2, true}, Circle{{30, 20, 1}, 20, 0.3, 0},
                 ConstantVelocity{{100, 0, 1}, {-3, 1, 0}}, ConstantVelocity{{0, 80, 1}, {}}};
  trial.end = Duration::from_ms(2000);
  return trial;
}

Ran run_team(const Trial& trial, Network& network) {
  Periodic programs({.nodes = 4, .rate_hz = 100, .bytes = 300});
  return run(trial, network, programs);
}

TEST(CosimRemote, processes_and_skipping_do_not_change_the_trace) {
  AnalyticRadio first({}, nullptr);
  const std::string trace = run_team(team(), first).trace;
  EXPECT_GT(trace.size(), 10'000U);
  for (int i = 0; i < 10; ++i) {
    for (const bool skip : {false, true}) {
      Trial trial = team();
      trial.skip = skip;
      AnalyticRadio local({}, nullptr);
      EXPECT_EQ(run_team(trial, local).trace, trace) << i << skip;
      RemoteNetwork remote(
          fork_network([] { return std::make_unique<AnalyticRadio>(RadioOptions{}, nullptr); }));
      const Ran ran = run_team(trial, remote);
      EXPECT_TRUE(ran.result.ok());
      EXPECT_EQ(ran.trace, trace) << i << skip;
      EXPECT_GT(ran.report.profile.wait_ns, 0);
      EXPECT_GT(ran.report.profile.codec_ns, 0);
    }
  }
  EXPECT_TRUE(no_children());
}

TEST(CosimRemote, another_seed_gives_another_trace) {
  RadioOptions options;
  options.noise_dbm = -85;  // so that random draws decide
  Trial trial = team();
  AnalyticRadio one(options, nullptr);
  const std::string trace = run_team(trial, one).trace;
  trial.seed = 2;
  AnalyticRadio two(options, nullptr);
  EXPECT_NE(run_team(trial, two).trace, trace);
}

TEST(CosimRemote, load_on_the_machine_does_not_change_the_trace) {
  AnalyticRadio quiet({}, nullptr);
  const std::string trace = run_team(team(), quiet).trace;
  auto worker =
      fork_network([] { return std::make_unique<AnalyticRadio>(RadioOptions{}, nullptr); });
  RemoteNetwork busy(std::move(worker));
  std::atomic<bool> end{false};
  std::vector<std::thread> load;
  for (int i = 0; i < 4; ++i) {
    load.emplace_back([&] {
      while (!end.load(std::memory_order_relaxed)) {
      }
    });
  }
  EXPECT_EQ(run_team(team(), busy).trace, trace);
  end = true;
  for (std::thread& thread : load) thread.join();
}

TEST(CosimRemote, physics_can_run_in_another_process) {
  AnalyticRadio local({}, nullptr);
  const std::string trace = run_team(team(), local).trace;
  const auto paths = team().paths;
  RemotePhysics physics(Worker::fork({.name = "physics"}, [&](IpcChannel& channel) {
                          Kinematic kinematic(paths);
                          serve(channel, kinematic);
                        }).or_throw());
  AnalyticRadio radio({}, nullptr);
  Periodic programs({.nodes = 4, .rate_hz = 100, .bytes = 300});
  const Ran ran = run(team(), physics, radio, programs);
  ASSERT_TRUE(ran.result.ok()) << ran.result.error().to_string();
  EXPECT_EQ(ran.trace, trace);
}

TEST(CosimRemote, large_replies_are_split_into_several_messages) {
  Worker::Options options;
  options.capacity = 4096;
  RemoteNetwork remote(
      fork_network([] { return std::make_unique<ConstantDelay>(Duration::from_us(10)); }, options));
  ASSERT_TRUE(remote.init(4, 1).ok());
  std::vector<std::byte> bytes(1000, std::byte{7});
  for (PacketId id = 1; id <= 50; ++id) {
    ASSERT_TRUE(remote.inject({id, 0, kEveryone, {}, Buffer::copy_of(bytes)}).ok());
  }
  ASSERT_TRUE(remote.advance({1'000'000}).ok());
  std::vector<Outcome> outcomes;
  ASSERT_TRUE(remote.poll(outcomes).ok());
  ASSERT_EQ(outcomes.size(), 150U);
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.bytes.size(), 1000U);
  const std::vector<std::byte> huge(5000);
  const auto taken = remote.inject({51, 0, 1, {2'000'000}, Buffer::copy_of(huge)});
  ASSERT_FALSE(taken.ok());
  EXPECT_EQ(taken.error().code, Code::exhausted);
}

/// Harms its own process at the tenth advance.
class Saboteur final : public Network {
 public:
  explicit Saboteur(std::function<void()> deed)
      : deed_(std::move(deed)), inner_(Duration::from_us(500)) {}
  Result<void> init(std::uint32_t nodes, std::uint64_t seed) override {
    return inner_.init(nodes, seed);
  }
  Result<void> set_poses(std::span<const Pose>) override { return success(); }
  Result<void> inject(const Packet& packet) override { return inner_.inject(packet); }
  Result<void> advance(Time end) override {
    if (++calls_ == 10) deed_();
    return inner_.advance(end);
  }
  Time next_event_time() const override { return inner_.next_event_time(); }
  Result<void> poll(std::vector<Outcome>& outcomes) override { return inner_.poll(outcomes); }

 private:
  std::function<void()> deed_;
  ConstantDelay inner_;
  int calls_ = 0;
};

Ran sabotaged(const std::function<void()>& deed, Duration timeout) {
  RemoteNetwork remote(fork_network([&] { return std::make_unique<Saboteur>(deed); },
                                    {.name = "the radio", .timeout = timeout}));
  PingPong programs({});
  return run({}, remote, programs);
}

TEST(CosimRemote, a_killed_simulator_is_a_clean_error_without_leftovers) {
  const std::size_t descriptors = open_descriptors();
  const Ran ran = sabotaged([] { ::raise(SIGKILL); }, Duration::from_ms(10'000));
  ASSERT_FALSE(ran.result.ok());
  EXPECT_EQ(ran.result.error().code, Code::disconnected);
  EXPECT_NE(ran.result.error().message.find("the radio (process "), std::string::npos);
  EXPECT_NE(ran.result.error().message.find("killed by signal 9"), std::string::npos);
  EXPECT_TRUE(ran.report.packets.balanced());
  EXPECT_TRUE(no_children());
  EXPECT_EQ(open_descriptors(), descriptors);
}

TEST(CosimRemote, a_simulator_that_exits_is_a_clean_error) {
  const Ran ran = sabotaged([] { ::_exit(3); }, Duration::from_ms(10'000));
  ASSERT_FALSE(ran.result.ok());
  EXPECT_EQ(ran.result.error().code, Code::disconnected);
  EXPECT_NE(ran.result.error().message.find("ended with status 3"), std::string::npos);
  EXPECT_TRUE(no_children());
}

TEST(CosimRemote, a_hanging_simulator_is_killed_after_its_timeout) {
  const std::size_t descriptors = open_descriptors();
  for (const bool stopped : {false, true}) {
    const Time start = monotonic_now();
    const Ran ran = sabotaged(
        [&] {
          if (stopped) ::raise(SIGSTOP);
          for (;;) ::pause();
        },
        Duration::from_ms(200));
    EXPECT_GE(monotonic_now() - start, Duration::from_ms(200));
    ASSERT_FALSE(ran.result.ok());
    EXPECT_EQ(ran.result.error().code, Code::timeout);
    EXPECT_NE(ran.result.error().message.find("did not reply for 200 ms"), std::string::npos);
    EXPECT_TRUE(no_children());
  }
  EXPECT_EQ(open_descriptors(), descriptors);
}

/// Replies to every request with random bytes, sometimes with the beginning of a valid reply.
/// The reply of a network without events to the start.
Writer ready_network() {
  Writer ready;
  ready.put(std::uint8_t{0});  // no error
  ready.put(kNever.ns);
  ready.put(std::uint32_t{0});  // no outcomes
  ready.put(std::uint8_t{0});   // and no more
  return ready;
}

TEST(CosimRemote, garbage_is_a_clean_error) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    auto worker = Worker::fork({.name = "the radio"}, [seed](IpcChannel& channel) {
                    std::vector<std::byte> request;
                    const Writer ready = ready_network();
                    (void)channel.receive(request, kNever, {});
                    (void)channel.send(ready.bytes());
                    (void)channel.receive(request, kNever, {});
                    Writer answer;
                    if (seed % 2 == 0) answer.put(std::uint8_t{0});
                    const auto size = draw(seed, 1, 0, 0) % 200;
                    for (std::uint64_t i = 0; i < size; ++i) {
                      answer.put(static_cast<std::uint8_t>(draw(seed, 2, i, 0)));
                    }
                    (void)channel.send(answer.bytes());
                    for (;;) ::pause();
                  }).or_throw();
    RemoteNetwork remote(std::move(worker));
    ASSERT_TRUE(remote.init(2, 1).ok());
    const auto ran = remote.advance({1'000'000});
    ASSERT_FALSE(ran.ok()) << seed;
    EXPECT_EQ(ran.error().code, Code::corrupt) << ran.error().to_string();
    EXPECT_EQ(remote.advance({2'000'000}).error().code, Code::corrupt) << "the error is permanent";
    EXPECT_TRUE(no_children());
  }
}

TEST(CosimRemote, a_reply_without_a_request_is_detected) {
  std::array<int, 2> told{};  // the second reply has been sent
  ASSERT_EQ(::pipe2(told.data(), O_CLOEXEC), 0);
  auto worker = Worker::fork({.name = "the radio"}, [&](IpcChannel& channel) {
                  std::vector<std::byte> request;
                  const Writer ready = ready_network();
                  (void)channel.receive(request, kNever, {});
                  (void)channel.send(ready.bytes());
                  (void)channel.send(ready.bytes());
                  (void)!::write(told[1], "", 1);
                  for (;;) ::pause();
                }).or_throw();
  RemoteNetwork remote(std::move(worker));
  auto first = remote.init(2, 1);
  ::close(told[1]);
  char byte = 0;
  ASSERT_EQ(::read(told[0], &byte, 1), 1);
  ::close(told[0]);
  if (first.ok()) first = remote.advance({1});
  ASSERT_FALSE(first.ok());
  EXPECT_EQ(first.error().code, Code::corrupt);
}

TEST(CosimRemote, an_error_of_the_simulator_does_not_end_its_process) {
  RemoteNetwork remote(
      fork_network([] { return std::make_unique<ConstantDelay>(Duration{kNever.ns}); }));
  ASSERT_TRUE(remote.init(2, 1).ok());
  ASSERT_TRUE(remote.inject({1, 0, 1, {5}, Buffer::copy_of("x")}).ok());
  const auto ran = remote.advance({1'000'000});
  ASSERT_FALSE(ran.ok());
  EXPECT_EQ(ran.error().code, Code::out_of_range);
  EXPECT_NE(ran.error().message.find("time overflow"), std::string::npos);
  EXPECT_TRUE(remote.advance({1'000'000}).ok());
}

TEST(CosimRemote, a_program_that_cannot_be_started_is_a_clean_error) {
  auto worker = Worker::start({.name = "the radio"}, {"/nonexistent/radio"}).or_throw();
  RemoteNetwork remote(std::move(worker));
  const auto ready = remote.init(2, 1);
  ASSERT_FALSE(ready.ok());
  EXPECT_EQ(ready.error().code, Code::disconnected);
  EXPECT_NE(ready.error().message.find("status 127"), std::string::npos);
}

}  // namespace
}  // namespace hyphos::cosim
