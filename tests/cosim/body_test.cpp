// The limits of motion commands, sensors of nodes, and the rest of real programs.
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <limits>
#include <thread>

#include "cosim/nodes/command_guard.hpp"
#include "cosim/nodes/local_robot.hpp"
#include "cosim/nodes/node_programs.hpp"
#include "cosim/nodes/robot_codec.hpp"
#include "cosim/outside/children.hpp"
#include "cosim/outside/rest.hpp"
#include "cosim/sense/sensors.hpp"
#include "hyphos/msgs/geometry.pb.h"
#include "hyphos/msgs/sensor.pb.h"
#include "tests/cosim/rig.hpp"

namespace hyphos::cosim {
namespace {

constexpr Time ms(std::int64_t value) { return {value * 1'000'000}; }

TEST(CosimCommandGuard, refuses_numbers_that_are_none) {
  CommandGuard guard({Duration::from_ms(100), 2, 1});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const Motion& bad :
       {Motion{{nan, 0, 0}, 0}, Motion{{0, infinity, 0}, 0}, Motion{{0, 0, -infinity}, 0},
        Motion{{0, 0, 0}, nan}, Motion{{1e9, 0, 0}, 0}}) {
    EXPECT_FALSE(guard.check(bad, ms(0)));
  }
  EXPECT_EQ(guard.counts().refused, 5U);
  EXPECT_EQ(guard.deadline(), kNever);  // a refused command does not keep a robot going
}

TEST(CosimCommandGuard, limits_speed_and_turn_and_keeps_the_direction) {
  CommandGuard guard({Duration{0}, 2, 1});
  const auto motion = guard.check({{3, 4, 0}, -5}, ms(7));
  ASSERT_TRUE(motion);
  EXPECT_NEAR(length(motion->velocity), 2, 1e-12);
  EXPECT_NEAR(motion->velocity.x / motion->velocity.y, 0.75, 1e-12);
  EXPECT_EQ(motion->turn, -1);
  EXPECT_EQ(guard.counts().limited, 1U);
  EXPECT_EQ(guard.deadline(), kNever);
  std::map<NodeId, InPart> report;
  guard.add_to(report, 3);
  EXPECT_EQ(report.at(3).count, 1U);
  EXPECT_EQ(report.at(3).first, ms(7));
  EXPECT_EQ(report.at(3).left_out, "a speed of 5 m/s was limited to 2");
}

TEST(CosimCommandGuard, stops_a_robot_without_commands_once) {
  CommandGuard guard({Duration::from_ms(100), 0, 0});
  ASSERT_TRUE(guard.check({{1, 0, 0}, 0}, ms(50)));
  EXPECT_EQ(guard.deadline(), ms(150));
  EXPECT_FALSE(guard.expire(ms(149)));
  EXPECT_TRUE(guard.expire(ms(150)));
  EXPECT_FALSE(guard.expire(ms(300)));
  EXPECT_EQ(guard.counts().stopped, 1U);
}

/// One robot with a node that the test gives it.
struct Driven {
  Driven() : robot(LocalRobot::open({"a", {}}).or_throw()), runtime(robot->runtime()) {}
  std::unique_ptr<NodePrograms> open(NodePrograms::Options options) {
    options.names = {"a"};
    std::vector<std::unique_ptr<RobotNodes>> all;
    all.push_back(std::move(robot));
    return NodePrograms::open(std::move(options), std::move(all)).or_throw();
  }
  std::unique_ptr<LocalRobot> robot;
  Runtime runtime;
};

TEST(CosimBody, a_bad_command_is_refused_and_counted_and_silence_stops_the_robot) {
  Driven driven;
  const Node node = driven.runtime.node("driver").or_throw();
  const auto command = node.publisher<msgs::Twist>("cmd_vel");
  auto count = std::make_shared<int>(0);
  node.every(Duration::from_ms(20), [=] {
    msgs::Twist twist;
    const int number = (*count)++;
    if (number > 20) return;
    twist.mutable_linear()->set_x(number % 2 == 0 ? 1 : std::nan(""));
    command.publish(twist);
  });
  NodePrograms::Options options;
  options.limits = {{Duration::from_ms(100), 0, 0}};
  const auto programs = driven.open(options);
  ConstantDelay network(Duration::from_ms(1));
  Trial trial;
  trial.paths = {ConstantVelocity{}};
  Kinematic physics(trial.paths);
  ASSERT_TRUE(run(trial, physics, network, *programs).result.ok());
  // It drove for 0.4 s until the last good command, and until the time limit.
  EXPECT_NEAR(physics.poses()[0].position.x, 0.5, 0.03);
  EXPECT_EQ(physics.poses()[0].velocity.x, 0);
  const auto lost = programs->lost().or_throw();
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_EQ(lost[0].reason, "drop.command.refused");
  EXPECT_EQ(lost[0].channel, "cmd_vel");
  EXPECT_GE(lost[0].count, 9U);
  std::map<NodeId, InPart> parts;
  programs->add_in_part(parts);
  EXPECT_EQ(parts.at(0).left_out, "no command for 100 ms stopped it");
}

TEST(CosimRest, a_program_is_at_rest_when_it_has_processed_its_input) {
  std::array<int, 2> to{};
  std::array<int, 2> from{};
  ASSERT_EQ(::pipe(to.data()) | ::pipe(from.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {                      // replies to each byte after some milliseconds of work
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a failed test leaves no child
    char byte = 0;
    while (::read(to[0], &byte, 1) == 1) {
      volatile std::uint64_t work = 0;
      for (int i = 0; i < 5'000'000; ++i) work = work + 1;
      if (::write(from[1], &byte, 1) != 1) break;
    }
    ::_exit(0);
  }
  ::close(from[1]);
  Rest rest;
  const auto none = [] { return std::uint64_t{0}; };
  const auto alive = [] { return success(); };
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(::write(to[1], "x", 1), 1);
    ASSERT_TRUE(rest.wait(Duration::from_seconds(60), Duration{0}, none, alive).ok());
    // The reply is there: the child has processed the byte.
    int waiting = 0;
    ASSERT_EQ(::ioctl(from[0], FIONREAD, &waiting), 0);
    ASSERT_EQ(waiting, 1);
    char byte = 0;
    ASSERT_EQ(::read(from[0], &byte, 1), 1);
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST(CosimRest, a_program_that_never_rests_is_an_error_with_its_name) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (volatile std::uint64_t work = 0;; work = work + 1) {
    }
  }
  Rest rest;
  const auto ended = rest.wait(
      Duration::from_ms(50), Duration{0}, [] { return std::uint64_t{0}; },
      [] { return success(); });
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().code, Code::timeout);
  EXPECT_NE(ended.error().message.find("of process " + std::to_string(child)), std::string::npos)
      << ended.error().message;
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST(CosimRest, another_thread_of_this_process_counts) {
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) {
    }
  });
  Rest rest;
  EXPECT_FALSE(rest.at_rest());
  stop = true;
  busy.join();
  const auto rested = rest.wait(
      Duration::from_seconds(60), Duration{0}, [] { return std::uint64_t{0}; },
      [] { return success(); });
  EXPECT_TRUE(rested.ok());
}

TEST(CosimChildren, a_program_that_cannot_start_is_an_error_with_its_name) {
  Children children("husky");
  const auto started = children.start("program", {"no-such-program-here"}, "/");
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().code, Code::not_found);
  EXPECT_EQ(started.error().where, "husky");
  EXPECT_NE(started.error().message.find("no-such-program-here"), std::string::npos);
}

TEST(CosimChildren, a_failed_program_is_named_and_its_descendants_end) {
  Children children("husky");
  ASSERT_TRUE(children.start("program", {"sh", "-c", "sleep 1000 & exit 7"}, "/").ok());
  Result<void> fine = success();
  while ((fine = children.check()).ok()) std::this_thread::yield();
  EXPECT_NE(fine.error().message.find("the program ended with status 7"), std::string::npos);
}

TEST(CosimRobotCodec, readings_and_sensors_survive) {
  Wiring wiring;
  const TypeId scan = make_type_id("hyphos.msgs.LaserScan", Encoding::protobuf);
  wiring.sensor_channels = {{"scan", scan}, {"", {}}, {"tf_static", scan, true}};
  wiring.frame_channel = "tf";
  RobotInput input;
  input.readings = {
      {0, Buffer::copy_of("ranges"), {Buffer::copy_of("one"), Buffer::copy_of("two")}}};
  Writer writer;
  put_wiring(writer, wiring);
  put_input(writer, input);
  Reader reader(writer.bytes());
  const Wiring read_wiring = get_wiring(reader);
  const RobotInput read_input = get_input(reader);
  ASSERT_TRUE(reader.complete());
  ASSERT_EQ(read_wiring.sensor_channels.size(), 3U);
  EXPECT_EQ(read_wiring.frame_channel, "tf");
  EXPECT_FALSE(read_wiring.sensor_channels[0].latched);
  EXPECT_TRUE(read_wiring.sensor_channels[2].latched);
  EXPECT_EQ(read_wiring.sensor_channels[0].name, "scan");
  EXPECT_EQ(read_wiring.sensor_channels[0].type, scan);
  ASSERT_EQ(read_input.readings.size(), 1U);
  ASSERT_EQ(read_input.readings[0].attached.size(), 2U);
  EXPECT_EQ(read_input.readings[0].attached[1].bytes().size(), 3U);
}

}  // namespace
}  // namespace hyphos::cosim
