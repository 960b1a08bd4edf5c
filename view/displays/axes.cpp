#include "view/displays/kinds.hpp"

namespace hyphos::view {
namespace {

/// The axes of one frame.
class Axes final : public Display {
 public:
  Axes() {
    properties_.add("frame", &frame_, "frame of the axes, empty: the fixed frame").is_frame = true;
    properties_.add("length", &length_, "length of the axes", "m", 0.001, 10'000);
    properties_.add("width", &width_, "width of the lines", "px", 0.5, 32);
    properties_.add("name", &name_, "name of the frame beside the axes");
    report(Health::good, "");
  }

  void take(const Sample&) override {}
  void clear() override {}
  void paint(Painter& painter) override {
    const auto pose = pose_of(frame_, latest);
    if (!pose) return;
    report(Health::good, "");
    painter.axes(*pose, length_, width_);
    const std::string& name = frame_.empty() ? surroundings().fixed_frame : frame_;
    if (name_) painter.label(pose->translation(), name, {225, 228, 235, 255});
  }

 private:
  std::string frame_;
  double length_ = 1;
  double width_ = 2.5;
  bool name_ = false;
};

}  // namespace

std::unique_ptr<Display> make_axes() { return std::make_unique<Axes>(); }

}  // namespace hyphos::view
