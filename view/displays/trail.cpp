#include "view/displays/trail.hpp"

#include <array>
#include <limits>
#include <vector>

namespace hyphos::view {
namespace {

constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max() / 2;

Vertex vertex(const Vec3& at, Color color) {
  return {static_cast<float>(at.x()), static_cast<float>(at.y()), static_cast<float>(at.z()),
          color};
}

}  // namespace

void Trail::add_properties(Properties& properties, const std::string& shape) {
  shape_ = shape;
  properties.add("shape", &shape_, "form of a pose", {"axes", "arrow", "line"});
  properties.add("color", &color_, "colour of arrows and lines");
  properties.add("length", &length_, "length of axes and arrows", "m", 0.001, 1'000);
  properties.add("width", &width_, "width of lines and axes", "px", 0.5, 32);
  properties.add("history_s", &history_s_, "time that poses stay, 0: the newest, -1: all", "s", -1,
                 1e7);
  properties.add("spacing", &spacing_, "least distance of the poses that stay", "m", 0, 1'000);
}

void Trail::paint(Painter& painter, const Pose& pose) const {
  if (shape_ == "arrow") {
    painter.arrow(pose.translation(), pose * Vec3(length_, 0, 0), length_ * 0.08, length_ * 0.2,
                  color_);
  } else {
    painter.axes(pose, length_, width_ + 0.5);
  }
}

void Trail::add(Store& store, const Pose& pose, std::int64_t time_ns, bool visible) {
  if (!keeps()) return;
  if (set_ == nullptr) {
    set_ = store.retained();
    set_->set_visible(visible);
    set_->set_line_width(width_);
  }
  const Vec3 step = has_last_ ? Vec3(pose.translation() - last_.translation()) : Vec3(0, 0, 0);
  if (has_last_ && step.norm() < spacing_) return;
  std::vector<Vertex> pairs;
  if (shape_ == "line") {
    if (has_last_) pairs = {vertex(-step, color_), vertex(Vec3::Zero(), color_)};
  } else if (shape_ == "arrow") {
    // Two lines of the head, as arrows of the past are flat.
    const Vec3 tip = pose.linear() * Vec3(length_, 0, 0);
    pairs = {vertex(Vec3::Zero(), color_), vertex(tip, color_)};
    for (const double side : {-0.18, 0.18}) {
      pairs.push_back(vertex(tip, color_));
      pairs.push_back(vertex(pose.linear() * Vec3(length_ * 0.72, side * length_, 0), color_));
    }
  } else {
    const std::array colors = {kAxisX, kAxisY, kAxisZ};
    for (int i = 0; i < 3; ++i) {
      const Color color = colors[static_cast<std::size_t>(i)];
      pairs.push_back(vertex(Vec3::Zero(), color));
      pairs.push_back(vertex(pose.linear().col(i) * length_, color));
    }
  }
  last_ = pose;
  has_last_ = true;
  if (!pairs.empty()) set_->append_lines(pairs, pose.translation(), time_ns);
}

void Trail::settings_changed() {
  if (set_ != nullptr) set_->set_line_width(width_);
}

void Trail::clear() {
  if (set_ != nullptr) set_->clear();
  has_last_ = false;
}

void Trail::set_visible(bool visible) {
  if (set_ != nullptr) set_->set_visible(visible);
}

bool Trail::expire(std::int64_t now_ns) {
  if (set_ == nullptr || history_s_ < 0) return false;
  const std::size_t before = set_->batches();
  set_->drop_before(now_ns - history_ns());
  return set_->batches() != before;
}

void Trail::move(const Pose& new_from_old) {
  if (set_ != nullptr) set_->move(new_from_old);
  last_ = new_from_old * last_;
}

std::int64_t Trail::history_ns() const {
  return history_s_ < 0 ? kAll : static_cast<std::int64_t>(history_s_ * 1e9);
}

}  // namespace hyphos::view
