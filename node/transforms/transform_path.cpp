#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "node/transforms/transform_maths.hpp"
#include "node/transforms/transform_store.hpp"
#include "node/transforms/transform_text.hpp"

namespace hyphos::detail {
namespace {

constexpr int kAttempts = 8;  // while the tree changes during a look-up

const TransformFrame& root_of(const TransformFrame& frame) {
  const TransformFrame* f = &frame;
  while (f->parent != nullptr) f = f->parent;
  return *f;
}

std::string hangs_on(const TransformFrame& frame) {
  const TransformFrame& root = root_of(frame);
  if (&root == &frame) return in_quotes(frame.name) + " is a root";
  return in_quotes(frame.name) + " is in the tree of root " + in_quotes(root.name);
}

Error disconnected(const TransformFrame& target, const TransformFrame& source,
                   const std::string& remedy) {
  return {Code::disconnected,
          hangs_on(target) + " and " + hangs_on(source) +
              ": no transform connects the two trees. Check that its publisher runs" + remedy,
          {}};
}

/// "'laser' in 'base'"
std::string edge_name(const TransformFrame& frame) {
  return in_quotes(frame.name) + " in " +
         (frame.parent != nullptr ? in_quotes(frame.parent->name) : std::string("nothing"));
}

std::string known(const Covered& covered) {
  if (covered.empty()) return "it has no samples";
  if (covered.first == covered.last) return "it is known at " + instant(covered.last) + " only";
  return "it is known from " + instant(covered.first) + " to " + instant(covered.last);
}

/// How far `time` is outside, 0 if inside. An edge without samples is infinitely far.
std::int64_t distance(const Covered& covered, std::int64_t time) {
  if (covered.empty()) return std::numeric_limits<std::int64_t>::max();
  const auto between = [](std::int64_t earlier, std::int64_t later) {
    // Saturates: the time of a look-up may be the stamp of any message.
    constexpr auto kFarthest = std::numeric_limits<std::int64_t>::max();
    const auto gap = static_cast<std::uint64_t>(later) - static_cast<std::uint64_t>(earlier);
    return std::in_range<std::int64_t>(gap) ? static_cast<std::int64_t>(gap) : kFarthest;
  };
  if (time > covered.last) return between(covered.last, time);
  return time < covered.first ? between(time, covered.first) : 0;
}

}  // namespace

TransformPath::TransformPath(std::shared_ptr<const TransformStore> store, std::string_view target,
                             std::string_view source)
    : store_(std::move(store)), target_(bare_frame(target)), source_(bare_frame(source)) {}

Result<void> TransformPath::resolve() {
  const MutexLock lock(store_->mutex());
  shape_ = store_->shape();  // even: no change happens under the lock
  joined_ = false;
  lacking_ = nullptr;
  hopeless_ = false;
  up_.clear();
  down_.clear();
  const TransformFrame* source = store_->find(source_);
  if (source == nullptr) return store_->unknown(source_);
  const TransformFrame* target = store_->find(target_);
  if (target == nullptr) return store_->unknown(target_);
  for (const TransformFrame* f = source; f != nullptr; f = f->parent) up_.push_back(f);
  for (const TransformFrame* f = target; f != nullptr; f = f->parent) down_.push_back(f);
  if (up_.back() != down_.back()) {
    up_.clear();
    down_.clear();
    return disconnected(*target, *source, store_->remedy());
  }
  // From the root down, both paths are the same up to their last common frame, the ancestor.
  while (!up_.empty() && !down_.empty() && up_.back() == down_.back()) {
    ancestor_ = up_.back();
    up_.pop_back();
    down_.pop_back();
  }
  joined_ = true;
  return success();
}

bool TransformPath::climb(const Frames& frames, std::int64_t time, Isometry& out) const {
  bool first = true;
  for (const TransformFrame* frame : frames) {
    Isometry step;
    if (!frame->samples.at(time, step, store_->mutex())) return false;
    out = first ? step : maths::compose(step, out);
    first = false;
  }
  return true;
}

bool TransformPath::compose(std::int64_t time, Isometry& out) const {
  out = {};
  if (!climb(up_, time, out)) return false;
  if (!down_.empty()) {
    Isometry down;
    if (!climb(down_, time, down)) return false;
    out = maths::compose(maths::inverse(down), out);
  }
  out.rotation = maths::normalized(out.rotation);
  return true;
}

Covered TransformPath::covered() const {
  Covered all = kAlways;
  for (const Frames* frames : {&up_, &down_}) {
    for (const TransformFrame* frame : *frames) {
      const Covered one = frame->samples.covered(store_->mutex());
      all.first = std::max(all.first, one.first);
      all.last = std::min(all.last, one.last);
    }
  }
  return all;
}

Result<StampedIsometry> TransformPath::get(std::int64_t time) {
  for (int attempt = 0;; ++attempt) {
    if (!joined_ || store_->shape() != shape_) {
      if (auto found = resolve(); !found) return found.error();
    }
    std::int64_t at = time;
    bool have = true;
    if (time == latest.ns) {
      const Covered common = covered();
      have = !common.empty();
      at = common.last == kAlways.last ? 0 : common.last;
    }
    Isometry pose;
    have = have && compose(at, pose);
    const bool last_attempt = attempt >= kAttempts;
    if (store_->shape() != shape_ && !last_attempt) continue;
    if (have) return StampedIsometry{pose, Time{at}};
    // The missing sample may have just arrived, which would make the error text inconsistent.
    const Covered common = covered();
    if (!last_attempt && (time == latest.ns ? !common.empty() : common.holds(time))) continue;
    return time == latest.ns ? no_common_time() : missing(time);
  }
}

Error TransformPath::missing(std::int64_t time) {
  const MutexLock lock(store_->mutex());
  std::int64_t worst = -1;
  lacking_ = nullptr;
  hopeless_ = false;
  Covered all = kAlways;
  for (const Frames* frames : {&up_, &down_}) {
    for (const TransformFrame* frame : *frames) {
      const Covered one = frame->samples.covered(store_->mutex());
      all.first = std::max(all.first, one.first);
      all.last = std::min(all.last, one.last);
      const std::int64_t off = distance(one, time);
      // Samples older than the kept history will not arrive any more.
      if (!frame->samples.is_static() && !one.empty() &&
          time < one.last - store_->options().history.ns) {
        hopeless_ = true;
      }
      if (off <= worst) continue;
      worst = off;
      lacking_ = frame;
      lacking_had_ = one;
    }
  }
  const Covered& had = lacking_had_;
  std::string message = in_quotes(target_) + " from " + in_quotes(source_) + " at " +
                        instant(time) + ": " + edge_name(*lacking_) + ", ";
  if (had.empty()) {
    message += "which has no samples";
  } else {
    message += duration(distance(had, time)) +
               (time > had.last ? " after its newest sample: " : " before its oldest sample: ") +
               known(had);
  }
  if (up_.size() + down_.size() > 1 && !had.empty()) {
    message += all.empty() ? ". Its frames have no common time"
                           : ". The whole chain is known from " + instant(all.first) + " to " +
                                 instant(all.last);
  }
  return {Code::out_of_range, std::move(message), {}};
}

Error TransformPath::no_common_time() {
  const MutexLock lock(store_->mutex());
  const TransformFrame* begins = nullptr;
  const TransformFrame* ends = nullptr;
  Covered late;
  Covered early;
  lacking_ = nullptr;
  hopeless_ = false;
  for (const Frames* frames : {&up_, &down_}) {
    for (const TransformFrame* frame : *frames) {
      const Covered one = frame->samples.covered(store_->mutex());
      if (one.empty()) {
        lacking_ = frame;
        lacking_had_ = one;
        return {Code::out_of_range,
                in_quotes(target_) + " from " + in_quotes(source_) + ": no samples yet of " +
                    edge_name(*frame),
                {}};
      }
      if (begins == nullptr || one.first > late.first) {
        begins = frame;
        late = one;
      }
      if (ends == nullptr || one.last < early.last) {
        ends = frame;
        early = one;
      }
    }
  }
  if (ends == nullptr) return {Code::out_of_range, in_quotes(target_) + " is just changing", {}};
  lacking_ = ends;
  lacking_had_ = early;
  return {Code::out_of_range,
          in_quotes(target_) + " from " + in_quotes(source_) +
              " have no common time: " + edge_name(*ends) + " ends at " + instant(early.last) +
              ", " + edge_name(*begins) + " begins at " + instant(late.first) + ", " +
              duration(late.first - early.last) + " later",
          {}};
}

Result<TransformChain> TransformPath::chain() {
  if (auto found = resolve(); !found) return found.error();
  TransformChain out;
  for (const TransformFrame* frame : up_) out.frames.push_back(frame->name);
  out.ancestor = out.frames.size();
  out.frames.push_back(ancestor_->name);
  for (auto frame = down_.rbegin(); frame != down_.rend(); ++frame) {
    out.frames.push_back((*frame)->name);
  }
  return out;
}

bool TransformPath::may_have_changed() const {
  if (store_->shape() != shape_) return true;
  if (lacking_ == nullptr) return joined_;
  const Covered now = lacking_->samples.covered(store_->mutex());
  return now.first != lacking_had_.first || now.last != lacking_had_.last;
}

}  // namespace hyphos::detail
