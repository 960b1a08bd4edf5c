#include "view/app.hpp"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <utility>

#include "hyphos/time.hpp"
#include "view/app_impl.hpp"
#include "view/core/names.hpp"
#include "view/displays/registry.hpp"
#include "view/panels/widgets.hpp"
#include "view/sources/open.hpp"

namespace hyphos::view {
namespace {

constexpr std::int64_t kLeastPeriod = 33 * kMillisecond;  // of frames for arriving data
constexpr std::int64_t kMostPeriod = 250 * kMillisecond;
constexpr std::int64_t kCostShare = 12;  // a frame costs a twelfth of its period
constexpr std::int64_t kLookAfter = 400 * kMillisecond;
constexpr std::int64_t kFirstData = 3 * kSecond;           // for a complete picture of a robot
constexpr std::int64_t kLongestLook = 100 * kMillisecond;  // that one pump() counts as watched

std::int64_t cpu_now() {
  std::timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

}  // namespace

Vocabulary vocabulary() {
  Vocabulary words;
  for (const DisplayKind& kind : display_kinds()) {
    Kind made;
    made.name = kind.name;
    made.settings = display_settings(kind);
    for (const std::string_view type : kind.types) made.types.emplace_back(type);
    made.only_channel = kind.only_channel;
    words.displays.push_back(std::move(made));
  }
  for (const PanelKind& kind : panel_kinds()) {
    words.panels.push_back({std::string(kind.name), kind.settings, kind.types, ""});
  }
  return words;
}

App::Impl::Impl(const AppOptions& options, std::function<void()> wake)
    : options_(options), wake_(std::move(wake)), words_(vocabulary()) {}

App::Impl::~Impl() {
  check_.stop();  // it posts
  if (!source_) return;
  source_->on_arrival({});
  // Panels have messages of the decoder, and it has types of the source. The end of the source
  // waits for its callbacks, which post.
  workspace_.clear();
  graph_.reset();
  decoder_.reset();
  scene_.reset();
  source_.reset();
}

Result<void> App::Impl::open(GlLoader loader) {
  Layout first;
  if (!options_.layout_file.empty()) {
    auto loaded = load_layout(options_.layout_file, words_);
    if (!loaded) return loaded.error();
    first = std::move(*loaded);
    layout_file_ = options_.layout_file;
  }
  if (!options_.settings.empty()) settings_ = load_settings(options_.settings);
  budget_mb_ = options_.budget_mb > 0 ? options_.budget_mb : first.budget_mb;
  if (options_.layout_file.empty() && !settings_.theme.empty()) first.theme = settings_.theme;
  if (!options_.theme.empty()) first.theme = options_.theme;
  fonts_ = load_fonts(options_.scale);
  RendererOptions options;
  options.density = static_cast<double>(options_.scale);
  auto renderer = Renderer::open(loader, options);
  if (!renderer) return renderer.error();
  renderer_ = std::move(*renderer);
  scene_ = std::make_unique<SceneView>(*renderer_, static_cast<std::size_t>(budget_mb_ * 1e6));
  set_theme(first.theme);
  if (!options_.arrange.empty()) first.compare.arrange = options_.arrange;
  if (!options_.align.empty()) first.compare.align = options_.align;
  if (options_.shift_s != 0) first.compare.shift_s.assign(options_.more.size(), options_.shift_s);
  compare_ = first.compare;
  if (auto opened = open_source_named(options_.what); !opened) return opened;
  for (const std::string& each : options_.more) {
    if (auto opened = open_source_named(each, true); !opened) return opened;
  }
  if (!options_.past_file.empty()) {
    if (auto kept = source_->keep_past(options_.past_file); !kept) return kept;
  }
  if (options_.layout_file.empty()) {
    automatic_ = true;
    frame_camera_ = true;
    const CompareLayout compare = first.compare;
    first = usual_layout();
    first.compare = compare;
  } else {
    add_parts(first, source_->parts(), source_->channels());
  }
  first.budget_mb = budget_mb_;
  set_layout(first);
  history_.reset(layout());
  if (!options_.check_file.empty()) {
    check_.start(options_.check_file, *this);
  }
  if (!timeline_.live) first_instant();
  return {};
}

/// A layout for the first source. The others are shown in the same way.
Layout App::Impl::usual_layout() const {
  std::vector<Channel> own;
  for (const Channel& each : source_->channels()) {
    if (each.part == 0) own.push_back(each);
  }
  Layout made = default_layout(own, words_);
  made.theme = theme_name_;
  made.budget_mb = budget_mb_;
  add_parts(made, source_->parts(), source_->channels());
  extend_layout(made, source_->channels(), words_);
  return made;
}

Result<void> App::Impl::open_source_named(const std::string& what, bool beside) {
  OpenOptions options;
  options.domain = options_.domain;
  auto opened = open_source(what, options);
  if (!opened) return opened.error();
  if (!beside) {
    use_source(std::move(*opened));
  } else {
    if (source_->parts().size() >= kMaxParts) {
      return Error{Code::exhausted,
                   "at most " + std::to_string(kMaxParts) + " sources are shown together", what};
    }
    forget_source();
    std::unique_ptr<Source> shown = std::move(source_);
    const auto align = compare_.align == "time" ? Alignment::time : Alignment::start;
    auto joined = join_source(shown, std::move(*opened), align);
    use_source(std::move(shown));
    if (!joined) return joined;
  }
  if (!what.empty()) settings_.opened(what);
  return {};
}

/// Before the source goes: nothing of it remains in panels.
void App::Impl::forget_source() {
  clear();
  if (source_) source_->on_arrival({});
  workspace_.for_each([](Panel& panel) { panel.forget(); });
  graph_.reset();
  decoder_.reset();
}

void App::Impl::use_source(std::unique_ptr<Source> source) {
  forget_source();
  source_ = std::move(source);
  // Displays of a part that has gone.
  std::vector<std::uint32_t> gone;
  for (const SceneView::Item& item : scene_->items()) {
    for (const std::string& label : scene_->labels()) {
      const auto parts = source_->parts();
      const bool stays = std::any_of(parts.begin(), parts.end(),
                                     [&](const Part& part) { return part.label == label; });
      if (!stays && is_of_part(label, item.channel)) gone.push_back(item.id);
    }
  }
  for (const std::uint32_t id : gone) scene_->remove(id);
  const auto store = [this](std::size_t part) -> Store& { return renderer_->part(part); };
  scene_->set_parts(source_->parts(), store);
  align_parts();
  decoder_ = std::make_unique<Decoder>(source_->types());
  graph_ = std::make_unique<GraphState>(*source_);
  source_->on_arrival([this] { wake_(); });
  known_channels_ = 0;
  routes_.clear();
  delays_.clear();
  bookmarks_.clear();
  timeline_ = Timeline{};
  timeline_.range = source_->range();
  timeline_.live = source_->live();
  timeline_.follow = timeline_.live;
  timeline_.playing = !timeline_.live;
  timeline_.now_ns = timeline_.live ? timeline_.range.end_ns : timeline_.range.begin_ns;
  first_data_ns_ = 0;
  watched_ns_ = 0;
  has_data_ = false;
  graph_due_ns_ = 0;
  reselect_ = true;
  more_frames_ = 3;
}

const Channel* App::Impl::channel(std::string_view name) const {
  for (const Channel& one : source_->channels()) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

void App::Impl::take(const Sample& sample) {
  ++samples_;
  has_data_ = true;
  pass_to_scene(sample);
  if (sample.channel >= routes_.size()) return;
  delays_[sample.channel].newest_ns = sample.time_ns;
  for (Panel* panel : routes_[sample.channel]) {
    panel_changed_ =
        panel->take(*this, source_->channels()[sample.channel], sample) || panel_changed_;
  }
}

/// After a seek, panels get the past that a plot shows. Displays get only their own part of it, and
/// the last sample before that: a display would decode each image of a minute.
void App::Impl::pass_to_scene(const Sample& sample) {
  if (!seeking_ || has_transforms(source_->channels()[sample.channel])) {
    return scene_->take(sample);
  }
  const std::string& name = source_->channels()[sample.channel].name;
  if (sample.time_ns <= timeline_.now_ns - scene_lookback_.of(name)) {
    held_[sample.channel] = sample;
    return;
  }
  pass_held();
  scene_->take(sample);
}

void App::Impl::pass_held() {
  std::vector<Sample> held;
  for (auto& [channel, sample] : held_) held.push_back(std::move(sample));
  held_.clear();
  std::sort(held.begin(), held.end(),
            [](const Sample& a, const Sample& b) { return a.time_ns < b.time_ns; });
  for (const Sample& one : held) scene_->take(one);
}

void App::Impl::clear() {
  held_.clear();
  if (scene_) scene_->clear();
  workspace_.for_each([](Panel& panel) { panel.clear(); });
  panel_changed_ = true;
}

void App::Impl::post(std::function<void()> work) {
  {
    const MutexLock lock(posted_mutex_);
    posted_.push_back(std::move(work));
  }
  wake_();
}

void App::Impl::notify(std::string text, bool error) {
  for (Notice& one : notices_) {
    if (one.text == text) {
      one.until_ns = pumped_ns_ + 6 * kSecond;
      return;
    }
  }
  constexpr std::size_t kMost = 4;
  if (notices_.size() >= kMost) notices_.pop_front();
  notices_.push_back({std::move(text), error, error ? kNever : pumped_ns_ + 6 * kSecond});
  more_frames_ = std::max(more_frames_, 2);
}

// The loop.

void App::Impl::meet_channels() {
  const auto all = source_->channels();
  if (all.size() == known_channels_) return;
  const std::vector<Channel> added(all.begin() + static_cast<std::ptrdiff_t>(known_channels_),
                                   all.end());
  known_channels_ = all.size();
  scene_->set_channels(all);
  if (automatic_) {
    Layout grown = layout();
    extend_layout(grown, added, words_);
    set_layout(grown);
    history_.reset(layout());
  }
  reselect_ = true;
  more_frames_ = std::max(more_frames_, 2);
}

void App::Impl::select_channels() {
  if (!reselect_) return;
  reselect_ = false;
  std::set<std::string> names = scene_->channels();
  routes_.assign(source_->channels().size(), {});
  delays_.resize(routes_.size());
  bool grown = false;
  workspace_.for_each([&](Panel& panel) {
    if (!workspace_.visible(panel)) return;
    for (const std::string& name : panel.channels()) {
      names.insert(name);
      if (const Channel* found = channel(name)) {
        routes_[found->id].push_back(&panel);
        grown = true;
      }
    }
  });
  source_->select(names);
  // A new panel of a recording, or of a paused robot, shows the present instant at once.
  if (grown && (!timeline_.live || !timeline_.follow)) reseek_ = true;
  panel_changed_ = true;
}

bool App::Impl::graph_wanted() const {
  bool wanted = false;
  workspace_.for_each(
      [&](Panel& panel) { wanted = wanted || (panel.wants_graph() && workspace_.visible(panel)); });
  return wanted;
}

void App::Impl::sample_graph(std::int64_t now_ns) {
  if (now_ns < graph_due_ns_ || !graph_wanted()) return;
  graph_due_ns_ = now_ns + GraphState::kPeriodNs;
  if (!graph_->sample()) return;
  // Only numbers that panels show: a silent robot draws no frame.
  std::string text;
  for (const ChannelRow& row : graph_->snapshot().channels) {
    text += row.name + rate_text(row.rate_hz) + bytes_text(row.bytes_per_s) +
            std::to_string(row.dropped) + "," + std::to_string(row.publishers) + "," +
            std::to_string(row.subscribers);
    for (const LatencyRow& layer : row.latency) text += duration_text(layer.p99_ns);
  }
  for (const GraphNode& node : graph_->snapshot().nodes) text += node.node + "@" + node.process;
  if (text == graph_text_) return;
  graph_text_ = std::move(text);
  panel_changed_ = true;
}

void App::Impl::look_once(std::int64_t now_ns) {
  if (!frame_camera_ || first_data_ns_ == 0) return;
  if (scene_->camera().dragging()) {
    frame_camera_ = false;
    return;
  }
  if (timeline_.live || timeline_.playing) {
    if (now_ns - first_data_ns_ < kLookAfter) return;
    // A picture is drawn once, so its view waits for all channels. A window draws each message that
    // has arrived.
    if (timeline_.live && !options_.play && !has_waited() && !all_arrived()) return;
  }
  if (scene_->bounds().empty()) return;
  scene_->look_at_all();
  frame_camera_ = false;
}

void App::Impl::pump(std::int64_t now_ns) {
  std::vector<std::function<void()>> work;
  {
    const MutexLock lock(posted_mutex_);
    work.swap(posted_);
  }
  for (const auto& one : work) one();
  if (!work.empty()) more_frames_ = std::max(more_frames_, 2);
  meet_channels();
  select_channels();
  if (scene_->take_reseek()) reseek_ = true;
  if (reseek_) {
    if (timeline_.live && timeline_.follow) {
      reseek_ = false;  // the past of the source has the samples again
      source_->resume(lookback(), *this);
    } else {
      seek_now(timeline_.now_ns);
    }
  }
  advance(now_ns);
  // A stall of this process is no time in which a robot was silent.
  if (pumped_ns_ != 0) {
    watched_ns_ += std::clamp<std::int64_t>(now_ns - pumped_ns_, 0, kLongestLook);
  }
  if (has_data_ && first_data_ns_ == 0) {
    first_data_ns_ = now_ns;
    watched_ns_ = 0;
  }
  share_budget();
  pumped_ns_ = now_ns;
  scene_->update(timeline_.now_ns, timeline_.playing || timeline_.follow);
  look_once(now_ns);
  sample_graph(now_ns);
  while (!notices_.empty() && notices_.front().until_ns <= now_ns) {
    notices_.pop_front();
    more_frames_ = std::max(more_frames_, 1);
  }
}

bool App::Impl::wants_frame(std::int64_t now_ns) const {
  if (more_frames_ > 0) return true;
  const bool scene = scene_owner_ != nullptr;
  if (scene && renderer_->refining()) return true;
  const bool changed = panel_changed_ || now_ns >= next_change_ns_ ||
                       (scene && (scene_->changed() || renderer_->changed()));
  const std::int64_t period = std::clamp(cost_ns_ * kCostShare, kLeastPeriod, kMostPeriod);
  return changed && now_ns - drawn_ns_ >= period;
}

std::int64_t App::Impl::next_ns(std::int64_t now_ns) const {
  if (more_frames_ > 0 || more_data_) return now_ns;
  const bool scene = scene_owner_ != nullptr;
  if (scene && renderer_->refining()) return now_ns;
  const std::int64_t period = std::clamp(cost_ns_ * kCostShare, kLeastPeriod, kMostPeriod);
  std::int64_t next = next_change_ns_;
  if (panel_changed_ || (scene && (scene_->changed() || renderer_->changed()))) {
    next = std::min(next, drawn_ns_ + period);
  }
  if (!timeline_.live && timeline_.playing) next = std::min(next, drawn_ns_ + period);
  if (const auto redraw = renderer_->redraw_in_ms(); scene && redraw) {
    const auto left = static_cast<std::int64_t>(std::max(*redraw, 0.) * 1e6);
    next = std::min(next, std::max(now_ns + left, drawn_ns_ + period));
  }
  if (timeline_.live && graph_wanted()) next = std::min(next, graph_due_ns_);
  if (timeline_.live && source_->ticks()) next = std::min(next, drawn_ns_ + period);
  if (frame_camera_ && first_data_ns_ != 0 && now_ns < first_data_ns_ + kLookAfter) {
    next = std::min(next, first_data_ns_ + kLookAfter);
  }
  for (const Notice& one : notices_) next = std::min(next, one.until_ns);
  return std::max(next, now_ns);
}

std::int64_t App::Impl::pixel_latency_ns(const std::string& name) const {
  const Channel* found = channel(name);
  return found == nullptr || found->id >= delays_.size() ? 0 : delays_[found->id].mean_ns;
}

void App::Impl::frame_done() {
  // The driver has the texture of the letters now, and its copy is enough: 2 MB.
  if (frames_ == 1) ImGui::GetIO().Fonts->ClearTexData();
  if (timeline_.live && timeline_.follow) {
    const std::int64_t now = wall_now().ns;
    for (Delay& delay : delays_) {
      if (delay.newest_ns == 0) continue;
      const std::int64_t passed = std::max<std::int64_t>(now - delay.newest_ns, 0);
      delay.mean_ns = delay.mean_ns == 0 ? passed : (delay.mean_ns * 7 + passed) / 8;
      delay.newest_ns = 0;
    }
  }
  // The mean of the last frames, because single ones vary with the window system.
  cost_ns_ = (cost_ns_ * 3 + (cpu_now() - cpu_ns_)) / 4;
}

/// True once a robot had the time for its first message, or for those of all its channels.
bool App::Impl::has_waited() const { return watched_ns_ > kFirstData; }

bool App::Impl::settled() const {
  if (reseek_ || reselect_ || more_data_ || more_frames_ > 0 || check_.running()) return false;
  if (scene_owner_ != nullptr && (renderer_->refining() || scene_->changed())) return false;
  // Without a message, the robot does not run, or publishes nothing that is shown.
  if (!timeline_.live || has_waited()) return true;
  // The channels of a robot are found one after another.
  if (first_data_ns_ == 0 || watched_ns_ < 2 * kLookAfter) return false;
  return all_arrived();
}

/// True if each shown channel of a running robot has a message, and no panel waits. A message that
/// arrived after the last pump() is not yet shown.
bool App::Impl::all_arrived() const {
  if (graph_wanted() && !graph_->complete()) return false;
  const std::set<std::string> shown = scene_->channels();
  for (const Channel& one : source_->channels()) {
    if (shown.contains(one.name) && one.messages == 0) return false;
  }
  bool waits = false;
  workspace_.for_each(
      [&](const Panel& panel) { waits = waits || (workspace_.visible(panel) && panel.waits()); });
  return !waits;
}

// The public side.

App::App(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
App::~App() = default;

Result<std::unique_ptr<App>> App::open(const AppOptions& options, GlLoader loader,
                                       std::function<void()> wake) {
  auto impl = std::make_unique<Impl>(options, std::move(wake));
  if (auto opened = impl->open(loader); !opened) return opened.error();
  return std::unique_ptr<App>(new App(std::move(impl)));
}

void App::pump(std::int64_t now_ns) { impl_->pump(now_ns); }
void App::invalidate() { impl_->more_frames_ = std::max(impl_->more_frames_, 2); }
bool App::wants_frame(std::int64_t now_ns) const { return impl_->wants_frame(now_ns); }
std::int64_t App::next_ns(std::int64_t now_ns) const { return impl_->next_ns(now_ns); }
void App::frame(std::int64_t now_ns) {
  impl_->cpu_ns_ = cpu_now();
  impl_->frame(now_ns);
}
void App::frame_done() { impl_->frame_done(); }
std::uint64_t App::frames() const { return impl_->frames_; }
Color App::clear_color() const {
  const std::uint32_t color = impl_->theme_.background;  // ABGR, as ImGui packs it
  return {static_cast<std::uint8_t>(color), static_cast<std::uint8_t>(color >> 8U),
          static_cast<std::uint8_t>(color >> 16U), 255};
}
bool App::settled() const { return impl_->settled(); }
Result<void> App::check_result() const {
  if (impl_->check_.problem()) return *impl_->check_.problem();
  return success();
}
std::string App::title() const { return impl_->source_->title() + " - Hyphos"; }
bool App::quit_requested() const { return impl_->quit_; }
Layout App::layout() const { return impl_->layout(); }
void App::set_layout(const Layout& layout) {
  impl_->set_layout(layout);
  impl_->edited("set the layout");
}
Session& App::session() { return *impl_; }
void App::play_to(double at_s) {
  impl_->play_to(impl_->timeline_.range.begin_ns + static_cast<std::int64_t>(at_s * 1e9));
}

bool App::Impl::open_file(const std::string& file, bool beside) {
  if (file.ends_with(".yaml") || file.ends_with(".yml")) {
    if (auto loaded = load_layout(file, words_)) {
      layout_file_ = file;
      add_parts(*loaded, source_->parts(), source_->channels());
      set_layout(*loaded);
      edited("load a layout");
      notify("loaded " + file, false);
      return false;
    } else if (loaded.error().message.find("hyphos_view: missing") == std::string::npos) {
      notify(loaded.error().to_string(), true);
      return false;
    }
  }
  const std::int64_t now = timeline_.now_ns;
  if (auto opened = open_source_named(file, beside); !opened) {
    notify(opened.error().to_string(), true);
    return false;
  }
  Layout shown = layout();
  add_parts(shown, source_->parts(), source_->channels());
  set_layout(shown);
  frame_camera_ = frame_camera_ || !beside;
  if (timeline_.live) return true;
  if (!beside) {
    options_.at_s = -1;
    first_instant();
  } else {
    timeline_.playing = false;
    seek(now);
  }
  return true;
}

void App::open_files(const std::vector<std::string>& files) {
  bool beside = false;
  for (const std::string& file : files) beside = impl_->open_file(file, beside) || beside;
  invalidate();
}

void App::abandon() {
  if (!impl_->source_) return;
  impl_->source_->on_arrival({});
  impl_->source_.reset();
}

void App::save_settings(int width, int height) {
  if (impl_->options_.settings.empty()) return;
  impl_->settings_.width = width;
  impl_->settings_.height = height;
  impl_->settings_.theme = impl_->theme_name_;
  view::save_settings(impl_->options_.settings, impl_->settings_);
}

}  // namespace hyphos::view
