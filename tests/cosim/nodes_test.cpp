// Hyphos nodes as the programs of robots, in this process.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <numbers>
#include <random>
#include <thread>

#include "cosim/nodes/local_robot.hpp"
#include "cosim/nodes/motion_messages.hpp"
#include "cosim/nodes/node_programs.hpp"
#include "cosim/nodes/robot_codec.hpp"
#include "tests/cosim/rig.hpp"
#include "wire/packet.hpp"

namespace hyphos::cosim {
namespace {

constexpr std::int64_t kMs = 1'000'000;

/// A message received by a node: the time, the sender and the content.
struct Heard {
  std::int64_t ms = 0;
  std::uint64_t sender = 0;
  std::uint64_t sequence = 0;
  std::string text;
};

/// Robots without plans. The test creates their nodes.
class Robots {
 public:
  explicit Robots(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      options.names.push_back(std::string(1, static_cast<char>('a' + i)));
      RobotOptions how;
      how.name = options.names.back();
      robots_.push_back(LocalRobot::open(how).or_throw());
      runtimes_.push_back(robots_.back()->runtime());
    }
  }
  Node node(NodeId robot, const std::string& name) {
    return nodes_.emplace_back(runtimes_[robot].node(name).or_throw());
  }
  Result<std::unique_ptr<NodePrograms>> open() {
    std::vector<std::unique_ptr<RobotNodes>> all;
    for (auto& robot : robots_) all.push_back(std::move(robot));
    return NodePrograms::open(options, std::move(all));
  }

  NodePrograms::Options options;

 private:
  std::vector<std::unique_ptr<LocalRobot>> robots_;
  std::vector<Runtime> runtimes_;
  std::vector<Node> nodes_;
};

/// Adds a node to `robot` that publishes a number every `period`.
void count_aloud(Robots& robots, NodeId robot, const std::string& channel, Duration period) {
  const Node node = robots.node(robot, "speaker");
  const auto publisher = node.publisher<Buffer>(channel);
  auto count = std::make_shared<int>(0);
  node.every(period, [=] { publisher.publish(Buffer::copy_of(std::to_string((*count)++))); });
}

std::shared_ptr<std::vector<Heard>> listen(Robots& robots, NodeId robot,
                                           const std::string& channel) {
  const Node node = robots.node(robot, "listener");
  auto heard = std::make_shared<std::vector<Heard>>();
  // Captures the clock and not the node, which would keep itself alive.
  node.subscribe<Buffer>(channel, serial, [heard, clock = node.clock()](const auto& message) {
    heard->push_back(
        {clock.now().ns / kMs, message.sender(), message.sequence(), std::string(message->text())});
  });
  return heard;
}

TEST(CosimNodes, a_message_crosses_the_network_at_simulated_time) {
  Robots robots(2);
  count_aloud(robots, 0, "count", Duration::from_ms(20));
  const auto heard = listen(robots, 1, "count");
  robots.options.channels = {{"count", "", {}, {}}};
  const auto programs = robots.open().or_throw();
  ConstantDelay network(Duration::from_ms(3) + Duration::from_us(500));
  std::vector<std::string> packets;
  const Trial trial;
  const Ran ran = run(trial, network, *programs, [&](const Outcome& outcome, const Packet& sent) {
    EXPECT_EQ(outcome.fate, Fate::delivered);
    EXPECT_EQ(sent.stamp.ns % (20 * kMs), 0);
    const auto packet = wire::decode_packet(sent.bytes);
    ASSERT_TRUE(packet.ok());
    EXPECT_EQ(packet->header.channel, "count");
    EXPECT_EQ(packet->header.meta.stamps.publish, sent.stamp.ns);
    packets.emplace_back(packet->envelope.payload.text());
  });
  ASSERT_TRUE(ran.result.ok()) << ran.result.error().to_string();
  // A timer of 20 ms fires 49 times before 1 s. The last message is read at 984 ms.
  ASSERT_EQ(heard->size(), 49U);
  EXPECT_EQ(ran.report.packets.packets, 49U);
  for (std::size_t i = 0; i < heard->size(); ++i) {
    const Heard& one = (*heard)[i];
    EXPECT_EQ(one.text, std::to_string(i));
    EXPECT_EQ(one.text, packets[i]);
    EXPECT_EQ(one.ms, static_cast<std::int64_t>(20 * (i + 1) + 4));
    EXPECT_EQ(one.sequence, i + 1);
    EXPECT_EQ(one.sender, heard->front().sender);
  }
}

TEST(CosimNodes, unlisted_channels_stay_on_their_robot) {
  Robots robots(2);
  count_aloud(robots, 0, "inside", Duration::from_ms(10));
  const auto mine = listen(robots, 0, "inside");
  const auto others = listen(robots, 1, "inside");
  count_aloud(robots, 1, "count", Duration::from_ms(100));
  const Node ear = robots.node(0, "ear");
  ear.subscribe<Buffer>("count", serial, [](const Message<Buffer>&) {});
  robots.options.channels = {{"count", "", {}, {}}};
  const auto programs = robots.open().or_throw();
  ConstantDelay network(Duration::from_ms(1));
  const Ran ran = run({}, network, *programs);
  ASSERT_TRUE(ran.result.ok());
  EXPECT_EQ(mine->size(), 99U);
  EXPECT_TRUE(others->empty());
  EXPECT_EQ(ran.report.packets.packets, 9U);
}

TEST(CosimNodes, a_message_reaches_its_receivers_under_their_channel_name) {
  Robots robots(3);
  count_aloud(robots, 0, "count", Duration::from_ms(100));
  const auto right = listen(robots, 2, "from_a/count");
  const auto wrong = listen(robots, 1, "from_a/count");
  robots.options.channels = {{"count", "from_a/count", {0}, {2}}};
  const auto programs = robots.open().or_throw();
  ConstantDelay network(Duration::from_ms(1));
  Trial trial;
  trial.paths.emplace_back(ConstantVelocity{{40, 0, 1}, {}});
  const Ran ran = run(trial, network, *programs);
  ASSERT_TRUE(ran.result.ok());
  EXPECT_EQ(right->size(), 9U);
  EXPECT_TRUE(wrong->empty());
  EXPECT_EQ(ran.report.packets.sent, 9U);
}

TEST(CosimNodes, received_messages_are_not_sent_back_but_replies_are) {
  Robots robots(2);
  count_aloud(robots, 0, "ping", Duration::from_ms(100));
  const Node echo = robots.node(1, "echo");
  const auto answer = echo.publisher<Buffer>("ping");
  int heard_by_echo = 0;
  echo.subscribe<Buffer>("ping", serial, [&](const Message<Buffer>& message) {
    if (message.sender() == answer.sender()) return;
    ++heard_by_echo;
    answer.publish(*message);
  });
  const auto heard = listen(robots, 0, "ping");
  robots.options.channels = {{"ping", "", {}, {}}};
  const auto programs = robots.open().or_throw();
  ConstantDelay network(Duration::from_us(1500));
  const Ran ran = run({}, network, *programs);
  ASSERT_TRUE(ran.result.ok());
  EXPECT_EQ(heard_by_echo, 9);
  EXPECT_EQ(ran.report.packets.packets, 18U);
  ASSERT_EQ(heard->size(), 18U);  // its own messages and each reply
  EXPECT_EQ((*heard)[0].ms, 100);
  EXPECT_EQ((*heard)[1].ms, 104);
}

/// Robots whose messages and motions depend on received messages, so that any change of order has
/// an effect.
struct Chatter {
  explicit Chatter(std::uint32_t count) : robots(count) {
    for (NodeId robot = 0; robot < count; ++robot) {
      const Node node = robots.node(robot, "talk");
      const auto out = node.publisher<Buffer>("talk", deep());
      auto sum = std::make_shared<std::uint64_t>(robot);
      for (const int part : {0, 1}) {  // two subscriptions that may run at once
        node.subscribe<Buffer>("talk", concurrent, [=](const Message<Buffer>& message) {
          *sum = *sum * 31 + hash_bytes(message->bytes()) + static_cast<std::uint64_t>(part);
        });
      }
      node.every(Duration::from_ms(10 + robot), [=] {
        out.publish(
            Buffer::copy_of(std::to_string(*sum) + "@" + std::to_string(node.clock().now().ns)));
      });
    }
    robots.options.channels = {{"talk", "", {}, {}}};
  }
  static PublisherOptions deep() {
    PublisherOptions options;
    options.policy = Policy{.depth = 1000};
    return options;
  }
  Robots robots;
};

Ran chatter(const Trial& trial) {
  Chatter team(static_cast<std::uint32_t>(trial.paths.size()));
  const auto programs = team.robots.open().or_throw();
  AnalyticRadio network({.shadowing_db = 3}, nullptr);
  return run(trial, network, *programs);
}

TEST(CosimNodes, repeated_runs_give_the_same_trace_under_load) {
  Trial trial;
  trial.paths.emplace_back(ConstantVelocity{{0, 60, 1}, {2, 0, 0}});
  trial.paths.emplace_back(ConstantVelocity{{50, 50, 1}, {0, -3, 0}});
  const Ran first = chatter(trial);
  ASSERT_TRUE(first.result.ok());
  EXPECT_GT(first.report.packets.delivered, 500U);
  std::atomic<bool> stop{false};
  std::vector<std::thread> load;
  for (unsigned i = 0; i < 2 * std::max(1U, std::thread::hardware_concurrency()); ++i) {
    load.emplace_back([&] {
      while (!stop) std::this_thread::yield();
    });
  }
  for (int i = 1; i < 10; ++i) {
    trial.skip = i % 2 == 0;
    EXPECT_EQ(chatter(trial).trace, first.trace) << "run " << i;
  }
  stop = true;
  for (std::thread& thread : load) thread.join();
}

Buffer twist(double ahead, double turn) {
  // hyphos.msgs.Twist: linear.x and angular.z
  std::vector<std::byte> bytes(22);
  const auto part = [&](std::size_t at, char field, char inner, double value) {
    bytes[at] = std::byte(field);
    bytes[at + 1] = std::byte{9};
    bytes[at + 2] = std::byte(inner);
    std::memcpy(&bytes[at + 3], &value, sizeof value);
  };
  part(0, 0x0a, 0x09, ahead);
  part(11, 0x12, 0x19, turn);
  return Buffer::adopt(std::move(bytes));
}

TEST(CosimNodes, a_node_steers_its_robot_and_receives_its_pose) {
  Robots robots(2);
  const Node node = robots.node(0, "driver");
  const auto command = node.raw_publisher("cmd_vel", twist_type()).or_throw();
  node.every(Duration::from_ms(100), [=] { command.publish(twist(2, std::numbers::pi)); });
  int poses = 0;
  (void)node.raw_subscribe("odom", odometry_type(), {},
                           [&](const Message<RawMessage>&) { ++poses; });
  count_aloud(robots, 0, "count", Duration::from_ms(500));
  const auto heard = listen(robots, 1, "count");
  robots.options.channels = {{"count", "", {}, {}}};
  robots.options.pose_rate_hz = 20;
  const auto programs = robots.open().or_throw();
  ConstantDelay network(Duration::from_ms(1));
  Trial trial;
  trial.end = Duration::from_ms(1101);
  Kinematic physics(trial.paths);
  const Ran ran = run(trial, physics, network, *programs);
  ASSERT_TRUE(ran.result.ok()) << ran.result.error().to_string();
  EXPECT_EQ(poses, 23);  // at 0, 50, …, 1100 ms
  // From 100 ms to the last step, half a turn per second at 2 m/s: a circle of 2/π m, to the left.
  const double turned = std::numbers::pi * 1.001;
  const double radius = 2 / std::numbers::pi;
  const Pose& at = physics.poses()[0];
  EXPECT_NEAR(at.position.x, radius * std::sin(turned), 1e-9);
  EXPECT_NEAR(at.position.y, radius * (1 - std::cos(turned)), 1e-9);
  EXPECT_NEAR(std::remainder(yaw_of(at.orientation) - turned, 2 * std::numbers::pi), 0, 1e-9);
  EXPECT_EQ(at.turn, (Vec3{0, 0, std::numbers::pi}));
  EXPECT_NEAR(length(at.velocity), 2, 1e-9);
  EXPECT_EQ(physics.poses()[1].position, (Vec3{20, 0, 1}));
}

TEST(CosimNodes, a_command_to_an_unsteerable_simulator_ends_the_run) {
  class Still final : public Physics {
   public:
    Result<void> init(std::uint32_t nodes, std::uint64_t) override {
      poses_.resize(nodes);
      return success();
    }
    Result<void> advance(Time) override { return success(); }
    Time next_event_time() const override { return kNever; }
    std::span<const Pose> poses() const override { return poses_; }

   private:
    std::vector<Pose> poses_;
  };
  Robots robots(2);
  const Node node = robots.node(1, "driver");
  const auto command = node.raw_publisher("cmd_vel", twist_type()).or_throw();
  node.every(Duration::from_ms(100), [=] { command.publish(twist(1, 0)); });
  count_aloud(robots, 0, "count", Duration::from_ms(500));
  const auto heard = listen(robots, 1, "count");
  robots.options.channels = {{"count", "", {}, {}}};
  const auto programs = robots.open().or_throw();
  ConstantDelay network(Duration::from_ms(1));
  Still physics;
  const Ran ran = run({}, physics, network, *programs);
  ASSERT_FALSE(ran.result.ok());
  EXPECT_EQ(ran.result.error().code, Code::unsupported);
  EXPECT_NE(ran.result.error().message.find("robot 1"), std::string::npos);
  EXPECT_EQ(ran.report.end.ns, 100 * kMs);
}

TEST(CosimNodes, a_throwing_callback_ends_the_run_with_its_name_and_time) {
  Robots robots(2);
  count_aloud(robots, 0, "count", Duration::from_ms(20));
  const Node node = robots.node(1, "judge");
  node.subscribe<Buffer>("count", serial, [](const Message<Buffer>& message) {
    if (message->text() == "3") throw std::runtime_error("three is too many");
  });
  robots.options.channels = {{"count", "", {}, {}}};
  const auto programs = robots.open().or_throw();
  ConstantDelay network(Duration::from_ms(1));
  const Ran ran = run({}, network, *programs);
  ASSERT_FALSE(ran.result.ok());
  EXPECT_EQ(ran.result.error().message,
            "node 'judge': callback of channel 'count' threw: three is too many");
  EXPECT_EQ(ran.result.error().where, "at 82000000 ns");
}

TEST(CosimNodes, drops_of_a_full_queue_on_a_robot_are_counted) {
  Robots robots(2);
  const Node node = robots.node(0, "speaker");
  const auto publisher = node.publisher<Buffer>("burst");
  node.every(Duration::from_ms(100), [=] {
    for (int i = 0; i < 5; ++i) publisher.publish(Buffer::copy_of("x"));
  });
  const Node slow = robots.node(1, "slow");
  SubscriptionOptions shallow;
  shallow.policy = Policy{.depth = 2};
  int taken = 0;
  slow.subscribe<Buffer>("burst", shallow, [&](const Message<Buffer>&) { ++taken; });
  robots.options.channels = {{"burst", "", {}, {}}};
  const auto programs = robots.open().or_throw();
  ConstantDelay network(Duration::from_us(500));
  const Ran ran = run({}, network, *programs);
  ASSERT_TRUE(ran.result.ok());
  EXPECT_EQ(ran.report.packets.delivered, 45U);
  const auto lost = programs->lost();
  ASSERT_TRUE(lost.ok());
  ASSERT_EQ(lost->size(), 1U);
  EXPECT_EQ((*lost)[0].robot, "b");
  EXPECT_EQ((*lost)[0].channel, "burst");
  EXPECT_EQ((*lost)[0].reason, "drop.queue.overflow");
  EXPECT_EQ((*lost)[0].count + static_cast<std::uint64_t>(taken), 45U);
}

/// The error of opening these robots.
Error refused(Robots& robots) {
  auto programs = robots.open();
  EXPECT_FALSE(programs.ok());
  return programs.ok() ? Error{} : programs.error();
}

TEST(CosimNodes, a_channel_without_sender_or_receiver_is_refused) {
  {
    Robots robots(2);
    count_aloud(robots, 0, "count", Duration::from_ms(20));
    robots.options.channels = {{"coutn", "", {}, {}}};
    const Error error = refused(robots);
    EXPECT_EQ(error.code, Code::not_found);
    EXPECT_NE(error.message.find("'coutn'"), std::string::npos);
    EXPECT_NE(error.message.find(" count"), std::string::npos);
  }
  {
    Robots robots(2);
    count_aloud(robots, 0, "count", Duration::from_ms(20));
    robots.options.channels = {{"count", "", {}, {}}};
    EXPECT_NE(refused(robots).message.find("arrives as 'count', but no node"), std::string::npos);
  }
}

TEST(CosimNodes, one_channel_arrives_under_a_name_per_sender) {
  Robots robots(3);
  for (const NodeId robot : {0U, 1U}) count_aloud(robots, robot, "count", Duration::from_ms(100));
  const auto of_a = listen(robots, 2, "a/count");
  const Node second = robots.node(2, "second");
  int of_b = 0;
  second.subscribe<Buffer>("b/count", serial, [&](const Message<Buffer>&) { ++of_b; });
  robots.options.channels = {{"count", "a/count", {0}, {}}, {"count", "b/count", {1}, {2}}};
  const auto programs = robots.open().or_throw();
  ConstantDelay network(Duration::from_ms(1));
  Trial trial;
  trial.paths.emplace_back(ConstantVelocity{{40, 0, 1}, {}});
  const Ran ran = run(trial, network, *programs);
  ASSERT_TRUE(ran.result.ok());
  EXPECT_EQ(of_a->size(), 9U);
  EXPECT_EQ(of_b, 9);
  EXPECT_EQ(ran.report.packets.sent, 27U);
}

TEST(CosimNodes, two_paths_of_one_channel_to_one_robot_are_refused) {
  Robots robots(2);
  count_aloud(robots, 0, "count", Duration::from_ms(100));
  const auto heard = listen(robots, 1, "count");
  robots.options.channels = {{"count", "", {}, {}}, {"count", "", {0}, {1}}};
  const Error error = refused(robots);
  EXPECT_EQ(error.code, Code::already_exists);
  EXPECT_NE(error.message.find("reaches robot 'b' by two paths"), std::string::npos);
}

TEST(CosimNodes, two_types_on_one_channel_are_refused) {
  Robots robots(2);
  count_aloud(robots, 0, "count", Duration::from_ms(20));
  const Node node = robots.node(1, "other");
  (void)node.raw_subscribe("count", twist_type(), {}, [](const Message<RawMessage>&) {});
  robots.options.channels = {{"count", "", {}, {}}};
  const Error error = refused(robots);
  EXPECT_EQ(error.code, Code::type_mismatch);
  EXPECT_EQ(error.message,
            "channel 'count' carries bytes (bytes) on robot 'a', but 'count' on robot 'b' is "
            "hyphos.msgs.Twist (protobuf)");
}

TEST(CosimNodes, initial_values_of_latched_channels_are_sent_at_the_start) {
  Robots robots(2);
  const Node node = robots.node(0, "map");
  PublisherOptions latched;
  latched.policy = Policy{.latched = true};
  node.publisher<Buffer>("map", latched).publish(Buffer::copy_of("walls"));
  const auto heard = listen(robots, 1, "map");
  robots.options.channels = {{"map", "", {}, {}}};
  const auto programs = robots.open().or_throw();
  ConstantDelay network(Duration::from_ms(2));
  const Ran ran = run({}, network, *programs);
  ASSERT_TRUE(ran.result.ok());
  ASSERT_EQ(heard->size(), 1U);
  EXPECT_EQ((*heard)[0].text, "walls");
  EXPECT_EQ((*heard)[0].ms, 3);
}

TEST(CosimNodes, steered_poses_do_not_depend_on_calls_and_can_be_restored) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> number(-3, 3);
  for (int trial = 0; trial < 200; ++trial) {
    Kinematic one({ConstantVelocity{{1, 2, 3}, {}}});
    Kinematic two({ConstantVelocity{{1, 2, 3}, {}}});
    ASSERT_TRUE(one.init(1, 1).ok() && two.init(1, 1).ok());
    Time now{0};
    for (int turn = 0; turn < 5; ++turn) {
      const Motion motion{{number(random), number(random), number(random)},
                          turn == 2 ? 0 : number(random)};
      ASSERT_TRUE(one.steer(0, motion).ok() && two.steer(0, motion).ok());
      for (int step = 0; step < 20; ++step) {
        now = now + Duration::from_ms(7);
        ASSERT_TRUE(two.advance(now).ok());
      }
      ASSERT_TRUE(one.advance(now).ok());
      EXPECT_EQ(one.poses()[0].position, two.poses()[0].position);
      EXPECT_EQ(one.poses()[0].orientation, two.poses()[0].orientation);
    }
    Kinematic three({ConstantVelocity{{1, 2, 3}, {}}});
    ASSERT_TRUE(three.init(1, 1).ok());
    ASSERT_TRUE(three.restore(*one.save()).ok());
    now = now + Duration::from_ms(100);
    ASSERT_TRUE(one.advance(now).ok() && three.advance(now).ok());
    EXPECT_EQ(one.poses()[0].position, three.poses()[0].position);
  }
}

TEST(CosimNodes, a_motion_that_is_not_finite_is_refused) {
  Kinematic physics({ConstantVelocity{}});
  ASSERT_TRUE(physics.init(1, 1).ok());
  EXPECT_EQ(physics.steer(0, {{std::nan(""), 0, 0}, 0}).error().code, Code::out_of_range);
  EXPECT_EQ(physics.steer(0, {{0, 0, 0}, INFINITY}).error().code, Code::out_of_range);
  EXPECT_EQ(physics.steer(1, {}).error().code, Code::not_found);
}

TEST(CosimNodes, replies_of_random_bytes_are_handled_safely) {
  std::mt19937_64 random(11);
  for (int trial = 0; trial < 20'000; ++trial) {
    std::vector<std::byte> bytes(random() % 64);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() % (trial % 2 ? 4 : 256));
    Reader output(bytes);
    const RobotOutput read = get_output(output);
    EXPECT_LE(read.sent.size(), bytes.size());
    Reader channels(bytes);
    (void)get_channels(channels);
    Reader wiring(bytes);
    (void)get_wiring(wiring);
    Reader input(bytes);
    (void)get_input(input);
    Reader drops(bytes);
    (void)get_drops(drops);
    (void)decode_twist(bytes);
  }
}

}  // namespace
}  // namespace hyphos::cosim
