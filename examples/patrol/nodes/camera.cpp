// The robot's camera: 640 x 480 pixels, 30 pictures a second. The node draws each picture into the
// memory where other processes read it. It publishes the calibration and the mount once.
#include "camera.hpp"

#include <array>
#include <mutex>
#include <numbers>

#include "check.hpp"
#include "convert.hpp"
#include "hyphos/hyphos.hpp"
#include "robot.hpp"
#include "world.hpp"

namespace patrol {
namespace {

using hyphos::msgs::CameraInfo;
using hyphos::msgs::PoseStamped;
using Picture = hyphos::Attached<hyphos::msgs::Image>;

class CameraNode {
 public:
  explicit CameraNode(const hyphos::Node& node)
      : refusals_(node),
        mount_{node.param("camera_x", 0.1), node.param("camera_y", 0.0),
               node.param("camera_yaw", 0.0)},
        world_(World::building()),
        transforms_(node.transforms()),
        image_(node.publisher<Picture>("image")),
        info_(node.publisher<CameraInfo>("camera_info")) {
    mount();
    node.subscribe<PoseStamped>("truth", hyphos::inline_, [this](const auto& m) {
      if (refusals_.refuse("truth", unusable(*m))) return;
      const std::lock_guard lock(mutex_);
      latest_ = m;
    });
    const double rate_hz = node.param("rate_hz", 30.0);
    node.every(hyphos::Duration::from_seconds(1.0 / rate_hz), [this] { draw(); });
  }

 private:
  // In an optical frame z is forward, x right and y down.
  void mount() {
    hyphos::Transform optical = transform("camera", "camera_optical", {});
    optical.rotation = hyphos::to_quaternion(
        {.roll = -std::numbers::pi / 2, .pitch = 0, .yaw = -std::numbers::pi / 2});
    const std::array frames = {transform("base", "camera", mount_, camera_.config().height_m),
                               optical};
    transforms_.set_static(frames).or_throw();
    CameraInfo info;
    const double focal = camera_.focal_length();
    const double middle_x = camera_.config().width / 2.0, middle_y = camera_.config().height / 2.0;
    info.mutable_header()->set_frame_id(kFrame);
    info.set_width(static_cast<std::uint32_t>(camera_.config().width));
    info.set_height(static_cast<std::uint32_t>(camera_.config().height));
    info.set_distortion_model("plumb_bob");
    for (int i = 0; i < 5; ++i) info.add_d(0);
    for (const double k : {focal, 0., middle_x, 0., focal, middle_y, 0., 0., 1.}) info.add_k(k);
    for (const double r : {1., 0., 0., 0., 1., 0., 0., 0., 1.}) info.add_r(r);
    for (const double p : {focal, 0., middle_x, 0., 0., focal, middle_y, 0., 0., 0., 1., 0.}) {
      info.add_p(p);
    }
    info_.publish(std::move(info));  // latched, as it never changes
  }

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
    picture.head.mutable_header()->set_frame_id(kFrame);
    picture.head.set_width(static_cast<std::uint32_t>(config.width));
    picture.head.set_height(static_cast<std::uint32_t>(config.height));
    picture.head.set_step(static_cast<std::uint32_t>(config.width * 3));
    picture.head.set_encoding("rgb8");
    picture.buffers.push_back(std::move(pixels).freeze());
    image_.publish(std::move(picture));
  }

  static constexpr const char* kFrame = "camera_optical";

  const hyphos::Refusals refusals_;
  const Pose2 mount_;  // of the camera on the robot
  const World world_;
  Camera camera_;  // only the timer uses it
  const hyphos::Transforms transforms_;
  hyphos::Publisher<Picture> image_;
  hyphos::Publisher<CameraInfo> info_;
  std::mutex mutex_;
  hyphos::Message<PoseStamped> latest_;
};

}  // namespace
}  // namespace patrol

HYPHOS_NODE(patrol::CameraNode)
