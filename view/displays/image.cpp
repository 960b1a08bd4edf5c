#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "hyphos/msgs/sensor.pb.h"
#include "view/displays/kinds.hpp"
#include "view/displays/message.hpp"
#include "view/displays/pixels.hpp"

namespace hyphos::view {
namespace {

/// A camera image in a corner of the view, or in the scene at the end of its field of view.
class Image final : public Display {
 public:
  Image() {
    properties_.add("place", &place_, "place of the image",
                    {"top_left", "top_right", "bottom_left", "bottom_right", "scene", "behind"});
    properties_.add("size", &size_, "width as a share of the view", "", 0.02, 1);
    properties_.add("alpha", &alpha_, "opacity", "", 0, 1);
    properties_.add("distance", &distance_, "distance from the camera, in the scene", "m", 0.01,
                    1'000);
    properties_.add("camera_info", &camera_info_,
                    "channel of the calibration, empty: camera_info beside the image");
    properties_.add("low", &low_, "depth of the first colour, equal: from the image", "m", -1e6,
                    1e6);
    properties_.add("high", &high_, "depth of the last colour", "m", -1e6, 1e6);
  }

  void set_channel(const Channel& channel) override { type_ = channel.type; }
  void take(const Sample& sample) override {
    ++counters_.taken;
    auto pixels = decode_image(type_, sample, {low_, high_});
    if (!pixels) return refuse(pixels.error().message);
    if (texture_ == nullptr) texture_ = store().texture();
    const std::size_t pixel = pixels->format == PixelFormat::gray8 ? 1 : 4;
    texture_->set(pixels->width, pixels->height, pixels->format,
                  static_cast<std::size_t>(pixels->width) * pixel, pixels->bytes);
    frame_ = pixels->frame;
    stamp_ = pixels->stamp;
    description_ = pixels->description;
    report(Health::good, description_);
    pose_ = try_pose_quietly();
  }
  void take_companion(std::string_view, const Sample& sample) override {
    msgs::CameraInfo info;
    if (!parse(sample, info) || info.k_size() != 9) return;
    const double fx = info.k(0);
    const double fy = info.k(4);
    if (!(fx > 0) || !(fy > 0) || info.width() == 0 || info.height() == 0) return;
    calibration_ = Calibration{fx,
                               fy,
                               info.k(2),
                               info.k(5),
                               static_cast<double>(info.width()),
                               static_cast<double>(info.height())};
  }
  void clear() override {
    texture_.reset();
    report(Health::waiting, "no message yet");
  }
  bool update() override {
    if (texture_ == nullptr || !in_scene()) return false;
    const auto now = try_pose_quietly();
    const bool changed =
        now.has_value() != pose_.has_value() || (now && !now->isApprox(*pose_, 1e-12));
    pose_ = now;
    return changed;
  }
  void fixed_frame_changed(const std::string&) override { pose_ = try_pose_quietly(); }

  void paint(Painter& painter) override {
    if (texture_ == nullptr || texture_->width() == 0) return;
    if (in_scene()) {
      paint_scene(painter);
    } else {
      paint_corner(painter);
    }
  }
  [[nodiscard]] std::size_t bytes() const override {
    return texture_ == nullptr ? 0 : texture_->bytes();
  }

 private:
  struct Calibration {
    double fx, fy, cx, cy;  // px
    double width, height;   // px
  };

  [[nodiscard]] bool in_scene() const { return place_ == "scene"; }

  std::optional<Pose> try_pose_quietly() {
    if (!in_scene()) return std::nullopt;
    auto found = pose_of(frame_, stamp_);
    if (found) report(Health::good, description_);
    return found;
  }

  void paint_corner(Painter& painter) const {
    if (place_ == "behind") return painter.overlay(*texture_, 0, 0, 1, 1, alpha_);
    constexpr double kMargin = 0.012;
    const double aspect = painter.aspect();  // of the view
    const double height =
        size_ * texture_->height() / static_cast<double>(texture_->width()) * aspect;
    const bool right = place_.ends_with("right");
    const bool bottom = place_.starts_with("bottom");
    const double left = right ? 1 - kMargin - size_ : kMargin;
    const double top = bottom ? 1 - kMargin * aspect - height : kMargin * aspect;
    painter.overlay(*texture_, left, top, left + size_, top + height, alpha_);
  }

  // The frame of an image is optical: x right, y down, z into the scene.
  void paint_scene(Painter& painter) const {
    if (!pose_) return;
    const double width = texture_->width();
    const double height = texture_->height();
    const Calibration k =
        calibration_.value_or(Calibration{width, width, width / 2, height / 2, width, height});
    const double d = distance_;
    const auto at = [&](double u, double v) {
      return Vec3((u - k.cx) / k.fx * d, (v - k.cy) / k.fy * d, d);
    };
    const std::array corners = {at(0, 0), at(k.width, 0), at(k.width, k.height), at(0, k.height)};
    Pose plane = *pose_;
    // y of the rectangle is up in the image.
    Mat3 turn;
    turn << 1, 0, 0, 0, -1, 0, 0, 0, -1;
    plane.linear() = pose_->linear() * turn;
    plane.translation() = *pose_ * corners[3];
    painter.image(*texture_, plane, corners[1].x() - corners[0].x(),
                  corners[3].y() - corners[0].y(), alpha_, true, true);
    const Color color{150, 200, 255, 220};
    std::vector<Vertex> pairs;
    const auto vertex = [&](const Vec3& p) {
      pairs.push_back(
          {static_cast<float>(p.x()), static_cast<float>(p.y()), static_cast<float>(p.z()), color});
    };
    for (std::size_t i = 0; i < 4; ++i) {
      vertex(Vec3::Zero());
      vertex(corners[i]);
      vertex(corners[i]);
      vertex(corners[(i + 1) % 4]);
    }
    painter.lines(*pose_, pairs, 1.5);
  }

  std::string place_ = "top_right";
  double size_ = 0.28;
  double alpha_ = 1;
  double distance_ = 1;
  std::string camera_info_;
  double low_ = 0;
  double high_ = 0;
  std::string type_ = "hyphos.msgs.Image";
  std::unique_ptr<Texture> texture_;
  std::string frame_;
  Time stamp_;
  std::string description_;
  std::optional<Pose> pose_;
  std::optional<Calibration> calibration_;
};

}  // namespace

std::unique_ptr<Display> make_image() { return std::make_unique<Image>(); }

}  // namespace hyphos::view
