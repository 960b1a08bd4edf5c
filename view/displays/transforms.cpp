#include <algorithm>
#include <unordered_map>

#include "view/core/words.hpp"
#include "view/displays/kinds.hpp"

namespace hyphos::view {
namespace {

/// The tree of frames: axes, names, lines to the parents. The colour of a name gives the age of
/// the frame's last transform.
class Transforms final : public Display {
 public:
  Transforms() {
    properties_.add("length", &length_, "length of the axes", "m", 0.001, 1'000);
    properties_.add("names", &names_, "names of the frames");
    properties_.add("lines", &lines_, "lines from the frames to their parents");
    properties_.add("only", &only_, "text that the names of shown frames contain");
    properties_.add("old_s", &old_s_, "age at which a name is yellow, and red at twice that", "s",
                    0.01, 1e6);
  }

  void take(const Sample&) override { ++counters_.taken; }
  void clear() override {}
  bool update() override {
    if (surroundings().frames->version() == seen_) return false;
    seen_ = surroundings().frames->version();
    return true;
  }

  void paint(Painter& painter) override {
    const std::vector<FrameInfo> frames = surroundings().frames->frames();
    Time newest;
    for (const FrameInfo& each : frames) newest = std::max(newest, each.newest);
    std::unordered_map<std::string_view, Vec3> places;
    bounds_ = {};
    std::size_t lost = 0;
    for (const FrameInfo& each : frames) {
      const auto pose = try_pose(each.name, latest);
      if (!pose) {
        ++lost;
        continue;
      }
      places[each.name] = pose->translation();
      if (!only_.empty() && each.name.find(only_) == std::string::npos) continue;
      bounds_.add(pose->translation());
      painter.axes(*pose, length_, 2.2);
      if (names_) painter.label(pose->translation(), each.name, name_color(each, newest), 13);
      const auto parent = places.find(each.parent);
      if (lines_ && parent != places.end()) {
        painter.line(pose->translation(), parent->second, {235, 200, 90, 150}, 1);
      }
    }
    const std::string text = grouped(frames.size()) + " frames";
    if (frames.empty()) {
      report(Health::waiting, "no transform yet");
    } else if (lost > 0) {
      report(Health::warning,
             text + ", " + grouped(lost) + " have no path to '" + surroundings().fixed_frame + "'");
    } else {
      report(Health::good, text);
    }
  }
  [[nodiscard]] Bounds bounds() const override { return bounds_; }

 private:
  [[nodiscard]] Color name_color(const FrameInfo& frame, Time newest) const {
    if (frame.is_static || frame.newest.ns == 0) return {190, 205, 225, 255};
    const double age = static_cast<double>(newest.ns - frame.newest.ns) / 1e9;
    if (age >= 2 * old_s_) return {240, 90, 80, 255};
    return age >= old_s_ ? Color{240, 200, 80, 255} : Color{150, 225, 150, 255};
  }

  double length_ = 0.3;
  bool names_ = true;
  bool lines_ = true;
  std::string only_;
  double old_s_ = 1;
  std::uint64_t seen_ = 0;
  Bounds bounds_;
};

}  // namespace

std::unique_ptr<Display> make_transforms() { return std::make_unique<Transforms>(); }

}  // namespace hyphos::view
