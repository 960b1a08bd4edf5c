#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hyphos/result.hpp"
#include "view/layout/layout.hpp"
#include "view/scene/renderer.hpp"

namespace hyphos::view {

class Session;

/// The displays and panels of this program, from both registries.
[[nodiscard]] Vocabulary vocabulary();

struct AppOptions {
  std::string domain;             ///< live: replaces the domain of the plan
  std::string what;               ///< a recording, a plan, or empty for the domain
  std::vector<std::string> more;  ///< further ones, to be compared with it
  std::string arrange;            ///< several: "ghost" or "columns". Empty: as the layout
  std::string align;              ///< several: "start" or "time". Empty: as the layout
  double shift_s = 0;             ///< several: further shift of those after the first
  std::string layout_file;        ///< empty: a default layout
  std::string check_file;         ///< the output of `hyphos plan check --json`, empty: none
  /// Recording: seconds from its begin. Below 0: the first instant at which all shown channels have
  /// a value, see App::kMostSearch.
  double at_s = -1;
  bool play = true;       ///< a recording plays, if at_s is below 0
  std::string past_file;  ///< live: keep the past in this recording, too
  double budget_mb = 0;   ///< 0: as the layout
  float scale = 1;        ///< pixels per point
  std::string theme;      ///< empty: as the layout, or as the user chose last
  std::string settings;   ///< file of the user's settings, empty: none
};

/// The application without a window system: a source, the displays, the panels and the timeline.
///
/// The caller has an OpenGL 3.3 context and an ImGui context with a renderer, and calls in one
/// thread:
///
///     app.pump(now)                             takes arrived samples
///     if (app.wants_frame(now)) {
///       NewFrame(); app.frame(now); Render(); swap; app.frame_done();
///     }
///     wait until an event, a wake or app.next_ns()
///
/// No frame is drawn while nothing changes: frames() counts them. Arriving data draws as often as a
/// twelfth of a core allows, at most 30 times a second. Input draws at once.
class App {
 public:
  class Impl;
  /// Channels that begin later than this after the begin do not delay the first picture.
  static constexpr std::int64_t kMostSearch = 5'000'000'000;  // ns
  /// Adds the fonts to ImGui's atlas and sets its style. `wake` is called by any thread when pump()
  /// has work. Errors: those of open_source(), load_layout() and Renderer::open().
  static Result<std::unique_ptr<App>> open(const AppOptions& options, GlLoader loader,
                                           std::function<void()> wake);
  ~App();
  App(const App&) = delete;
  App& operator=(const App&) = delete;

  /// Passes arrived samples to displays and panels, and moves the timeline. `now_ns`:
  /// CLOCK_MONOTONIC.
  void pump(std::int64_t now_ns);
  /// An input event came, or the window was resized or exposed.
  void invalidate();
  [[nodiscard]] bool wants_frame(std::int64_t now_ns) const;
  /// When pump() must run again without an event. CLOCK_MONOTONIC.
  [[nodiscard]] std::int64_t next_ns(std::int64_t now_ns) const;
  /// The colour to which the window must be cleared before the frame is rendered. A filled
  /// rectangle of that size would cost as much as all panels do.
  [[nodiscard]] Color clear_color() const;
  /// Builds one ImGui frame over the whole display, and draws the 3-D view into its texture.
  void frame(std::int64_t now_ns);
  /// The frame is on the screen. Measures its cost.
  void frame_done();
  [[nodiscard]] std::uint64_t frames() const;
  /// True if the picture is complete: no refinement, no seek is left.
  [[nodiscard]] bool settled() const;

  /// A recording: passes all messages up to `at_s` seconds after its begin, and shows that instant.
  /// Displays keep the past that they have seen. For videos.
  void play_to(double at_s);

  /// The reason why the prediction of `check_file` cannot be shown. Known once settled() is true.
  [[nodiscard]] Result<void> check_result() const;

  /// Files that were dropped on the window: recordings, plans and layouts. Several recordings are
  /// compared.
  void open_files(const std::vector<std::string>& files);
  /// The display is lost, and no frame can be drawn: closes the source, so that the robot has no
  /// guest and a past on disk is complete. Uses no OpenGL. Then only the process may end.
  void abandon();
  /// Writes the user's settings, at the end.
  void save_settings(int width, int height);
  [[nodiscard]] std::string title() const;
  [[nodiscard]] bool quit_requested() const;
  [[nodiscard]] Layout layout() const;
  void set_layout(const Layout& layout);
  [[nodiscard]] Session& session();

 private:
  explicit App(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hyphos::view
