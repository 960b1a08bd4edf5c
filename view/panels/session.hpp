#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "hyphos/result.hpp"
#include "view/core/sample.hpp"
#include "view/core/source.hpp"
#include "view/layout/layout.hpp"

struct ImFont;

namespace hyphos {
class Node;
}

namespace hyphos::view {

class Frames;
class GraphState;
class Scene;

/// Colours of the theme by meaning, 0xAABBGGRR as ImU32.
struct Palette {
  std::uint32_t text, dim, faint, background, surface, raised, border, accent, good, warn, bad,
      axis;
  std::uint32_t series[8];  ///< lines of plots, in order
};

/// The state of playback. For a running robot, `playing` is false while the view is held at a past
/// instant.
struct Timeline {
  TimeRange range;
  std::int64_t now_ns = 0;  ///< Unix time that the window shows
  bool live = false;        ///< the source grows by itself
  bool follow = true;       ///< live: shows the newest messages
  bool playing = false;
  bool loop = false;
  double speed = 1;
};

/// What a panel may use of the application. Thread: that of the view.
class Session {
 public:
  virtual ~Session() = default;

  [[nodiscard]] virtual Source& source() = 0;
  /// Null if there is no such channel.
  [[nodiscard]] virtual const Channel* channel(std::string_view name) const = 0;
  [[nodiscard]] virtual const Timeline& timeline() const = 0;
  virtual void seek(std::int64_t time_ns) = 0;
  /// CLOCK_MONOTONIC of this frame.
  [[nodiscard]] virtual std::int64_t frame_ns() const = 0;

  [[nodiscard]] virtual Scene& scene() = 0;
  [[nodiscard]] virtual Frames& frames() = 0;
  [[nodiscard]] virtual GraphState& graph() = 0;
  /// The node of the viewer in the robot's domain, for calls, parameters and tools that publish.
  /// Opened at the first use, so that looking alone opens no publisher. Null for a recording.
  [[nodiscard]] virtual const Node* node() = 0;

  /// Runs `work` in the thread of the view at the next pump(). Called by any thread.
  virtual void post(std::function<void()> work) = 0;
  /// A line at the bottom of the window, for some seconds. An error stays until it is clicked.
  virtual void notify(std::string text, bool error = false) = 0;
  /// The layout has been changed by the user: one step of undo.
  virtual void edited(std::string_view action) = 0;
  /// Channels or settings of a panel have changed: selects the channels again.
  virtual void reselect() = 0;
  /// Opens a panel beside the focused one.
  virtual void open_panel(std::string_view kind, const Settings& settings = {}) = 0;
  /// Adds a display for the channel. False if no display fits its type.
  virtual bool show(const std::string& channel) = 0;

  [[nodiscard]] virtual const Palette& palette() const = 0;
  [[nodiscard]] virtual float scale() const = 0;
  [[nodiscard]] virtual ImFont* mono() const = 0;
  [[nodiscard]] virtual ImFont* bold() const = 0;
};

}  // namespace hyphos::view
