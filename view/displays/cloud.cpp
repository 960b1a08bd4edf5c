#include "view/displays/cloud.hpp"

#include <algorithm>
#include <cmath>

#include "view/core/words.hpp"

namespace hyphos::view {
namespace {

constexpr std::size_t kRangeSamples = 2'000;
constexpr double kSecond = 1e9;  // ns
constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max() / 2;

ColorMap map_named(const std::string& name) {
  if (name == "viridis") return ColorMap::viridis;
  return name == "gray" ? ColorMap::gray : ColorMap::turbo;
}

std::size_t bytes_of(const Sample& sample) {
  std::size_t sum = sample.payload.size();
  for (const Buffer& each : sample.buffers) sum += each.size();
  return sum;
}

}  // namespace

CloudDisplay::CloudDisplay() = default;

void CloudDisplay::add_properties(std::vector<std::string> colorings, std::string coloring) {
  coloring_ = std::move(coloring);
  properties_.add("color", &coloring_, "source of the colours", std::move(colorings));
  properties_.add("color_map", &map_, "scale of colours", {"turbo", "viridis", "gray"});
  properties_.add("auto_range", &auto_range_, "range of the colours from the data");
  properties_.add("low", &low_, "value of the first colour", "", -1e12, 1e12);
  properties_.add("high", &high_, "value of the last colour", "", -1e12, 1e12);
  properties_.add("flat_color", &flat_, "colour of all points, if flat");
  properties_.add("size", &size_, "size of a point, in px or m", "", 0.001, 64);
  properties_.add("size_in_m", &size_in_m_, "size in m instead of px");
  properties_.add("round", &round_, "discs instead of squares");
  properties_.add("alpha", &alpha_, "opacity", "", 0, 1);
  properties_.add("history_s", &history_s_, "time that points stay, 0: the newest, -1: all", "s",
                  -1, 1e7);
}

void CloudDisplay::take(const Sample& sample) {
  ++counters_.taken;
  if (set_ == nullptr) settings_changed();
  if (show(sample)) return;
  waiting_.push_back(sample);
  waiting_bytes_ += bytes_of(sample);
  while (waiting_.size() > kMostWaiting || waiting_bytes_ > kMostWaitingBytes) {
    waiting_bytes_ -= bytes_of(waiting_.front());
    waiting_.pop_front();
    ++counters_.late;
  }
}

// False if the transform is still missing.
bool CloudDisplay::show(const Sample& sample) {
  auto cloud = decode(sample);
  if (!cloud) {
    refuse(cloud.error().message);
    return true;
  }
  const auto pose = try_pose(cloud->frame, cloud->stamp);
  if (!pose) {
    report(Health::error, pose.error().message);
    return false;
  }
  place(*cloud, *pose, sample.time_ns);
  return true;
}

void CloudDisplay::place(Cloud& cloud, const Pose& pose, std::int64_t time_ns) {
  const Eigen::Matrix3f turn = pose.linear().cast<float>();
  const Vec3 origin = pose.translation();
  std::vector<float> heights;
  std::vector<float> values;
  const std::size_t every = std::max<std::size_t>(cloud.size() / kRangeSamples, 1);
  const auto turned = [&](auto& point, std::size_t i) {
    const Vec3f at = turn * Vec3f(point.x, point.y, point.z);
    point.x = at.x();
    point.y = at.y();
    point.z = at.z();
    if (i % every == 0) heights.push_back(at.z() + static_cast<float>(origin.z()));
  };
  for (std::size_t i = 0; i < cloud.colored.size(); ++i) turned(cloud.colored[i], i);
  for (std::size_t i = 0; i < cloud.valued.size(); ++i) {
    turned(cloud.valued[i], i);
    if (i % every == 0) values.push_back(cloud.valued[i].value);
  }
  if (keeps_newest_only()) set_->clear();
  if (keeps_newest_only() || set_->batches() == 0) {
    height_range_.reset();
    value_range_.reset();
  }
  widen(height_range_, heights);
  widen(value_range_, values);
  last_valued_ = !cloud.valued.empty();
  last_colored_ = cloud.has_colors;
  last_every_ = cloud.every;
  last_skipped_ = cloud.skipped;
  counters_.skipped += cloud.skipped;
  apply_style();
  set_->append(cloud.colored, origin, time_ns);
  set_->append(cloud.valued, origin, time_ns);
  describe();
}

// The range without the outer 1 % of the values. It grows in steps, as each change draws all points
// again.
void CloudDisplay::widen(std::optional<Range>& range, std::vector<float>& samples) {
  std::erase_if(samples, [](float each) { return !std::isfinite(each); });
  if (samples.empty()) return;
  std::ranges::sort(samples);
  const double low = samples[samples.size() / 100];
  const double high = samples[samples.size() - 1 - samples.size() / 100];
  if (!range) {
    range = Range{low, high};
    return;
  }
  const double room = 0.05 * std::max(range->high - range->low, 1e-6);
  if (low < range->low - room) range->low = low - 2 * room;
  if (high > range->high + room) range->high = high + 2 * room;
}

void CloudDisplay::apply_style() {
  if (set_ == nullptr) return;
  PointStyle style;
  std::string coloring = coloring_;
  if (coloring == "auto") coloring = last_colored_ ? "rgb" : last_valued_ ? "field" : "height";
  using Coloring = PointStyle::Coloring;
  style.coloring = coloring == "rgb"      ? Coloring::rgb
                   : coloring == "field"  ? Coloring::value
                   : coloring == "height" ? Coloring::axis
                                          : Coloring::flat;
  // A cloud without the wanted colours or field is still visible.
  if (style.coloring == Coloring::rgb && !last_colored_) style.coloring = Coloring::axis;
  if (style.coloring == Coloring::value && !last_valued_) style.coloring = Coloring::axis;
  style.map = map_named(map_);
  const auto& range = style.coloring == Coloring::value ? value_range_ : height_range_;
  style.low = auto_range_ && range ? range->low : low_;
  style.high = auto_range_ && range ? range->high : high_;
  style.flat = flat_;
  style.size = size_;
  style.size_in_m = size_in_m_;
  style.round = round_;
  style.alpha = alpha_;
  set_->set_style(style);
}

void CloudDisplay::describe() {
  std::string text = grouped(set_->points()) + " points";
  if (set_->batches() > 1) text += " of " + grouped(set_->batches()) + " messages";
  if (last_skipped_ > 0) text += ", " + grouped(last_skipped_) + " without a position left out";
  if (last_every_ > 1) {
    report(Health::warning, text + ". One of " + grouped(last_every_) +
                                " is shown, as the cloud exceeds the memory budget");
  } else if ((coloring_ == "field" && !last_valued_) || (coloring_ == "rgb" && !last_colored_)) {
    report(Health::warning, text + ". The cloud has no " +
                                (coloring_ == "rgb" ? "colours" : "field '" + value_name() + "'") +
                                ", so that height gives the colour");
  } else {
    report(Health::good, text);
  }
}

void CloudDisplay::clear() {
  if (set_ != nullptr) set_->clear();
  waiting_.clear();
  waiting_bytes_ = 0;
  height_range_.reset();
  value_range_.reset();
  report(Health::waiting, "no message yet");
}

void CloudDisplay::paint(Painter& painter) { (void)painter; }

bool CloudDisplay::settings_changed() {
  if (set_ == nullptr) {
    set_ = store().retained();
    set_->set_visible(visible());
    used_coloring_ = coloring_ + value_name();
  }
  apply_style();
  // The points have one value each: another field or colour needs the messages again.
  const std::string coloring = coloring_ + value_name();
  const bool again = coloring != used_coloring_ && set_->points() > 0;
  used_coloring_ = coloring;
  return again;
}

void CloudDisplay::fixed_frame_changed(const std::string& from) {
  if (set_ == nullptr || set_->points() == 0) return;
  const auto moved = try_pose(from, latest);
  if (moved) {
    set_->move(*moved);
  } else {
    clear();
    report(Health::error, moved.error().message);
  }
}

bool CloudDisplay::update() {
  if (set_ == nullptr) return false;
  bool changed = false;
  if (!waiting_.empty() && surroundings().frames->version() != seen_frames_) {
    seen_frames_ = surroundings().frames->version();
    std::deque<Sample> again;
    again.swap(waiting_);
    waiting_bytes_ = 0;
    for (Sample& each : again) {
      if (show(each)) {
        changed = true;
      } else {
        waiting_bytes_ += bytes_of(each);
        waiting_.push_back(std::move(each));
      }
    }
  }
  if (history_s_ > 0) {
    const std::size_t before = set_->batches();
    set_->drop_before(surroundings().now_ns - history_ns());
    if (set_->batches() != before) {
      changed = true;
      if (set_->batches() > 0) describe();
    }
  }
  return changed;
}

void CloudDisplay::set_visible(bool visible) {
  Display::set_visible(visible);
  if (set_ != nullptr) set_->set_visible(visible);
}

std::optional<Display::Picked> CloudDisplay::pick(const Ray& ray, double radius) {
  if (set_ == nullptr) return std::nullopt;
  const auto found = set_->nearest(ray.from, ray.direction, radius);
  if (!found) return std::nullopt;
  Picked picked{found->distance, found->point, {}};
  if (last_valued_) {
    picked.lines.push_back(value_name() + ": " + std::to_string(found->value));
  } else if (last_colored_) {
    picked.lines.push_back("color: " + to_string(found->color));
  }
  return picked;
}

Bounds CloudDisplay::bounds() const { return set_ == nullptr ? Bounds{} : set_->bounds(); }

std::size_t CloudDisplay::bytes() const {
  return waiting_bytes_ + (set_ == nullptr ? 0 : set_->bytes());
}

std::int64_t CloudDisplay::oldest_ns() const {
  return set_ == nullptr ? std::numeric_limits<std::int64_t>::max() : set_->oldest_ns();
}

std::int64_t CloudDisplay::history_ns() const {
  return history_s_ < 0 ? kAll : static_cast<std::int64_t>(history_s_ * kSecond);
}

void CloudDisplay::drop_oldest() {
  if (set_ == nullptr) return;
  set_->drop_oldest();
  if (set_->batches() > 0) describe();
}

}  // namespace hyphos::view
