#include "builtin/joystick.hpp"

#include <fcntl.h>
#include <linux/joystick.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

#include "base/mutex.hpp"
#include "builtin/device_reader.hpp"
#include "hyphos/hyphos.hpp"

namespace hyphos::builtin {
namespace {

constexpr std::size_t kMaxControls = 256;  // an event has one byte for the number
constexpr double kFullScale = 32767;

// Remote from the centre as written, and 0 within the dead zone. The rest is stretched, so that
// the value does not jump at its edge.
double outside(double value, double deadzone) {
  const double size = std::abs(value);
  if (size <= deadzone) return 0;
  return std::copysign(std::min(1.0, (size - deadzone) / (1 - deadzone)), value);
}

template <typename T>
T& at(std::vector<T>& values, std::size_t index) {
  if (values.size() <= index) values.resize(std::min(index + 1, kMaxControls));
  return values[index];
}

class Joystick final : public Builtin {
 public:
  explicit Joystick(const Node& node)
      : node_(node),
        path_(node.param("device", "/dev/input/js0")),
        frame_(node.param("frame_id", "joystick")),
        deadzone_(node.params().declare<double>(
            "deadzone", {.value = 0.05,
                         .description = "share of an axis around its centre that "
                                        "counts as 0",
                         .range = {0, 0.9}})),
        output_(node.publisher<msgs::Joy>("joy")) {
    const double rate_hz = node.param("repeat_hz", 20.0);
    if (rate_hz > 0) {
      // A receiver stops the robot when nothing comes, so a held stick must repeat itself.
      node.every(Duration::from_seconds(1 / rate_hz), [this] { repeat(); });
    }
    reader_.emplace(
        node.log(), path_,
        DeviceReader::Functions{.open = [this] { return open(); },
                                .data = [this](std::span<const std::byte> bytes) { take(bytes); },
                                .lost = [this] { lose(); }});
  }

 private:
  Result<UniqueFd> open() {
    UniqueFd device(::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (!device.valid()) {
      return Error{errno == ENOENT ? Code::not_found : Code::io,
                   "cannot open the joystick: " + std::generic_category().message(errno) +
                       (errno == EACCES ? ". Add the user to the group input" : ""),
                   path_};
    }
    const MutexLock lock(mutex_);
    state_ = JoystickState();
    present_ = true;
    return device;
  }

  void take(std::span<const std::byte> bytes) {
    const MutexLock lock(mutex_);
    if (state_.feed(bytes, *deadzone_)) publish();
  }

  void lose() {
    const MutexLock lock(mutex_);
    present_ = false;
    state_.release();
    publish();
  }

  void repeat() {
    const MutexLock lock(mutex_);
    if (present_) publish();
  }

  void publish() HYPHOS_REQUIRES(mutex_) {
    msgs::Joy joy = state_.message();
    joy.mutable_header()->set_stamp_ns(node_.clock().now().ns);
    joy.mutable_header()->set_frame_id(frame_);
    output_.publish(std::move(joy));
  }

  const Node node_;
  const std::string path_;
  const std::string frame_;
  const Param<double> deadzone_;
  const Publisher<msgs::Joy> output_;
  Mutex mutex_;
  JoystickState state_ HYPHOS_GUARDED_BY(mutex_);
  bool present_ HYPHOS_GUARDED_BY(mutex_) = false;
  std::optional<DeviceReader> reader_;  // its thread uses the members above
};

class Teleop final : public Builtin {
 public:
  explicit Teleop(const Node& node)
      : node_(node),
        rules_{.axis_x = node.param("axis_x", 1),
               .axis_y = node.param("axis_y", -1),
               .axis_yaw = node.param("axis_yaw", 0),
               .enable_button = node.param("enable_button", 4),
               .turbo_button = node.param("turbo_button", 5)},
        speed_(node.params().declare<double>("speed", {.value = 0.5, .unit = "m/s"})),
        turbo_(node.params().declare<double>("turbo_speed", {.value = 1.0, .unit = "m/s"})),
        turn_(node.params().declare<double>("turn_speed", {.value = 1.0, .unit = "rad/s"})),
        silence_(Duration::from_ms(node.param("silence_ms", 500))),
        output_(node.publisher<msgs::Twist>("cmd_vel")) {
    node.subscribe<msgs::Joy>("joy", serial, [this](const Message<msgs::Joy>& m) { take(*m); });
    node.every(Duration::from_ms(50), [this] { watch(); });
  }
  ~Teleop() override {
    const MutexLock lock(mutex_);
    stop();
  }
  Teleop(const Teleop&) = delete;
  Teleop& operator=(const Teleop&) = delete;

 private:
  void take(const msgs::Joy& joy) {
    TeleopRules rules = rules_;
    rules.speed_m_s = *speed_;
    rules.turbo_m_s = *turbo_;
    rules.turn_rad_s = *turn_;
    msgs::Twist twist;
    const bool drives = drive(joy, rules, twist);
    const MutexLock lock(mutex_);
    last_ = node_.clock().now();
    if (drives) {
      driving_ = true;
      output_.publish(std::move(twist));
    } else {
      stop();
    }
  }

  // The joystick, or the radio to it, may be gone.
  void watch() {
    const MutexLock lock(mutex_);
    if (driving_ && node_.clock().now().ns - last_.ns > silence_.ns) {
      node_.log().warn("no message from the joystick for ", silence_.ns / 1'000'000,
                       " ms: the robot is stopped");
      stop();
    }
  }

  // One zero, and then nothing, so that another node may drive.
  void stop() HYPHOS_REQUIRES(mutex_) {
    if (driving_) output_.publish(msgs::Twist());
    driving_ = false;
  }

  const Node node_;
  const TeleopRules rules_;
  const Param<double> speed_;
  const Param<double> turbo_;
  const Param<double> turn_;
  const Duration silence_;
  const Publisher<msgs::Twist> output_;
  Mutex mutex_;
  Time last_ HYPHOS_GUARDED_BY(mutex_);
  bool driving_ HYPHOS_GUARDED_BY(mutex_) = false;
};

}  // namespace

bool JoystickState::feed(std::span<const std::byte> bytes, double deadzone) {
  rest_.insert(rest_.end(), bytes.begin(), bytes.end());
  const std::size_t whole = rest_.size() / 8 * 8;
  for (std::size_t i = 0; i < whole; i += 8) {
    apply(std::span<const std::byte, 8>(rest_.data() + i, 8), deadzone);
  }
  rest_.erase(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(whole));
  return whole != 0;
}

void JoystickState::apply(std::span<const std::byte, 8> event, double deadzone) {
  js_event found;
  std::memcpy(&found, event.data(), sizeof(found));
  switch (found.type & ~JS_EVENT_INIT) {
    case JS_EVENT_AXIS:
      // Linux counts right and down as positive. ROS counts left and up, as REP 103.
      at(axes_, found.number) = static_cast<float>(-outside(found.value / kFullScale, deadzone));
      break;
    case JS_EVENT_BUTTON:
      at(buttons_, found.number) = found.value != 0 ? 1 : 0;
      break;
    default:
      break;
  }
}

void JoystickState::release() {
  std::ranges::fill(axes_, 0.0F);
  std::ranges::fill(buttons_, 0);
  rest_.clear();
}

msgs::Joy JoystickState::message() const {
  msgs::Joy joy;
  joy.mutable_axes()->Add(axes_.begin(), axes_.end());
  joy.mutable_buttons()->Add(buttons_.begin(), buttons_.end());
  return joy;
}

bool drive(const msgs::Joy& joy, const TeleopRules& rules, msgs::Twist& out) {
  const auto axis = [&](int index) {
    return index >= 0 && index < joy.axes_size() && std::isfinite(joy.axes(index))
               ? std::clamp<double>(joy.axes(index), -1, 1)
               : 0.0;
  };
  const auto held = [&](int index) {
    return index >= 0 && index < joy.buttons_size() && joy.buttons(index) != 0;
  };
  if (rules.enable_button >= 0 && !held(rules.enable_button) && !held(rules.turbo_button)) {
    return false;
  }
  const double speed = held(rules.turbo_button) ? rules.turbo_m_s : rules.speed_m_s;
  out.mutable_linear()->set_x(speed * axis(rules.axis_x));
  out.mutable_linear()->set_y(speed * axis(rules.axis_y));
  out.mutable_angular()->set_z(rules.turn_rad_s * axis(rules.axis_yaw));
  return true;
}

std::unique_ptr<Builtin> open_joystick(const Node& node) {
  return std::make_unique<Joystick>(node);
}
std::unique_ptr<Builtin> open_teleop(const Node& node) { return std::make_unique<Teleop>(node); }

}  // namespace hyphos::builtin
