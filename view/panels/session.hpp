#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "hyphos/result.hpp"
#include "view/core/sample.hpp"
#include "view/core/source.hpp"
#include "view/layout/layout.hpp"

namespace hyphos {
class Node;
}

namespace hyphos::view {

class Frames;
class GraphState;
class Decoder;
class Panel;
class Renderer;
struct Prediction;
class SceneView;
struct Theme;

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

/// The part of the application that a panel may use. Thread: that of the view.
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

  /// The displays, the frames and the camera of the 3-D view.
  [[nodiscard]] virtual SceneView& scene() = 0;
  /// Draws the 3-D view, and makes textures.
  [[nodiscard]] virtual Renderer& renderer() = 0;
  [[nodiscard]] virtual Decoder& decoder() = 0;
  [[nodiscard]] virtual GraphState& graph() = 0;
  /// The predicted load of the plan. Null without `hyphos plan check`.
  [[nodiscard]] virtual const Prediction* prediction() const = 0;
  /// From the arrival of the newest shown sample of a channel to the end of its frame. 0: unknown.
  [[nodiscard]] virtual std::int64_t pixel_latency_ns(const std::string& channel) const = 0;
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
  /// The saved views of the camera.
  [[nodiscard]] virtual std::map<std::string, CameraLayout>& saved_views() = 0;
  virtual void use_view(const std::string& name) = 0;
  virtual void save_view(const std::string& name) = 0;
  /// One more frame will differ: a key is held, or the picture is being refined.
  virtual void keep_drawing() = 0;
  /// The panel that draws the 3-D view in this frame, null at the start of a frame.
  virtual const Panel*& scene_owner() = 0;
  /// Opens a panel beside the focused one.
  virtual void open_panel(std::string_view kind, const Settings& settings = {}) = 0;
  /// Adds a display for the channel. False if no display fits its type.
  virtual bool show(const std::string& channel) = 0;

  [[nodiscard]] virtual const Theme& theme() const = 0;
};

}  // namespace hyphos::view
