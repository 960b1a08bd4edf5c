#include <algorithm>
#include <array>
#include <vector>

#include "hyphos/msgs/geometry.pb.h"
#include "hyphos/msgs/nav.pb.h"
#include "view/core/words.hpp"
#include "view/displays/kinds.hpp"
#include "view/displays/message.hpp"

namespace hyphos::view {
namespace {

constexpr int kMostPoses = 1'000'000;

const msgs::Pose& pose_at(const msgs::Path& m, int i) { return m.poses(i).pose(); }
const msgs::Pose& pose_at(const msgs::PoseArray& m, int i) { return m.poses(i); }

/// Paths and sets of poses: a line, axes, or arrows.
template <typename T>
class PosesDisplay final : public MessageDisplay<T> {
 public:
  explicit PosesDisplay(const std::string& shape, Color color) : shape_(shape), color_(color) {
    auto& properties = this->properties_;
    properties.add("shape", &shape_, "form of the poses",
                   {"line", "axes", "arrows", "line_and_axes"});
    properties.add("color", &color_, "colour of the line and arrows");
    properties.add("width", &width_, "width of the lines", "px", 0.5, 32);
    properties.add("length", &length_, "length of axes and arrows", "m", 0.001, 1'000);
    properties.add("z", &z_, "height above the poses", "m", -1'000, 1'000);
  }

  void paint(Painter& painter) override { (void)painter; }
  void clear() override {
    MessageDisplay<T>::clear();
    if (set_ != nullptr) set_->clear();
  }
  bool settings_changed() override {
    if (set_ == nullptr) {
      set_ = this->store().retained();
      set_->set_visible(this->visible());
    }
    set_->set_line_width(width_);
    if (this->pose_) placed(*this->message_, *this->pose_);
    return false;
  }
  void set_visible(bool visible) override {
    Display::set_visible(visible);
    if (set_ != nullptr) set_->set_visible(visible);
  }
  [[nodiscard]] Bounds bounds() const override {
    return set_ == nullptr ? Bounds{} : set_->bounds();
  }
  [[nodiscard]] std::size_t bytes() const override {
    return MessageDisplay<T>::bytes() + (set_ == nullptr ? 0 : set_->bytes());
  }

 private:
  std::string check(T& message) override {
    if (message.poses_size() <= kMostPoses) return "";
    return "the message has " + grouped(static_cast<std::uint64_t>(message.poses_size())) +
           " poses, the limit is " + grouped(kMostPoses);
  }

  void lost() override { set_->clear(); }

  void placed(const T& message, const Pose& pose) override {
    if (set_ == nullptr) {
      set_ = this->store().retained();
      set_->set_visible(this->visible());
      set_->set_line_width(width_);
    }
    set_->clear();
    const Vec3 origin = pose.translation();
    const Mat3 turn = pose.linear();
    std::vector<Vertex> pairs;
    std::optional<Vec3> last;
    std::uint64_t skipped = 0;
    for (int i = 0; i < message.poses_size(); ++i) {
      auto local = to_pose(pose_at(message, i));
      if (!local) {
        ++skipped;
        last.reset();
        continue;
      }
      local->translation().z() += z_;
      const Vec3 at = turn * local->translation();
      if (last && shape_.starts_with("line")) add(pairs, *last, at, color_);
      if (shape_.ends_with("axes")) add_axes(pairs, at, turn * local->linear());
      if (shape_ == "arrows") add_arrow(pairs, at, turn * local->linear());
      last = at;
    }
    this->counters_.skipped += skipped;
    set_->append_lines(pairs, origin, this->time_ns_);
    std::string text =
        grouped(static_cast<std::uint64_t>(message.poses_size()) - skipped) + " poses";
    if (skipped > 0) text += ", " + grouped(skipped) + " that are not finite left out";
    this->report(skipped > 0 ? Health::warning : Health::good, text);
  }

  static void add(std::vector<Vertex>& out, const Vec3& from, const Vec3& to, Color color) {
    for (const Vec3& at : {from, to}) {
      out.push_back({static_cast<float>(at.x()), static_cast<float>(at.y()),
                     static_cast<float>(at.z()), color});
    }
  }
  void add_axes(std::vector<Vertex>& out, const Vec3& at, const Mat3& turn) const {
    const std::array colors = {kAxisX, kAxisY, kAxisZ};
    for (int i = 0; i < 3; ++i) {
      add(out, at, at + turn.col(i) * length_, colors[static_cast<std::size_t>(i)]);
    }
  }
  void add_arrow(std::vector<Vertex>& out, const Vec3& at, const Mat3& turn) const {
    const Vec3 tip = at + turn.col(0) * length_;
    add(out, at, tip, color_);
    for (const double side : {-0.18, 0.18}) {
      add(out, tip, at + turn * Vec3(length_ * 0.72, side * length_, 0), color_);
    }
  }

  std::string shape_;
  Color color_;
  double width_ = 2.5;
  double length_ = 0.3;
  double z_ = 0;
  std::unique_ptr<Retained> set_;
};

}  // namespace

std::unique_ptr<Display> make_path() {
  return std::make_unique<PosesDisplay<msgs::Path>>("line", Color{80, 200, 255, 255});
}
std::unique_ptr<Display> make_pose_array() {
  return std::make_unique<PosesDisplay<msgs::PoseArray>>("arrows", Color{255, 120, 90, 255});
}

}  // namespace hyphos::view
