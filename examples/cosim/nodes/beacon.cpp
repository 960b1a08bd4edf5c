// Publishes the position of its robot several times a second.
#include <cmath>
#include <string_view>

#include <hyphos/hyphos.hpp>
#include <hyphos/msgs/nav.pb.h>

namespace {

using hyphos::msgs::Odometry;
using hyphos::msgs::PointStamped;

// The reason why a message cannot be used, or "" if it can.
std::string_view unusable(const hyphos::msgs::Point& p) {
  const bool finite = std::isfinite(p.x()) && std::isfinite(p.y()) && std::isfinite(p.z());
  return finite ? "" : "the position is not finite";
}

class Beacon {
 public:
  explicit Beacon(const hyphos::Node& node)
      : refusals_(node), clock_(node.clock()), position_(node.publisher<PointStamped>("position")) {
    node.subscribe<Odometry>("odom", hyphos::serial, [this](const auto& odometry) {
      const hyphos::msgs::Point& here = odometry->pose().pose().position();
      if (refusals_.refuse("odom", unusable(here))) return;
      known_ = true;
      *place_.mutable_point() = here;
    });
    node.every(hyphos::Duration::from_seconds(1 / node.param("rate_hz", 10.0)), [this] { tell(); });
  }

 private:
  void tell() {
    if (!known_) return;
    place_.mutable_header()->set_stamp_ns(clock_.now().ns);
    position_.publish(place_);
  }

  hyphos::Refusals refusals_;
  hyphos::Clock clock_;
  hyphos::Publisher<PointStamped> position_;
  PointStamped place_;
  bool known_ = false;
};

}  // namespace

HYPHOS_NODE(Beacon)
