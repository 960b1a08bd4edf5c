// Tells where its robot is, some times a second.
#include <hyphos/hyphos.hpp>
#include <hyphos/msgs/nav.pb.h>

namespace {

using hyphos::msgs::Odometry;
using hyphos::msgs::PointStamped;

class Beacon {
 public:
  explicit Beacon(const hyphos::Node& node)
      : clock_(node.clock()), position_(node.publisher<PointStamped>("position")) {
    node.subscribe<Odometry>("odom", hyphos::serial, [this](const auto& odometry) {
      known_ = true;
      *place_.mutable_point() = odometry->pose().pose().position();
    });
    node.every(hyphos::Duration::from_seconds(1 / node.param("rate_hz", 10.0)), [this] { tell(); });
  }

 private:
  void tell() {
    if (!known_) return;
    place_.mutable_header()->set_stamp_ns(clock_.now().ns);
    position_.publish(place_);
  }

  hyphos::Clock clock_;
  hyphos::Publisher<PointStamped> position_;
  PointStamped place_;
  bool known_ = false;
};

}  // namespace

HYPHOS_NODE(Beacon)
