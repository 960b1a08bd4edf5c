#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "cosim/mavlink/vehicle.hpp"
#include "cosim/scenario/scenario.hpp"

namespace hyphos::cosim::mavlink {
namespace {

constexpr double kPi = std::numbers::pi;

TEST(CosimMavlink, frames_are_read_back) {
  Message sent{Id::command_long, 7, 9, Payload(33)};
  sent.payload.set<float>(0, 1.5F);
  sent.payload.set<std::uint16_t>(28, 400);
  sent.payload.set<std::uint8_t>(30, 3);
  const auto bytes = frame(sent, 200);
  EXPECT_LT(bytes.size(), 10U + 33U + 2U) << "zeros at the end are left out";
  int seen = 0;
  Ignored ignored;
  read_frames(
      bytes,
      [&](const Message& message) {
        ++seen;
        EXPECT_EQ(message.id, Id::command_long);
        EXPECT_EQ(message.system, 7);
        EXPECT_EQ(message.payload.get<float>(0), 1.5F);
        EXPECT_EQ(message.payload.get<std::uint16_t>(28), 400);
        EXPECT_EQ(message.payload.get<std::uint8_t>(32), 0);
      },
      ignored);
  EXPECT_EQ(seen, 1);
}

TEST(CosimMavlink, bytes_that_are_no_frame_are_counted) {
  Message sent{Id::heartbeat, 1, 1, Payload(9)};
  sent.payload.set<std::uint8_t>(8, 3);
  const auto good = frame(sent, 0);
  for (std::size_t i = 1; i < good.size(); ++i) {
    auto bad = good;
    bad[i] ^= std::byte{0x41};
    int seen = 0;
    Ignored ignored;
    read_frames(bad, [&](const Message&) { ++seen; }, ignored);
    EXPECT_EQ(seen, 0) << i;
    EXPECT_GT(ignored.corrupt + ignored.unknown + ignored.no_frame, 0U) << i;
  }
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::byte> noise(random() % 300);
    for (auto& byte : noise) byte = static_cast<std::byte>(random() % 4 == 0 ? 0xFD : random());
    Ignored ignored;
    read_frames(noise, [](const Message&) {}, ignored);
  }
}

/// A vehicle that follows each command exactly, on ground at z = 0.
class Flight {
 public:
  explicit Flight(Autopilot autopilot) : vehicle_(autopilot, 1) { step(); }

  void step(double seconds = 0.02) {
    now_ = now_ + Duration{static_cast<std::int64_t>(seconds * 1e9)};
    vehicle_.see(now_, pose_);
    const auto motion = vehicle_.control();
    vehicle_.report([this](const Message& message) { keep(message); });
    pose_.velocity = {};
    if (!motion) return;
    yaw_ += motion->turn * seconds;
    pose_.orientation = about_z(yaw_);
    pose_.velocity = turned(about_z(yaw_), motion->velocity);
    pose_.position = pose_.position + pose_.velocity * seconds;
    if (pose_.position.z <= 0) {
      pose_.position.z = 0;
      pose_.velocity.z = 0;
    }
  }
  void fly(double seconds) {
    for (double t = 0; t < seconds; t += 0.02) step();
  }
  void send(const Message& message) {
    vehicle_.receive(message, [this](const Message& answer) { keep(answer); });
  }
  int command(std::uint16_t number, std::array<float, 7> values = {}) {
    Message message{Id::command_long, 255, 190, Payload(33)};
    for (std::size_t i = 0; i < 7; ++i) message.payload.set(4 * i, values[i]);
    message.payload.set(28, number);
    message.payload.set<std::uint8_t>(30, 1);
    send(message);
    return last_[Id::command_ack].payload.get<std::uint8_t>(2);
  }
  void target(std::uint16_t mask, Vec3 place, Vec3 velocity, float yaw = 0,
              std::uint8_t frame = 1) {
    Message message{Id::set_position_target_local_ned, 255, 190, Payload(53)};
    std::size_t at = 4;
    for (const double v : {place.x, place.y, place.z, velocity.x, velocity.y, velocity.z}) {
      message.payload.set(at, static_cast<float>(v));
      at += 4;
    }
    message.payload.set(40, yaw);
    message.payload.set(48, mask);
    message.payload.set<std::uint8_t>(50, 1);
    message.payload.set(52, frame);
    send(message);
  }
  [[nodiscard]] Message last(Id id) { return last_[id]; }
  [[nodiscard]] std::uint32_t mode() { return last_[Id::heartbeat].payload.get<std::uint32_t>(0); }
  [[nodiscard]] bool armed() {
    return (last_[Id::heartbeat].payload.get<std::uint8_t>(6) & 128) != 0;
  }
  Pose pose_{};
  double yaw_ = 0;

 private:
  void keep(const Message& message) { last_[message.id] = message; }

  Vehicle vehicle_;
  Time now_{};
  std::map<Id, Message> last_;
};

constexpr std::uint16_t kOnlyPlace = 0b110111111000;
constexpr std::uint16_t kOnlyVelocity = 0b110111000111;

TEST(CosimMavlink, a_px4_takes_off_flies_offboard_and_lands) {
  Flight flight(Autopilot::px4);
  EXPECT_EQ(flight.command(22, {0, 0, 0, 0, 0, 0, 5}), 2) << "not armed";
  EXPECT_EQ(flight.command(400, {1}), 0);
  EXPECT_EQ(flight.command(22, {0, 0, 0, 0, 0, 0, 5}), 0);
  flight.fly(8);
  EXPECT_NEAR(flight.pose_.position.z, 5, 0.3);
  EXPECT_EQ(flight.mode(), 4U << 16 | 3U << 24) << "holds";
  EXPECT_EQ(flight.command(176, {1, 6}), 2) << "no set points yet";
  for (int i = 0; i < 500; ++i) {
    flight.target(kOnlyPlace, {10, 4, -7}, {});
    if (i == 2) {
      EXPECT_EQ(flight.command(176, {1, 6}), 0);
    }
    flight.step();
  }
  EXPECT_EQ(flight.mode(), 6U << 16);
  EXPECT_NEAR(flight.pose_.position.y, 10, 0.2) << "north is the world's y";
  EXPECT_NEAR(flight.pose_.position.x, 4, 0.2);
  EXPECT_NEAR(flight.pose_.position.z, 7, 0.2);
  flight.fly(1.5);
  EXPECT_EQ(flight.mode(), 4U << 16 | 3U << 24) << "silence ends OFFBOARD";
  EXPECT_EQ(flight.command(400, {0}), 2) << "not in flight";
  EXPECT_EQ(flight.command(21), 0);
  flight.fly(18);
  EXPECT_EQ(flight.pose_.position.z, 0);
  EXPECT_FALSE(flight.armed()) << "disarms after the landing";
  EXPECT_EQ(flight.last(Id::extended_sys_state).payload.get<std::uint8_t>(1), 1);
}

TEST(CosimMavlink, an_ardupilot_needs_guided_and_follows_velocities) {
  Flight flight(Autopilot::ardupilot);
  EXPECT_EQ(flight.command(400, {1}), 0);
  EXPECT_EQ(flight.command(22, {0, 0, 0, 0, 0, 0, 4}), 2) << "not GUIDED";
  EXPECT_EQ(flight.command(176, {1, 4}), 0);
  EXPECT_EQ(flight.command(22, {0, 0, 0, 0, 0, 0, 4}), 0);
  flight.fly(8);
  EXPECT_NEAR(flight.pose_.position.z, 4, 0.3);
  for (int i = 0; i < 100; ++i) {
    flight.target(kOnlyVelocity, {}, {0, 3, 0});
    flight.step();
  }
  EXPECT_NEAR(flight.pose_.position.x, 6, 0.3) << "east is the world's x";
  EXPECT_NEAR(flight.pose_.position.y, 0, 0.1);
  flight.fly(10);
  EXPECT_LT(flight.pose_.position.x, 17) << "stops when the commands stay away";
  const double x = flight.pose_.position.x;
  flight.fly(3);
  EXPECT_NEAR(flight.pose_.position.x, x, 0.1);
  EXPECT_EQ(flight.mode(), 4U);
}

TEST(CosimMavlink, targets_in_the_frame_of_the_body_turn_with_it) {
  Flight flight(Autopilot::ardupilot);
  flight.command(400, {1});
  flight.command(176, {1, 4});
  flight.command(22, {0, 0, 0, 0, 0, 0, 4});
  flight.fly(8);
  const Vec3 before = flight.pose_.position;
  for (int i = 0; i < 100; ++i) {
    flight.target(kOnlyVelocity, {}, {2, 0, 0}, 0, 8);
    flight.step();
  }
  EXPECT_NEAR(flight.pose_.position.x - before.x, 4, 0.3) << "its nose points along x";
  EXPECT_NEAR(flight.pose_.position.y - before.y, 0, 0.1);
}

TEST(CosimMavlink, telemetry_has_the_units_and_signs_of_mavlink) {
  Flight flight(Autopilot::px4);
  flight.pose_.position = {30, 20, 10};
  flight.fly(0.5);
  const Message place = flight.last(Id::local_position_ned);
  EXPECT_NEAR(place.payload.get<float>(4), 20, 1e-4);
  EXPECT_NEAR(place.payload.get<float>(8), 30, 1e-4);
  EXPECT_NEAR(place.payload.get<float>(12), -10, 1e-4);
  const Message attitude = flight.last(Id::attitude);
  EXPECT_NEAR(attitude.payload.get<float>(12), kPi / 2, 1e-4) << "the world's x is east";
  EXPECT_EQ(flight.last(Id::heartbeat).payload.get<std::uint8_t>(5), 12);
  EXPECT_EQ(flight.command(511, {32, -1}), 0);
  EXPECT_EQ(flight.command(511, {999, 1000}), 3) << "no such stream";
  EXPECT_EQ(flight.command(2000), 3) << "unknown commands are unsupported";
}

TEST(CosimMavlink, values_that_are_not_numbers_move_nothing) {
  Flight flight(Autopilot::ardupilot);
  flight.command(400, {1});
  flight.command(176, {1, 4});
  EXPECT_EQ(flight.command(22, {0, 0, 0, 0, 0, 0, NAN}), 2);
  flight.command(22, {0, 0, 0, 0, 0, 0, 4});
  flight.fly(8);
  flight.target(kOnlyPlace, {NAN, 0, 0}, {});
  flight.target(kOnlyVelocity, {}, {INFINITY, 0, 0});
  flight.fly(2);
  EXPECT_TRUE(is_finite(flight.pose_.position));
  EXPECT_NEAR(flight.pose_.position.z, 4, 0.3);
}

TEST(CosimMavlink, commands_with_values_that_are_not_numbers_are_refused) {
  for (const Autopilot autopilot : {Autopilot::px4, Autopilot::ardupilot}) {
    Flight flight(autopilot);
    EXPECT_EQ(flight.command(176, {1, NAN, NAN}), 3) << "no such mode";
    EXPECT_EQ(flight.command(511, {32, NAN}), 2);
    EXPECT_EQ(flight.command(511, {NAN, 1000}), 3) << "no such stream";
    EXPECT_EQ(flight.command(511, {32, INFINITY}), 0);
    EXPECT_EQ(flight.command(511, {32, -INFINITY}), 0);
  }
}

TEST(CosimMavlink, wrong_keys_have_line_and_remedy) {
  const auto refused = [](const std::string& robot, const std::string& what) {
    const auto made =
        parse_scenario("robots:\n  a: {at: [0, 0, 1]}\n  b: {" + robot + "}\n", "m.yaml");
    ASSERT_FALSE(made.ok()) << robot;
    EXPECT_NE(made.error().to_string().find("m.yaml:3"), std::string::npos);
    EXPECT_NE(made.error().to_string().find(what), std::string::npos) << made.error().to_string();
  };
  refused("at: [0, 0, 1], mavlink: {}", "kind: uav");
  refused("kind: uav, at: [0, 0, 1], mavlink: {remote: here}", "ADDRESS:PORT");
  refused("kind: uav, at: [0, 0, 1], mavlink: {system_id: 0}", "system_id");
  refused("kind: uav, at: [0, 0, 1], mavlink: {autopilot: px5}", "px4");
  refused("kind: uav, at: [0, 0, 1], mavlink: {ports: 4}", "ports");
  refused("kind: uav, waypoints: [[0, 0, 1], [2, 0, 1]], mavlink: {}", "only valid with `at`");
}

}  // namespace
}  // namespace hyphos::cosim::mavlink
