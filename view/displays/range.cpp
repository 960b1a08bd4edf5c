#include <algorithm>
#include <cmath>
#include <cstdio>

#include "hyphos/msgs/sensor.pb.h"
#include "view/displays/kinds.hpp"
#include "view/displays/message.hpp"

namespace hyphos::view {
namespace {

/// One distance as a cone along x.
class Range final : public MessageDisplay<msgs::Range> {
 public:
  Range() {
    properties_.add("color", &color_, "colour of the cone");
    properties_.add("limit", &limit_, "range_max as an outline");
  }

  void paint(Painter& painter) override {
    if (!pose_) return;
    const double slope = std::tan(std::clamp(field_of_view_, 0.0, 3.1) / 2);
    const double length = std::isfinite(range_) ? range_ : nothing_ ? most_ : least_;
    Pose at = *pose_;
    // The tip of a cone is at its +z end.
    at.linear() =
        pose_->linear() * Eigen::AngleAxisd(-std::acos(0.0), Vec3::UnitY()).toRotationMatrix();
    at.translation() = *pose_ * Vec3(length / 2, 0, 0);
    const double wide = 2 * slope * length;
    if (length > 0) painter.shape(Shape::cone, at, {wide, wide, length}, shown());
    if (limit_ && std::isfinite(most_)) {
      for (const double side : {-1.0, 1.0}) {
        painter.line(pose_->translation(), *pose_ * Vec3(most_, side * slope * most_, 0),
                     color_.with_alpha(0.35), 1);
      }
    }
  }
  [[nodiscard]] Bounds bounds() const override {
    Bounds all;
    if (pose_) all.add(*pose_ * Vec3(std::isfinite(range_) ? range_ : 0, 0, 0));
    return all;
  }

 private:
  [[nodiscard]] Color shown() const { return nothing_ ? color_.with_alpha(0.12) : color_; }

  std::string check(msgs::Range& message) override {
    if (std::isnan(message.range())) return "the range is not a number";
    if (!std::isfinite(message.field_of_view()) || message.field_of_view() < 0) {
      return "the field of view of the range is not an angle";
    }
    range_ = message.range();
    least_ = std::isfinite(message.min_range()) ? std::max(message.min_range(), 0.0F) : 0;
    most_ = message.max_range();
    field_of_view_ = message.field_of_view();
    nothing_ = range_ > most_;
    if (range_ < 0) range_ = least_;
    if (nothing_) range_ = std::isfinite(most_) ? most_ : 0;
    return "";
  }
  void placed(const msgs::Range&, const Pose&) override {
    char text[64];
    std::snprintf(text, sizeof(text), nothing_ ? "nothing within %.3g m" : "%.3g m", range_);
    report(Health::good, text);
  }

  Color color_{110, 220, 160, 110};
  bool limit_ = true;
  double range_ = 0;
  double least_ = 0;
  double most_ = 0;
  double field_of_view_ = 0;
  bool nothing_ = false;
};

}  // namespace

std::unique_ptr<Display> make_range() { return std::make_unique<Range>(); }

}  // namespace hyphos::view
