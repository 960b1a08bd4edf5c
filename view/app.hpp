#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hyphos/result.hpp"
#include "view/core/source.hpp"
#include "view/layout/layout.hpp"
#include "view/panels/panel.hpp"

struct ImVec2;

namespace hyphos::view {

class Camera;
class Frames;
class Scene;

/// The displays and panels of this program, from both registries.
[[nodiscard]] Vocabulary vocabulary();

struct AppOptions {
  std::string domain;
  std::vector<std::string> files;  ///< recordings, as given. Empty: the running robot
  std::string layout_file;         ///< empty: a default layout
  double at_s = -1;                ///< start of a recording in seconds from its begin, -1: begin
  double budget_mb = 0;            ///< 0: as the layout
  bool settings = true;            ///< remember window and recent files in ~/.config/hyphos
  float scale = 1;                 ///< pixels per point of the screen
};

/// The application without a window system: a source, the displays, the panels and the timeline.
///
/// The caller has an OpenGL 3.3 context and an ImGui context with a renderer, and calls in this
/// order, in one thread:
///
///     app.setup_style(scale)                    once, before the first frame
///     app.pump(now)                             takes arrived samples
///     if (app.wants_frame(now)) { NewFrame(); app.frame(); Render(); draw; swap }
///     wait until an event, wake() or app.next_frame_ns()
///
/// No frame is drawn while nothing changes: `frames()` counts them.
class App {
 public:
  /// `wake` is called by any thread when pump() has work.
  static Result<std::unique_ptr<App>> open(AppOptions options, std::function<void()> wake);
  ~App();
  App(const App&) = delete;
  App& operator=(const App&) = delete;

  /// Fonts and colours for the current ImGui context.
  void setup_style(float scale);
  /// Passes arrived samples to displays and panels, moves the timeline. `now_ns`: CLOCK_MONOTONIC.
  void pump(std::int64_t now_ns);
  /// An input event came, or the window was resized or exposed.
  void invalidate();
  [[nodiscard]] bool wants_frame(std::int64_t now_ns) const;
  /// The instant at which pump() or wants_frame() should be asked again without a wake().
  [[nodiscard]] std::int64_t next_frame_ns() const;
  /// Builds one ImGui frame over the whole display, and draws the 3-D view into its texture.
  void frame();
  [[nodiscard]] std::uint64_t frames() const;

  /// Files that were dropped on the window: recordings and layouts.
  void open_files(const std::vector<std::string>& files);
  [[nodiscard]] std::string title() const;
  [[nodiscard]] bool quit_requested() const;

  [[nodiscard]] Layout layout() const;
  void set_layout(const Layout& layout);
  Session& session();

 private:
  App();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hyphos::view
