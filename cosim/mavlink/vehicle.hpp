#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "cosim/core/simulator.hpp"
#include "cosim/mavlink/frame.hpp"

namespace hyphos::cosim::mavlink {

enum class Autopilot { px4, ardupilot };

/// A multicopter that follows MAVLink commands, as a stand-in for the SITL of PX4 and ArduPilot: it
/// answers with the same messages, modes and refusals, and flies by Physics::steer(). Its frame is
/// local NED: x north (y of the world), y east (x of the world), z down, from its first place.
///
/// It has no estimator, no sensors, no missions and no parameters. All times are simulated.
class Vehicle {
 public:
  using Send = std::function<void(const Message&)>;

  Vehicle(Autopilot autopilot, std::uint8_t system) : autopilot_(autopilot), system_(system) {}

  /// Sets the pose at `now`. The first call sets its home.
  void see(Time now, const Pose& pose);
  void receive(const Message& message, const Send& send);
  /// The command from now on. None: it stays on the ground as it is.
  [[nodiscard]] std::optional<Motion> control();
  /// Sends the messages that are due.
  void report(const Send& send);

 private:
  enum class Mode { hold, takeoff, land, guided };
  enum class Result : std::uint8_t {
    accepted = 0,
    temporarily_rejected = 1,
    denied = 2,
    unsupported = 3,
  };
  /// A set point in NED. Parts that the sender masks out are not set.
  struct Target {
    std::optional<Vec3> place{};
    std::optional<Vec3> velocity{};
    std::optional<double> yaw{};
    std::optional<double> yaw_rate{};
    Time at{};
  };

  [[nodiscard]] bool for_me(const Payload& payload, std::size_t at) const;
  void command(const Message& message, const Send& send, bool with_integers);
  Result run(std::uint16_t command, const std::array<float, 7>& values, const Send& send);
  Result arm(bool on, bool force, const Send& send);
  Result take_off(double height, const Send& send);
  Result set_mode(std::uint32_t custom, const Send& send);
  Result set_interval(double id, double interval_us);
  void set_target(const Message& message);
  void enter(Mode mode, Vec3 place);
  void say(const Send& send, const std::string& text) const;
  [[nodiscard]] Vec3 to_ned(const Vec3& world) const;
  [[nodiscard]] Vec3 place_ned() const { return to_ned(pose_.position - home_); }
  [[nodiscard]] double yaw_ned() const;
  [[nodiscard]] Motion motion(const Vec3& velocity_ned, double turn_ned) const;
  [[nodiscard]] std::uint32_t custom_mode() const;
  [[nodiscard]] Message made(Id id) const;
  [[nodiscard]] Message telemetry(Id id) const;
  [[nodiscard]] std::uint32_t boot_ms() const;
  void watch_landing(double down);
  [[nodiscard]] Vec3 wanted_velocity();

  Autopilot autopilot_;
  std::uint8_t system_;
  Pose pose_{};
  Vec3 home_{};
  bool seen_ = false;
  Time now_{};
  bool armed_ = false;
  bool landed_ = true;
  Mode mode_ = Mode::hold;
  bool offboard_ = false;  // PX4: OFFBOARD, ArduPilot: GUIDED
  Vec3 place_{};           // NED, the place to hold
  double yaw_ = 0;         // NED
  Target target_{};
  bool has_target_ = false;
  Time slow_since_{};  // since when it has not sunk while landing
  Time landed_at_{};
  struct Stream {
    Duration every{};
    Time due{};
  };
  std::map<Id, Stream> streams_{
      {Id::heartbeat, {Duration::from_ms(1000), {}}},
      {Id::sys_status, {Duration::from_ms(1000), {}}},
      {Id::extended_sys_state, {Duration::from_ms(500), {}}},
      {Id::attitude, {Duration::from_ms(100), {}}},
      {Id::local_position_ned, {Duration::from_ms(100), {}}},
      {Id::global_position_int, {Duration::from_ms(200), {}}},
  };
};

}  // namespace hyphos::cosim::mavlink
