#pragma once

#include <atomic>
#include <deque>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/mutex.hpp"
#include "hyphos/transforms.hpp"
#include "node/transforms/transform_samples.hpp"

namespace hyphos::detail {

/// One frame. Its address is stable for the life of the store, so paths may point to it.
struct TransformFrame {
  std::string name;
  TransformSamples samples;  ///< in the parent

  // Under the store's lock.
  TransformFrame* parent = nullptr;
  std::int64_t last_stamp = 0;  ///< of the last arrival, which need not be the newest
  std::uint64_t last_sender = 0;
  std::uint64_t accepted = 0;
};

/// The content of a TransformTree, shared with the paths that read it.
///
///  S1  Names, parents and counters change only under `mutex_`.
///  S2  `shape()` is odd while a frame gets a parent, and different afterwards. A reader that
///      followed parents without the lock, and finds it unchanged, has seen one consistent tree.
class TransformStore {
 public:
  explicit TransformStore(TransformTreeOptions options);

  Result<void> set(const Transform& transform, bool is_static, std::uint64_t sender);
  void clear();
  [[nodiscard]] std::vector<TransformEdge> list() const;
  [[nodiscard]] TransformCounters counters() const;
  [[nodiscard]] const TransformTreeOptions& options() const { return options_; }
  [[nodiscard]] std::uint64_t shape() const { return shape_.load(std::memory_order_acquire); }
  [[nodiscard]] Mutex& mutex() const HYPHOS_RETURN_CAPABILITY(mutex_) { return mutex_; }

  [[nodiscard]] TransformFrame* find(std::string_view name) const HYPHOS_REQUIRES(mutex_);
  [[nodiscard]] Error unknown(std::string_view name) const HYPHOS_REQUIRES(mutex_);
  /// The end of each error about an absent frame or connection. Call it before the first look-up.
  void set_remedy(std::string remedy);
  [[nodiscard]] const std::string& remedy() const HYPHOS_REQUIRES(mutex_) { return remedy_; }

 private:
  Result<void> set_locked(const Transform& transform, bool is_static, std::uint64_t sender,
                          std::string& notice) HYPHOS_REQUIRES(mutex_);
  Result<void> refuse(Code code, std::string message, const Transform& transform)
      HYPHOS_REQUIRES(mutex_);
  Result<void> check(const Transform& transform, bool is_static, double& length)
      HYPHOS_REQUIRES(mutex_);
  Result<TransformFrame*> frame(std::string_view name, const Transform& transform)
      HYPHOS_REQUIRES(mutex_);
  [[nodiscard]] std::string circle(const TransformFrame& parent, const TransformFrame& child) const
      HYPHOS_REQUIRES(mutex_);
  void follow_clock(TransformFrame& child, std::int64_t stamp, std::uint64_t sender,
                    std::string& notice) HYPHOS_REQUIRES(mutex_);
  void forget_moving() HYPHOS_REQUIRES(mutex_);
  void step_shape() HYPHOS_REQUIRES(mutex_);
  void move(TransformFrame& child, TransformFrame* parent) HYPHOS_REQUIRES(mutex_);
  Result<void> put(TransformFrame& frame, const TransformSample& sample, bool is_static,
                   std::uint64_t sender) HYPHOS_REQUIRES(mutex_);

  const TransformTreeOptions options_;
  mutable Mutex mutex_;
  std::atomic<std::uint64_t> shape_{0};
  std::deque<TransformFrame> frames_ HYPHOS_GUARDED_BY(mutex_);
  /// Views into frames_.
  std::unordered_map<std::string_view, TransformFrame*> names_ HYPHOS_GUARDED_BY(mutex_);
  TransformCounters counters_ HYPHOS_GUARDED_BY(mutex_);
  std::string remedy_ HYPHOS_GUARDED_BY(mutex_);
};

/// The frames between source and target, computed once and used until the shape changes.
class TransformPath {
 public:
  TransformPath(std::shared_ptr<const TransformStore> store, std::string_view target,
                std::string_view source);

  [[nodiscard]] Result<StampedIsometry> get(std::int64_t time);
  [[nodiscard]] Result<TransformChain> chain();

  /// After a failed get(): true if a retry may succeed. For waiting look-ups: costs a few loads
  /// while no relevant sample has arrived.
  [[nodiscard]] bool may_have_changed() const;
  /// The last get() failed, and so will later ones: the time is older than the kept history.
  [[nodiscard]] bool hopeless() const { return hopeless_; }

  [[nodiscard]] const std::string& target() const { return target_; }
  [[nodiscard]] const std::string& source() const { return source_; }

 private:
  using Frames = std::vector<const TransformFrame*>;
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

  Result<void> resolve();
  [[nodiscard]] bool compose(std::int64_t time, Isometry& out) const;
  [[nodiscard]] bool climb(const Frames& frames, std::int64_t time, Isometry& out) const;
  [[nodiscard]] Covered covered() const;
  Error missing(std::int64_t time);
  Error no_common_time();

  std::shared_ptr<const TransformStore> store_;
  std::string target_;
  std::string source_;
  std::uint64_t shape_ = kNever;  ///< of the store when the members below were computed
  bool joined_ = false;           ///< both frames exist and have a common ancestor
  Frames up_;                     ///< from the source up to below the common ancestor
  Frames down_;                   ///< from the target up to below the common ancestor
  const TransformFrame* ancestor_ = nullptr;

  // From the last get() that failed for lack of samples.
  const TransformFrame* lacking_ = nullptr;
  Covered lacking_had_;
  bool hopeless_ = false;
};

/// The name without the leading '/' of ROS 1.
[[nodiscard]] inline std::string_view bare_frame(std::string_view name) {
  if (name.starts_with('/')) name.remove_prefix(1);
  return name;
}

}  // namespace hyphos::detail
