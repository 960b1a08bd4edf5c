#include "cosim/mavlink/vehicle.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace hyphos::cosim::mavlink {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kMostLevel = 5;  // m/s, towards a place
constexpr double kMostClimb = 2.5;
constexpr double kMostSink = 1.5;
constexpr double kLandSpeed = 0.7;
constexpr double kMostCommanded = 15;  // m/s, of a velocity command
constexpr double kMostTurn = 1.5;      // rad/s
constexpr double kPlaceGain = 1;       // 1/s
constexpr double kReached = 0.2;       // m below the height of a take-off
constexpr double kAirborne = 0.3;      // m above home
constexpr double kStill = 0.1;         // m/s: it has touched down
constexpr double kLeastHeight = 0.5;
constexpr double kMostHeight = 1000;
constexpr Duration kTouchDown = Duration::from_ms(1000);
constexpr Duration kDisarm = Duration::from_ms(2000);  // after the landing
// A vehicle stops if its set points stay away for this long.
constexpr Duration kPx4Silence = Duration::from_ms(500);
constexpr Duration kArduPilotSilence = Duration::from_ms(3000);
// Where home is on the earth: the field of PX4's simulation.
constexpr double kLatitude = 47.397742;
constexpr double kLongitude = 8.545594;
constexpr double kAltitude = 488;
constexpr double kMetresPerDegree = 111'319.5;

constexpr std::uint8_t kQuadrotor = 2;
constexpr std::uint8_t kArmedFlag = 128;
constexpr std::uint8_t kCustomFlag = 1;
constexpr std::uint8_t kGuidedFlag = 8;
constexpr std::uint8_t kStandby = 3;
constexpr std::uint8_t kActive = 4;

// Commands of common.xml.
enum Command : std::uint16_t {
  nav_land = 21,
  nav_takeoff = 22,
  nav_return = 20,
  do_set_mode = 176,
  component_arm_disarm = 400,
  set_message_interval = 511,
};

// Modes as each autopilot numbers them.
constexpr std::uint32_t px4(std::uint32_t main, std::uint32_t sub) {
  return main << 16 | sub << 24;
}
constexpr std::uint32_t kPx4Position = px4(3, 0);
constexpr std::uint32_t kPx4TakeOff = px4(4, 2);
constexpr std::uint32_t kPx4Hold = px4(4, 3);
constexpr std::uint32_t kPx4Land = px4(4, 6);
constexpr std::uint32_t kPx4Offboard = px4(6, 0);
constexpr std::uint32_t kCopterGuided = 4;
constexpr std::uint32_t kCopterLoiter = 5;
constexpr std::uint32_t kCopterLand = 9;

// Bits of the type mask of a set point: the part is ignored.
constexpr unsigned kNoPlace = 7;
constexpr unsigned kNoVelocity = 7 << 3;
constexpr unsigned kNoYaw = 1 << 10;
constexpr unsigned kNoYawRate = 1 << 11;

double wrapped(double angle) { return std::remainder(angle, 2 * kPi); }

/// A value of a command as the number of a mode. 0, which no vehicle here has, if it is none.
std::uint32_t mode_of(float value) {
  return std::isnan(value) ? 0 : static_cast<std::uint32_t>(std::clamp(value, 0.0F, 255.0F));
}

bool finite(std::initializer_list<float> values) {
  return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
}

}  // namespace

Vec3 Vehicle::to_ned(const Vec3& world) const { return {world.y, world.x, -world.z}; }

double Vehicle::yaw_ned() const { return wrapped(kPi / 2 - yaw_of(pose_.orientation)); }

Motion Vehicle::motion(const Vec3& v, double turn) const {
  const double yaw = yaw_ned();
  const double ahead = v.x * std::cos(yaw) + v.y * std::sin(yaw);
  const double right = -v.x * std::sin(yaw) + v.y * std::cos(yaw);
  return {{ahead, -right, -v.z}, -turn};
}

void Vehicle::see(Time now, const Pose& pose) {
  now_ = now;
  pose_ = pose;
  if (std::exchange(seen_, true)) return;
  home_ = pose.position;
  yaw_ = yaw_ned();
}

bool Vehicle::for_me(const Payload& payload, std::size_t at) const {
  const auto target = payload.get<std::uint8_t>(at);
  return target == 0 || target == system_;
}

Message Vehicle::made(Id id) const {
  return {id, system_, 1, Payload(known(static_cast<std::uint32_t>(id))->most)};
}

std::uint32_t Vehicle::boot_ms() const { return static_cast<std::uint32_t>(now_.ns / 1'000'000); }

void Vehicle::say(const Send& send, const std::string& text) const {
  Message message = made(Id::statustext);
  message.payload.set<std::uint8_t>(0, 4);  // warning
  for (std::size_t i = 0; i < std::min<std::size_t>(50, text.size()); ++i) {
    message.payload.set<char>(1 + i, text[i]);
  }
  send(message);
}

void Vehicle::receive(const Message& message, const Send& send) {
  switch (message.id) {
    case Id::command_long:
      return command(message, send, false);
    case Id::command_int:
      return command(message, send, true);
    case Id::set_mode:
      if (for_me(message.payload, 4)) {
        (void)set_mode(message.payload.get<std::uint32_t>(0), send);
      }
      return;
    case Id::set_position_target_local_ned:
      if (for_me(message.payload, 50)) set_target(message);
      return;
    case Id::mission_request_list:
      if (for_me(message.payload, 0)) send(made(Id::mission_count));  // no mission
      return;
    case Id::timesync:
      if (message.payload.get<std::int64_t>(0) == 0) {
        Message answer = made(Id::timesync);
        answer.payload.set(0, now_.ns);
        answer.payload.set(8, message.payload.get<std::int64_t>(8));
        send(answer);
      }
      return;
    default:
      return;
  }
}

void Vehicle::command(const Message& message, const Send& send, bool with_integers) {
  const Payload& from = message.payload;
  if (!for_me(from, 30)) return;
  std::array<float, 7> values{};
  for (std::size_t i = 0; i < 4; ++i) values[i] = from.get<float>(4 * i);
  values[6] = from.get<float>(24);
  if (!with_integers) {
    values[4] = from.get<float>(16);
    values[5] = from.get<float>(20);
  }
  const auto number = from.get<std::uint16_t>(28);
  const Result result = run(number, values, send);
  Message answer = made(Id::command_ack);
  answer.payload.set(0, number);
  answer.payload.set(2, static_cast<std::uint8_t>(result));
  answer.payload.set(8, message.system);
  answer.payload.set(9, message.component);
  send(answer);
}

Vehicle::Result Vehicle::run(std::uint16_t command, const std::array<float, 7>& values,
                             const Send& send) {
  switch (command) {
    case component_arm_disarm:
      return arm(values[0] > 0.5F, values[1] == 21196.0F, send);
    case nav_takeoff:
      return take_off(values[6], send);
    case nav_land:
      if (landed_) return Result::denied;
      enter(Mode::land, place_ned());
      return Result::accepted;
    case do_set_mode:
      // PX4 has the main mode and the mode below it in two values.
      return set_mode(autopilot_ == Autopilot::px4 ? px4(mode_of(values[1]), mode_of(values[2]))
                                                   : mode_of(values[1]),
                      send);
    case set_message_interval:
      return set_interval(values[0], values[1]);
    default:
      return Result::unsupported;
  }
}

Vehicle::Result Vehicle::arm(bool on, bool force, const Send& send) {
  if (on) {
    if (!armed_) {
      armed_ = true;
      landed_at_ = now_;
      place_ = place_ned();
    }
    return Result::accepted;
  }
  if (!landed_) {
    say(send, force ? "Disarming in flight is not simulated: land first"
                    : "Disarming denied: not landed");
    return Result::denied;
  }
  armed_ = false;
  enter(Mode::hold, place_ned());
  return Result::accepted;
}

Vehicle::Result Vehicle::take_off(double height, const Send& send) {
  if (!armed_) {
    say(send, "Take-off denied: arm first");
    return Result::denied;
  }
  if (autopilot_ == Autopilot::ardupilot && !offboard_) {
    say(send, "Take-off denied: set mode GUIDED first");
    return Result::denied;
  }
  // PX4 gives the altitude above the sea.
  if (autopilot_ == Autopilot::px4 && height > kAltitude) height -= kAltitude;
  if (!(height >= kLeastHeight && height <= kMostHeight)) {
    say(send, "Take-off denied: the height must be 0.5 to 1000 m");
    return Result::denied;
  }
  Vec3 place = place_ned();
  place.z = -height;
  const bool guided = autopilot_ == Autopilot::ardupilot;
  enter(Mode::takeoff, place);
  offboard_ = guided;
  return Result::accepted;
}

void Vehicle::enter(Mode mode, Vec3 place) {
  mode_ = mode;
  place_ = place;
  yaw_ = yaw_ned();
  offboard_ = mode == Mode::guided;
  slow_since_ = now_;
  if (mode != Mode::guided) has_target_ = false;
}

Vehicle::Result Vehicle::set_mode(std::uint32_t custom, const Send& send) {
  const bool is_px4 = autopilot_ == Autopilot::px4;
  if (custom == (is_px4 ? kPx4Offboard : kCopterGuided)) {
    if (is_px4 && (!has_target_ || now_ - target_.at > kPx4Silence)) {
      say(send, "OFFBOARD denied: send set points first, 2 Hz or more");
      return Result::denied;
    }
    const bool had = has_target_;
    enter(Mode::guided, place_ned());
    has_target_ = had && is_px4;
    return Result::accepted;
  }
  if (custom == (is_px4 ? kPx4Land : kCopterLand)) {
    if (!landed_) enter(Mode::land, place_ned());
    return landed_ ? Result::denied : Result::accepted;
  }
  if (custom == (is_px4 ? kPx4Hold : kCopterLoiter) || (is_px4 && custom == kPx4Position)) {
    enter(Mode::hold, place_ned());
    return Result::accepted;
  }
  say(send, "This mode is not simulated");
  return Result::unsupported;
}

Vehicle::Result Vehicle::set_interval(double id, double interval_us) {
  if (std::isnan(interval_us)) return Result::denied;
  for (auto& [one, stream] : streams_) {
    if (static_cast<double>(one) != id) continue;
    if (interval_us < 0) {
      stream.every = Duration{kNever.ns};
    } else if (interval_us == 0) {
      stream.every = Duration::from_ms(100);
    } else {
      // 200 Hz at most.
      stream.every = Duration::from_us(
          static_cast<std::int64_t>(std::clamp(interval_us, 5000.0, 60'000'000.0)));
    }
    stream.due = now_;
    return Result::accepted;
  }
  return Result::unsupported;
}

void Vehicle::set_target(const Message& message) {
  const Payload& from = message.payload;
  const auto mask = from.get<std::uint16_t>(48);
  const auto frame = from.get<std::uint8_t>(52);
  const auto number = [&](std::size_t at) { return from.get<float>(at); };
  const bool along_body = frame == 8 || frame == 9 || frame == 12;
  const bool offset = frame == 7 || frame == 9;
  if (!along_body && frame != 1 && frame != 7) return;
  const double yaw = yaw_ned();
  const auto level = [&](Vec3 v) {
    if (!along_body) return v;
    return Vec3{v.x * std::cos(yaw) - v.y * std::sin(yaw),
                v.x * std::sin(yaw) + v.y * std::cos(yaw), v.z};
  };
  Target target;
  target.at = now_;
  if ((mask & kNoPlace) == 0 && finite({number(4), number(8), number(12)})) {
    const Vec3 place = level({number(4), number(8), number(12)});
    target.place = offset || along_body ? place_ned() + place : place;
  }
  if ((mask & kNoVelocity) == 0 && finite({number(16), number(20), number(24)})) {
    target.velocity = level({number(16), number(20), number(24)});
  }
  if ((mask & kNoYaw) == 0 && finite({number(40)})) {
    target.yaw = wrapped(number(40) + (along_body ? yaw : 0));
  }
  if ((mask & kNoYawRate) == 0 && finite({number(44)})) target.yaw_rate = number(44);
  if (!target.place && !target.velocity) return;
  // An ArduPilot flies to set points in GUIDED only, and forgets the others.
  if (autopilot_ == Autopilot::ardupilot && mode_ != Mode::guided) return;
  target_ = target;
  has_target_ = true;
}

void Vehicle::watch_landing(double down) {
  if (-place_ned().z > kAirborne) landed_ = false;
  if (mode_ == Mode::land && !landed_) {
    const bool still = std::abs(pose_.velocity.z) < kStill && down > 0;
    if (!still) slow_since_ = now_;
    if (now_ - slow_since_ >= kTouchDown) {
      landed_ = true;
      landed_at_ = now_;
    }
  }
  if (landed_ && armed_ && mode_ == Mode::land && now_ - landed_at_ >= kDisarm) {
    armed_ = false;
    enter(Mode::hold, place_ned());
  }
}

/// NED, for the current mode.
Vec3 Vehicle::wanted_velocity() {
  if (mode_ == Mode::takeoff && place_ned().z - place_.z < kReached) {
    const bool guided = autopilot_ == Autopilot::ardupilot;
    enter(guided ? Mode::guided : Mode::hold, place_);
  }
  std::optional<Vec3> place = place_;
  Vec3 velocity{};
  if (mode_ == Mode::guided && has_target_) {
    const Duration silence = autopilot_ == Autopilot::px4 ? kPx4Silence : kArduPilotSilence;
    const bool stale = now_ - target_.at > silence;
    if (stale && (autopilot_ == Autopilot::px4 || !target_.place)) {
      // PX4 leaves OFFBOARD and holds. An ArduPilot keeps a place, but not a velocity.
      enter(autopilot_ == Autopilot::px4 ? Mode::hold : Mode::guided, place_ned());
      place = place_;
    } else {
      place = target_.place;
      velocity = target_.velocity.value_or(Vec3{});
      if (target_.yaw) yaw_ = *target_.yaw;
    }
  }
  if (place) {
    const Vec3 way = (*place - place_ned()) * kPlaceGain;
    const double level = std::hypot(way.x, way.y);
    const double share = level > kMostLevel ? kMostLevel / level : 1;
    velocity =
        velocity + Vec3{way.x * share, way.y * share, std::clamp(way.z, -kMostClimb, kMostSink)};
  } else {
    const double speed = length(velocity);
    if (speed > kMostCommanded) velocity = velocity * (kMostCommanded / speed);
  }
  if (mode_ == Mode::land) velocity.z = kLandSpeed;
  return velocity;
}

std::optional<Motion> Vehicle::control() {
  if (!armed_) return std::nullopt;
  const bool stays = landed_ && (mode_ == Mode::hold || mode_ == Mode::land ||
                                 (mode_ == Mode::guided && !has_target_));
  const Vec3 velocity = wanted_velocity();
  watch_landing(velocity.z);
  if (stays || !armed_) return Motion{};
  double turn = std::clamp(1.5 * wrapped(yaw_ - yaw_ned()), -kMostTurn, kMostTurn);
  if (mode_ == Mode::guided && has_target_ && target_.yaw_rate) {
    turn = std::clamp(*target_.yaw_rate, -kMostTurn, kMostTurn);
    yaw_ = yaw_ned();
  }
  return motion(velocity, turn);
}

std::uint32_t Vehicle::custom_mode() const {
  const bool is_px4 = autopilot_ == Autopilot::px4;
  if (offboard_) return is_px4 ? kPx4Offboard : kCopterGuided;
  switch (mode_) {
    case Mode::takeoff:
      return is_px4 ? kPx4TakeOff : kCopterGuided;
    case Mode::land:
      return is_px4 ? kPx4Land : kCopterLand;
    case Mode::guided:
      return is_px4 ? kPx4Offboard : kCopterGuided;
    case Mode::hold:
      break;
  }
  return is_px4 ? kPx4Hold : kCopterLoiter;
}

Message Vehicle::telemetry(Id id) const {
  Message message = made(id);
  Payload& to = message.payload;
  const Vec3 place = place_ned();
  const Vec3 velocity = to_ned(pose_.velocity);
  const auto put = [&to](std::size_t at, double value) { to.set(at, static_cast<float>(value)); };
  switch (id) {
    case Id::heartbeat:
      to.set(0, custom_mode());
      to.set(4, kQuadrotor);
      to.set<std::uint8_t>(5, autopilot_ == Autopilot::px4 ? 12 : 3);
      to.set(6, static_cast<std::uint8_t>(kCustomFlag | (armed_ ? kArmedFlag : 0) |
                                          (offboard_ ? kGuidedFlag : 0)));
      to.set(7, landed_ ? kStandby : kActive);
      to.set<std::uint8_t>(8, 3);
      break;
    case Id::sys_status:
      to.set<std::uint16_t>(14, 16'000);  // mV
      to.set<std::int16_t>(16, -1);
      to.set<std::int8_t>(30, 100);  // % of the battery
      break;
    case Id::extended_sys_state: {
      const std::uint8_t state = landed_                  ? 1
                                 : mode_ == Mode::takeoff ? 3
                                 : mode_ == Mode::land    ? 4
                                                          : 2;
      to.set(1, state);
      break;
    }
    case Id::attitude: {
      to.set(0, boot_ms());
      const Vec3 up = turned_back(pose_.orientation, {0, 0, 1});
      put(4, std::atan2(up.y, up.z));
      put(8, std::asin(std::clamp(up.x, -1.0, 1.0)));
      put(12, yaw_ned());
      put(16, pose_.turn.x);
      put(20, -pose_.turn.y);
      put(24, -pose_.turn.z);
      break;
    }
    case Id::local_position_ned: {
      to.set(0, boot_ms());
      std::size_t at = 4;
      for (const double value : {place.x, place.y, place.z, velocity.x, velocity.y, velocity.z}) {
        put(at, value);
        at += 4;
      }
      break;
    }
    case Id::global_position_int: {
      to.set(0, boot_ms());
      const double narrow = std::cos(kLatitude * kPi / 180);
      to.set(4, static_cast<std::int32_t>(
                    std::lround((kLatitude + place.x / kMetresPerDegree) * 1e7)));
      to.set(8, static_cast<std::int32_t>(
                    std::lround((kLongitude + place.y / (kMetresPerDegree * narrow)) * 1e7)));
      to.set(12, static_cast<std::int32_t>(std::lround((kAltitude - place.z) * 1e3)));
      to.set(16, static_cast<std::int32_t>(std::lround(-place.z * 1e3)));
      std::size_t at = 20;
      for (const double value : {velocity.x, velocity.y, velocity.z}) {
        to.set(at, static_cast<std::int16_t>(std::clamp(value * 100, -32000.0, 32000.0)));
        at += 2;
      }
      const double yaw = yaw_ned() < 0 ? yaw_ned() + 2 * kPi : yaw_ned();
      to.set(26, static_cast<std::uint16_t>(yaw * 18000 / kPi));
      break;
    }
    default:
      break;
  }
  return message;
}

void Vehicle::report(const Send& send) {
  if (!seen_) return;
  for (auto& [id, stream] : streams_) {
    if (stream.every.ns == kNever.ns || now_ < stream.due) continue;
    stream.due = now_ + stream.every;
    send(telemetry(id));
  }
}

}  // namespace hyphos::cosim::mavlink
