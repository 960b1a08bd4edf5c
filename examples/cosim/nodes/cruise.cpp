// Drives its robot straight ahead, with a bend from time to time.
#include <cmath>

#include <hyphos/hyphos.hpp>
#include <hyphos/msgs/geometry.pb.h>

namespace {

using hyphos::msgs::Twist;

class Cruise {
 public:
  explicit Cruise(const hyphos::Node& node)
      : clock_(node.clock()),
        speed_(node.param("speed", 1.5)),
        straight_s_(node.param("straight_s", 15.0)),
        bend_s_(node.param("bend_s", 5.0)),
        command_(node.publisher<Twist>("cmd_vel")) {
    node.every(hyphos::Duration::from_ms(100), [this] { drive(); });
  }

 private:
  void drive() {
    const double phase = std::fmod(clock_.elapsed().seconds(), straight_s_ + bend_s_);
    Twist twist;
    twist.mutable_linear()->set_x(speed_);
    if (phase >= straight_s_) twist.mutable_angular()->set_z(kRightAngle / bend_s_);
    command_.publish(twist);
  }

  static constexpr double kRightAngle = 1.5707963267948966;
  hyphos::Clock clock_;
  double speed_;
  double straight_s_;
  double bend_s_;
  hyphos::Publisher<Twist> command_;
};

}  // namespace

HYPHOS_NODE(Cruise)
