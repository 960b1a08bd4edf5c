// The robot's camera: 640 x 480 pixels, 30 pictures a second. The node draws each picture into the
// memory where other processes read it.
#include "camera.hpp"

#include <mutex>

#include "check.hpp"
#include "convert.hpp"
#include "hyphos/hyphos.hpp"
#include "world.hpp"

namespace patrol {
namespace {

using hyphos::msgs::PoseStamped;
using Picture = hyphos::Attached<hyphos::msgs::Image>;

class CameraNode {
 public:
  explicit CameraNode(const hyphos::Node& node)
      : refusals_(node),
        mount_{node.param("camera_x", 0.1), node.param("camera_y", 0.0),
               node.param("camera_yaw", 0.0)},
        world_(World::building()),
        image_(node.publisher<Picture>("image")) {
    node.subscribe<PoseStamped>("truth", hyphos::inline_, [this](const auto& m) {
      if (refusals_.refuse("truth", unusable(*m))) return;
      const std::lock_guard lock(mutex_);
      latest_ = m;
    });
    const double rate_hz = node.param("rate_hz", 30.0);
    node.every(hyphos::Duration::from_seconds(1.0 / rate_hz), [this] { draw(); });
  }

 private:
  void draw() {
    hyphos::Message<PoseStamped> where;
    {
      const std::lock_guard lock(mutex_);
      where = latest_;
    }
    if (!where || image_.listeners() == 0) return;
    hyphos::WritableBuffer pixels = image_.loan_bytes(camera_.bytes());
    camera_.render(world_, compose(get_pose(where->pose()), mount_),
                   {reinterpret_cast<std::uint8_t*>(pixels.data()), pixels.size()});
    Picture picture;
    const CameraConfig& config = camera_.config();
    picture.head.mutable_header()->set_stamp_ns(where->header().stamp_ns());
    picture.head.mutable_header()->set_frame_id("camera");
    picture.head.set_width(static_cast<std::uint32_t>(config.width));
    picture.head.set_height(static_cast<std::uint32_t>(config.height));
    picture.head.set_step(static_cast<std::uint32_t>(config.width * 3));
    picture.head.set_encoding("rgb8");
    picture.buffers.push_back(std::move(pixels).freeze());
    image_.publish(std::move(picture));
  }

  const hyphos::Refusals refusals_;
  const Pose2 mount_;  // of the camera on the robot
  const World world_;
  Camera camera_;  // only the timer uses it
  hyphos::Publisher<Picture> image_;
  std::mutex mutex_;
  hyphos::Message<PoseStamped> latest_;
};

}  // namespace
}  // namespace patrol

HYPHOS_NODE(patrol::CameraNode)
