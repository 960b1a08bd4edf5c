#include "node/transforms/transform_store.hpp"

#include <algorithm>
#include <cmath>

#include "base/config.hpp"
#include "base/utf8.hpp"
#include "node/transforms/transform_maths.hpp"
#include "node/transforms/transform_text.hpp"

namespace hyphos::detail {
namespace {

constexpr std::size_t kMaxFrameBytes = 255;
constexpr double kUnitTolerance = 1e-3;

std::string name_problem(std::string_view name) {
  if (name.empty()) return "a frame needs a name";
  if (name.size() > kMaxFrameBytes) {
    return "the name of a frame has " + std::to_string(name.size()) +
           " bytes, more than the limit of 255";
  }
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::any_of(name.begin(), name.end(), is_control) ||
      find_bad_utf8(name) != std::string_view::npos) {
    return "the name of a frame contains a control character or is not UTF-8";
  }
  return {};
}

bool is_finite(const Transform& t) {
  const double all[] = {t.translation.x, t.translation.y, t.translation.z, t.rotation.x,
                        t.rotation.y,    t.rotation.z,    t.rotation.w};
  return std::all_of(std::begin(all), std::end(all), [](double v) { return std::isfinite(v); });
}

}  // namespace

TransformStore::TransformStore(TransformTreeOptions options) : options_(options) {}

Result<void> TransformStore::refuse(Code code, std::string message, const Transform& transform) {
  ++counters_.refused;
  return Error{
      code, std::move(message),
      in_quotes(bare_frame(transform.child)) + " in " + in_quotes(bare_frame(transform.parent))};
}

/// All checks that do not involve other frames. Sets `length` to the length of the quaternion.
Result<void> TransformStore::check(const Transform& t, bool is_static, double& length) {
  for (const std::string_view name : {bare_frame(t.parent), bare_frame(t.child)}) {
    if (std::string problem = name_problem(name); !problem.empty()) {
      return refuse(Code::invalid_config, std::move(problem), t);
    }
  }
  if (bare_frame(t.parent) == bare_frame(t.child)) {
    return refuse(Code::invalid_config, "a frame cannot be its own parent", t);
  }
  if (!is_finite(t)) {
    return refuse(Code::invalid_config, "the transform contains a value that is not finite", t);
  }
  length = std::sqrt(maths::dot(t.rotation, t.rotation));
  if (std::abs(length - 1) > kUnitTolerance) {
    return refuse(Code::invalid_config,
                  "the rotation is a quaternion of length " + number(length) +
                      (length == 0 ? ", as in an unset message. No rotation is w = 1"
                                   : ". It must be 1: normalise it"),
                  t);
  }
  if (!is_static && t.stamp.ns <= 0) {
    return refuse(Code::invalid_config,
                  "the stamp is " + std::to_string(t.stamp.ns) +
                      " ns. A moving frame needs the time at which it is valid (0 means 'latest' "
                      "in look-ups)",
                  t);
  }
  return success();
}

TransformFrame* TransformStore::find(std::string_view name) const {
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : found->second;
}

Result<TransformFrame*> TransformStore::frame(std::string_view name, const Transform& transform) {
  if (TransformFrame* known = find(name)) return known;
  if (frames_.size() >= options_.max_frames) {
    return refuse(Code::exhausted,
                  "there are already " + std::to_string(frames_.size()) +
                      " frames, which is the limit (max_frames). Are frames named after "
                      "something that changes?",
                  transform)
        .error();
  }
  TransformFrame& made = frames_.emplace_back();
  made.name = name;
  names_.emplace(made.name, &made);
  return &made;
}

/// "a -> b -> c" if `child` is an ancestor of `parent`, so that it cannot become its child.
std::string TransformStore::circle(const TransformFrame& parent,
                                   const TransformFrame& child) const {
  std::string way = in_quotes(child.name);
  for (const TransformFrame* f = &parent; f != nullptr; f = f->parent) {
    way += " in " + in_quotes(f->name);
    if (f == &child) return way;
  }
  return {};
}

void TransformStore::follow_clock(TransformFrame& child, std::int64_t stamp, std::uint64_t sender,
                                  std::string& notice) {
  const std::int64_t jump = options_.clock_jump.ns;
  if (jump <= 0 || child.samples.is_static() || child.last_stamp == 0 ||
      child.last_sender != sender || child.last_stamp - stamp <= jump) {
    return;
  }
  ++counters_.clock_jumps;
  notice = "the stamps of " + in_quotes(child.name) + " went back by " +
           duration(child.last_stamp - stamp) +
           ", as when a replay restarts: the history of all moving frames is cleared";
  forget_moving();
}

void TransformStore::forget_moving() {
  for (TransformFrame& frame : frames_) {
    if (frame.samples.is_static()) continue;
    frame.samples.clear();
    frame.last_stamp = 0;  // so that the next frame does not count as another jump
  }
}

void TransformStore::move(TransformFrame& child, TransformFrame* parent) {
  if (child.parent != nullptr) ++counters_.reparented;
  child.samples.clear();
  child.parent = parent;
}

void TransformStore::step_shape() {
  shape_.store(shape_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

Result<void> TransformStore::set(const Transform& t, bool is_static, std::uint64_t sender) {
  std::string notice;
  Result<void> done = success();
  {
    const MutexLock lock(mutex_);
    done = set_locked(t, is_static, sender, notice);
  }
  if (!notice.empty() && options_.notice) options_.notice(notice);
  return done;
}

Result<void> TransformStore::set_locked(const Transform& t, bool is_static, std::uint64_t sender,
                                        std::string& notice) {
  double length = 1;
  if (auto good = check(t, is_static, length); !good) return good;
  TransformSample sample{std::max<std::int64_t>(t.stamp.ns, 0), t.isometry()};
  // A length of exactly 1 is not changed, so that a round trip preserves the value.
  if (length != 1) sample.pose.rotation = maths::scaled(t.rotation, 1 / length);

  TransformFrame* known = find(bare_frame(t.child));
  if (known != nullptr && !is_static) follow_clock(*known, sample.stamp, sender, notice);
  if (known != nullptr && known->parent != nullptr && known->parent->name != bare_frame(t.parent)) {
    const Covered now = known->samples.covered(mutex_);
    if (!is_static && !known->samples.is_static() && !now.empty() && sample.stamp < now.last) {
      ++counters_.stale;
      return Error{Code::out_of_range,
                   in_quotes(known->name) + " has the parent " + in_quotes(known->parent->name) +
                       " now. This transform is " + duration(now.last - sample.stamp) + " older",
                   in_quotes(known->name) + " in " + in_quotes(bare_frame(t.parent))};
    }
  }
  auto parent = frame(bare_frame(t.parent), t);
  if (!parent) return parent.error();
  auto child = frame(bare_frame(t.child), t);
  if (!child) return child.error();
  TransformFrame& frame = **child;
  if (frame.parent == *parent) return put(frame, sample, is_static, sender);
  if (std::string way = circle(**parent, frame); !way.empty()) {
    return refuse(Code::invalid_config, "this would close a loop: " + way, t);
  }
  // One step for the new parent and its first sample, so that no reader finds the frame without
  // samples.
  if (frame.parent != nullptr) {
    notice = in_quotes(frame.name) + " moved from parent " + in_quotes(frame.parent->name) +
             " to " + in_quotes((*parent)->name) + ". If this repeats, two nodes publish it";
  }
  step_shape();
  move(frame, *parent);
  auto done = put(frame, sample, is_static, sender);
  step_shape();
  return done;
}

Result<void> TransformStore::put(TransformFrame& frame, const TransformSample& sample,
                                 bool is_static, std::uint64_t sender) {
  if (is_static) {
    Isometry now;
    if (frame.samples.is_static() && frame.samples.at(0, now, mutex_) && now == sample.pose) {
      ++counters_.duplicates;
      return success();
    }
    frame.samples.put_static(sample);
  } else {
    switch (
        frame.samples.put(sample, options_.history.ns, options_.max_samples, counters_.shortened)) {
      case TransformSamples::Put::same:
        ++counters_.duplicates;
        return success();
      case TransformSamples::Put::too_old:
        ++counters_.stale;
        return Error{Code::out_of_range,
                     "the stamp is " + duration(frame.samples.covered(mutex_).last - sample.stamp) +
                         " older than the newest. The history is " + duration(options_.history.ns),
                     in_quotes(frame.name) + " in " + in_quotes(frame.parent->name)};
      case TransformSamples::Put::replaced:
        ++counters_.replaced;
        break;
      case TransformSamples::Put::added:
        break;
    }
  }
  ++counters_.accepted;
  ++frame.accepted;
  frame.last_stamp = sample.stamp;
  frame.last_sender = sender;
  return success();
}

void TransformStore::clear() {
  const MutexLock lock(mutex_);
  forget_moving();
}

std::vector<TransformEdge> TransformStore::list() const {
  const MutexLock lock(mutex_);
  std::vector<TransformEdge> out;
  for (const TransformFrame& frame : frames_) {
    if (frame.parent == nullptr) continue;
    TransformEdge edge;
    edge.parent = frame.parent->name;
    edge.child = frame.name;
    edge.is_static = frame.samples.is_static();
    edge.samples = frame.samples.size();
    const Covered covered = frame.samples.covered(mutex_);
    if (edge.is_static) {
      edge.oldest = edge.newest = Time{frame.last_stamp};
    } else if (!covered.empty()) {
      edge.oldest = Time{covered.first};
      edge.newest = Time{covered.last};
    }
    edge.accepted = frame.accepted;
    edge.sender = frame.last_sender;
    out.push_back(std::move(edge));
  }
  return out;
}

TransformCounters TransformStore::counters() const {
  const MutexLock lock(mutex_);
  return counters_;
}

void TransformStore::set_remedy(std::string remedy) {
  const MutexLock lock(mutex_);
  remedy_ = std::move(remedy);
}

Error TransformStore::unknown(std::string_view name) const {
  std::string message = "there is no frame " + in_quotes(name);
  std::vector<std::string_view> names;
  for (const TransformFrame& frame : frames_) names.push_back(frame.name);
  std::sort(names.begin(), names.end());
  if (const std::string_view near = config::nearest(name, names); !near.empty()) {
    message += "; did you mean " + in_quotes(near) + "?";
  } else if (names.empty()) {
    message += ": no transform has arrived yet";
  } else {
    message += ". Known: " + listed(names);
  }
  message += remedy_;
  return {Code::not_found, std::move(message), {}};
}

}  // namespace hyphos::detail
