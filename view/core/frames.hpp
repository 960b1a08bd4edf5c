#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hyphos/result.hpp"
#include "hyphos/transforms.hpp"
#include "view/core/sample.hpp"

namespace hyphos::view {

/// True for the channels that Frames::take() reads: the type is hyphos.msgs.TfMessage.
[[nodiscard]] bool has_transforms(const Channel& channel);
/// True for `tf_static`, `/tf_static` and `robot1/tf_static`.
[[nodiscard]] bool has_static_transforms(const Channel& channel);

/// One frame for the display of transforms.
struct FrameInfo {
  std::string name;
  std::string parent;  ///< empty for a root
  bool is_static = false;
  Time newest;  ///< stamp of the last transform, 0 for a root or a static frame
};

/// The coordinate frames over time, from the samples of `tf` and `tf_static` up to the cursor.
///
/// A hyphos::TransformTree with the messages' side of it. Times are stamps of messages (header
/// stamps), which are those of the robot's Clock: in a simulation they are not the times of the
/// timeline. Not thread-safe. Memory: at most kMaxSamples per frame, 64 bytes each.
class Frames {
 public:
  static constexpr std::size_t kMaxSamples = 4'096;

  explicit Frames(Duration history = Duration::from_ms(60'000));

  /// Adds the transforms of a hyphos.msgs.TfMessage. Refused transforms are counted, and
  /// problems() names them.
  void take(const Channel& channel, const Sample& sample);
  /// Removes the moving transforms, as Sink::clear() requires. Static ones remain.
  void clear();

  /// The transform from coordinates in `source` to coordinates in `target` at `time`, interpolated.
  /// `latest` (0): the newest time at which the chain is known. If `time` is newer than the last
  /// transform by at most `hold`, the last one is used, and the result has its stamp. Errors name
  /// the frame: not_found (no transform of it has come, with similar names), disconnected (two
  /// trees), out_of_range (its last transform is older, with its time).
  [[nodiscard]] Result<StampedIsometry> get(std::string_view target, std::string_view source,
                                            Time time,
                                            Duration hold = Duration::from_ms(500)) const;
  /// All frames: parents before their children, siblings by name.
  [[nodiscard]] std::vector<FrameInfo> frames() const;
  /// A frame to draw in: `map`, `odom` or `world` if it is a root, else the root of the largest
  /// tree. Empty without a frame.
  [[nodiscard]] std::string root() const;
  /// Changes whenever a transform was added or removed. Displays draw again if it did.
  [[nodiscard]] std::uint64_t version() const { return version_; }
  /// Refused transforms, as sentences, at most 8.
  [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }
  [[nodiscard]] std::uint64_t refused() const { return refused_; }
  [[nodiscard]] const TransformTree& tree() const { return tree_; }

 private:
  TransformTree tree_;
  std::uint64_t version_ = 0;
  std::uint64_t refused_ = 0;
  std::vector<std::string> problems_;
};

}  // namespace hyphos::view
