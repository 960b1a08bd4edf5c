#include "view/core/frames.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <hyphos/msgs/tf.pb.h>

namespace hyphos::view {
namespace {

constexpr std::size_t kMaxProblems = 8;
constexpr std::size_t kMaxFrames = 4'096;

TransformTreeOptions options_of(Duration history) {
  TransformTreeOptions options;
  options.history = history;
  options.max_samples = Frames::kMaxSamples;
  options.max_frames = kMaxFrames;
  options.clock_jump = Duration::from_ms(1'000);
  return options;
}

Transform transform_of(const msgs::TransformStamped& from) {
  const msgs::Vector3& move = from.transform().translation();
  const msgs::Quaternion& turn = from.transform().rotation();
  Transform out{from.header().frame_id(),
                from.child_frame_id(),
                {from.header().stamp_ns()},
                {move.x(), move.y(), move.z()},
                {turn.x(), turn.y(), turn.z(), turn.w()}};
  // Drivers round to single precision. A length far from 1 is an error, which the tree reports.
  Quaternion& q = out.rotation;
  const double length = std::sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
  if (length > 0.9 && length < 1.1) q = {q.x / length, q.y / length, q.z / length, q.w / length};
  return out;
}

}  // namespace

bool has_transforms(const Channel& channel) { return channel.type == "hyphos.msgs.TfMessage"; }

bool has_static_transforms(const Channel& channel) {
  constexpr std::string_view kStatic = "tf_static";
  const std::string_view name = channel.name;
  return has_transforms(channel) && name.ends_with(kStatic) &&
         (name.size() == kStatic.size() || name[name.size() - kStatic.size() - 1] == '/');
}

Frames::Frames(Duration history) : tree_(options_of(history)) {}

void Frames::take(const Channel& channel, const Sample& sample) {
  msgs::TfMessage message;
  const bool is_static = has_static_transforms(channel);
  const auto refuse = [&](const std::string& reason) {
    ++refused_;
    std::string text = channel.name + ": " + reason;
    if (problems_.size() < kMaxProblems &&
        std::find(problems_.begin(), problems_.end(), text) == problems_.end()) {
      problems_.push_back(std::move(text));
    }
  };
  if (sample.payload.size() > std::numeric_limits<int>::max() ||
      !message.ParseFromArray(sample.payload.data(), static_cast<int>(sample.payload.size()))) {
    return refuse("a message is corrupt");
  }
  for (const msgs::TransformStamped& one : message.transforms()) {
    const Transform transform = transform_of(one);
    // A recording has no senders, but each channel of it counts as one.
    const std::uint64_t sender = sample.sender != 0 ? sample.sender : sample.channel + 1;
    const auto set = is_static ? tree_.set_static(transform, sender) : tree_.set(transform, sender);
    if (set) {
      ++version_;
    } else if (set.error().code != Code::out_of_range) {
      refuse(set.error().message);
    }
  }
}

void Frames::clear() {
  tree_.clear();
  ++version_;
}

Result<StampedIsometry> Frames::get(std::string_view target, std::string_view source, Time time,
                                    Duration hold) const {
  const auto stamped = [](const Transform& from) {
    StampedIsometry out;
    static_cast<Isometry&>(out) = from.isometry();
    out.stamp = from.stamp;
    return out;
  };
  if (target == source) return StampedIsometry{{}, time};
  auto found = tree_.get(target, source, time);
  if (found) return stamped(*found);
  if (time == latest || found.error().code != Code::out_of_range) return found.error();
  const auto last = tree_.get(target, source, latest);
  if (!last || last->stamp > time || time - last->stamp > hold) return found.error();
  return stamped(*last);
}

std::vector<FrameInfo> Frames::frames() const {
  std::map<std::string, std::vector<const TransformEdge*>, std::less<>> children;
  std::set<std::string, std::less<>> is_child;
  const std::vector<TransformEdge> edges = tree_.edges();
  for (const TransformEdge& edge : edges) {
    children[edge.parent].push_back(&edge);
    is_child.insert(edge.child);
  }
  std::vector<FrameInfo> out;
  out.reserve(edges.size() + 1);
  // A tree has no cycles, so each frame is added once. Without recursion, because a chain may be
  // long.
  std::vector<FrameInfo> stack;
  for (auto root = children.rbegin(); root != children.rend(); ++root) {
    if (!is_child.contains(root->first)) stack.push_back({root->first, {}, false, {}});
  }
  while (!stack.empty()) {
    FrameInfo frame = std::move(stack.back());
    stack.pop_back();
    auto& below = children[frame.name];
    std::sort(below.begin(), below.end(),
              [](const auto* a, const auto* b) { return a->child > b->child; });
    for (const TransformEdge* edge : below) {
      stack.push_back(
          {edge->child, edge->parent, edge->is_static, edge->is_static ? Time{} : edge->newest});
    }
    out.push_back(std::move(frame));
  }
  return out;
}

std::string Frames::root() const {
  std::string best;
  std::size_t best_size = 0;
  std::string now;
  std::size_t size = 0;
  const auto end_tree = [&] {
    // The usual names first, then the largest tree.
    std::size_t weight = size;
    if (now == "map") weight += 3'000'000;
    if (now == "odom") weight += 2'000'000;
    if (now == "world") weight += 1'000'000;
    if (weight > best_size) {
      best = now;
      best_size = weight;
    }
  };
  for (const FrameInfo& frame : frames()) {
    if (frame.parent.empty()) {
      if (!now.empty()) end_tree();
      now = frame.name;
      size = 0;
    }
    ++size;
  }
  if (!now.empty()) end_tree();
  return best;
}

}  // namespace hyphos::view
