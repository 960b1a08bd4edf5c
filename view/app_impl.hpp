#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "view/app.hpp"
#include "view/check_reader.hpp"
#include "view/core/graph_state.hpp"
#include "view/core/source.hpp"
#include "view/core/types.hpp"
#include "view/displays/scene_view.hpp"
#include "view/history.hpp"
#include "view/panels/panel.hpp"
#include "view/panels/session.hpp"
#include "view/panels/theme.hpp"
#include "view/settings.hpp"
#include "view/workspace.hpp"

namespace hyphos::view {

inline constexpr std::int64_t kMillisecond = 1'000'000;
inline constexpr std::int64_t kSecond = 1'000'000'000;

/// A sentence at the lower edge of the window.
struct Notice {
  std::string text;
  bool error = false;
  std::int64_t until_ns = 0;  ///< CLOCK_MONOTONIC
};

class App::Impl final : public Session, public Sink {
 public:
  Impl(const AppOptions& options, std::function<void()> wake);
  ~Impl() override;

  Result<void> open(GlLoader loader);
  Result<void> open_source_named(const std::string& what, bool beside = false);
  void use_source(std::unique_ptr<Source> source);

  // Sink.
  void take(const Sample& sample) override;
  void clear() override;

  // Session.
  Source& source() override { return *source_; }
  const Channel* channel(std::string_view name) const override;
  const Timeline& timeline() const override { return timeline_; }
  void seek(std::int64_t time_ns) override;
  std::int64_t frame_ns() const override { return frame_ns_; }
  SceneView& scene() override { return *scene_; }
  Renderer& renderer() override { return *renderer_; }
  Decoder& decoder() override { return *decoder_; }
  GraphState& graph() override { return *graph_; }
  const Prediction* prediction() const override { return check_.prediction(); }
  std::int64_t pixel_latency_ns(const std::string& channel) const override;
  const Node* node() override { return source_->node(); }
  void post(std::function<void()> work) override;
  void notify(std::string text, bool error) override;
  void edited(std::string_view action) override;
  void reselect() override { reselect_ = true; }
  std::map<std::string, CameraLayout>& saved_views() override { return views_; }
  void use_view(const std::string& name) override;
  void save_view(const std::string& name) override;
  void keep_drawing() override { more_frames_ = std::max(more_frames_, 1); }
  const Panel*& scene_owner() override { return scene_owner_; }
  void open_panel(std::string_view kind, const Settings& settings) override;
  bool show(const std::string& channel) override;
  const Theme& theme() const override { return theme_; }

  // The loop.
  void pump(std::int64_t now_ns);
  [[nodiscard]] bool wants_frame(std::int64_t now_ns) const;
  [[nodiscard]] std::int64_t next_ns(std::int64_t now_ns) const;
  void frame(std::int64_t now_ns);
  void frame_done();
  [[nodiscard]] bool has_waited() const;
  [[nodiscard]] bool settled() const;
  [[nodiscard]] bool all_arrived() const;

  // Time.
  void play(bool on);
  void follow_live();
  void step(int direction);
  void play_to(std::int64_t time_ns);
  /// Writes the past to a file named after the present time.
  void keep_past();
  void set_speed(double speed) { timeline_.speed = speed; }

  // Layouts.
  [[nodiscard]] Layout layout() const;
  void set_layout(const Layout& layout);
  void set_theme(const std::string& name);
  [[nodiscard]] Layout usual_layout() const;
  void save_layout_file(const std::string& path);
  void undo();
  void redo();
  /// A recording, a plan or a layout. `beside`: a source is compared with the present ones.
  /// Problems become notices. True if it was a source.
  bool open_file(const std::string& file, bool beside = false);

  // Several sources.
  void set_compare(const CompareLayout& compare);
  /// Aligns the sources again, as CompareLayout::align.
  void align_parts();
  void set_shift(std::size_t part, double seconds);
  [[nodiscard]] double shift_s(std::size_t part) const;

  AppOptions options_;
  std::function<void()> wake_;
  std::unique_ptr<Renderer> renderer_;
  std::unique_ptr<SceneView> scene_;
  std::unique_ptr<Source> source_;
  std::unique_ptr<Decoder> decoder_;
  std::unique_ptr<GraphState> graph_;
  CheckReader check_;
  Workspace workspace_;
  Timeline timeline_;
  Theme theme_;
  std::string theme_name_ = "dark";
  ThemeFonts fonts_;
  std::map<std::string, CameraLayout> views_;
  Vocabulary words_;
  History history_;
  std::string layout_file_;
  bool automatic_ = false;     ///< the layout grows with the channels
  bool frame_camera_ = false;  ///< the camera looks at everything once there is something
  double budget_mb_ = 512;
  std::vector<std::int64_t> bookmarks_;
  std::deque<Notice> notices_;
  UserSettings settings_;
  std::string open_name_;
  bool open_beside_ = false;  ///< the next file is compared with the present ones
  CompareLayout compare_;
  std::vector<std::int64_t> aligned_;  ///< offsets of the parts without their shifts
  bool quit_ = false;

  // State of the window's own widgets.
  bool show_help_ = false;
  bool show_search_ = false;
  std::string search_;
  int search_row_ = 0;
  std::string save_name_;
  bool ask_save_ = false;

 private:
  friend class App;
  void pass_to_scene(const Sample& sample);
  void pass_held();
  void advance(std::int64_t now_ns);
  void advance_recording(std::int64_t now_ns);
  void meet_channels();
  void select_channels();
  void seek_now(std::int64_t time_ns);
  [[nodiscard]] Lookback lookback() const;
  void forget_source();
  void first_instant();
  void sample_graph(std::int64_t now_ns);
  void apply_displays(const std::vector<DisplayLayout>& wanted);
  void use_camera(const CameraLayout& camera);
  /// The source has a fixed part of the budget. Panels may have half of the rest, and displays
  /// have the remaining part.
  void share_budget();
  [[nodiscard]] bool graph_wanted() const;
  void look_once(std::int64_t now_ns);

  Mutex posted_mutex_;
  std::vector<std::function<void()>> posted_ HYPHOS_GUARDED_BY(posted_mutex_);

  /// The delay from the arrival of samples to their frame.
  struct Delay {
    std::int64_t newest_ns = 0;  // arrival of the newest sample that is not yet shown, Unix time
    std::int64_t mean_ns = 0;
  };

  std::vector<std::vector<Panel*>> routes_;  // by channel id
  std::vector<Delay> delays_;                // by channel id
  std::size_t known_channels_ = 0;
  bool seeking_ = false;
  std::map<std::uint32_t, Sample> held_;  // of a seek, by channel id
  Lookback scene_lookback_;               // of the present seek, of displays only
  bool reselect_ = true;
  bool reseek_ = false;
  bool panel_changed_ = false;
  bool behind_ = false;     // playing: messages before the cursor wait
  bool more_data_ = false;  // the source has samples that this pump() did not take
  std::uint64_t samples_ = 0;
  std::string pending_edit_;
  const Panel* scene_owner_ = nullptr;

  std::int64_t pumped_ns_ = 0;
  std::int64_t frame_ns_ = 0;
  std::int64_t drawn_ns_ = 0;  // CLOCK_MONOTONIC of the last frame
  std::int64_t cpu_ns_ = 0;    // of this process, at the begin of the frame
  std::int64_t cost_ns_ = 2'000'000;
  std::int64_t graph_due_ns_ = 0;
  std::string graph_text_;
  std::int64_t next_change_ns_ = kNever;
  std::int64_t first_data_ns_ = 0;
  std::int64_t watched_ns_ = 0;  // live: since the start or the first data, without stalls
  bool has_data_ = false;
  int more_frames_ = 3;
  std::uint64_t frames_ = 0;
};

// Parts of the window. Each is in a file of its name.
void draw_top_bar(App::Impl& app);
void draw_timeline_bar(App::Impl& app, float height);
void draw_search(App::Impl& app);
void draw_help(App::Impl& app);
void draw_notices(App::Impl& app);
void press_shortcuts(App::Impl& app);

}  // namespace hyphos::view
