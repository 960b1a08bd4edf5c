// The time of the application: the instant that it shows, and the way from one to the next.
#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include "hyphos/time.hpp"
#include "view/app_impl.hpp"

namespace hyphos::view {
namespace {

constexpr std::int64_t kSceneHistory = 2 * kSecond;       // of decaying displays, after a seek
constexpr std::int64_t kMostSceneHistory = 60 * kSecond;  // of a seek, for decaying displays
constexpr std::int64_t kPumpTime = 12 * kMillisecond;     // of one pump(), so that input is fluent

}  // namespace

/// Shows a recording from the instant of the options.
void App::Impl::first_instant() {
  const TimeRange range = source_->range();
  std::int64_t to = range.begin_ns + static_cast<std::int64_t>(std::max(options_.at_s, 0.) * 1e9);
  if (options_.at_s < 0) {
    meet_channels();
    select_channels();
    to = source_->first_complete_ns(kMostSearch);
  }
  seek_now(std::min(to, range.end_ns));
  timeline_.playing = options_.play && options_.at_s < 0;
}

/// Of each channel, the past that its displays and panels show.
Lookback App::Impl::lookback() const {
  Lookback all;
  scene_->add_history(all, kSceneHistory, kMostSceneHistory);
  workspace_.for_each([&](Panel& panel) {
    if (!workspace_.visible(panel)) return;
    // A log shows more than the last line.
    const std::int64_t past = std::max(panel.history_ns(), kSceneHistory + kSecond);
    for (const std::string& name : panel.channels()) all.need(name, past);
  });
  return all;
}

void App::Impl::seek(std::int64_t time_ns) {
  const TimeRange range = source_->range();
  timeline_.now_ns = std::clamp(time_ns, range.begin_ns, std::max(range.begin_ns, range.end_ns));
  if (timeline_.live) {
    timeline_.follow = false;
    timeline_.playing = false;
  }
  reseek_ = true;
}

void App::Impl::seek_now(std::int64_t time_ns) {
  timeline_.now_ns = time_ns;
  meet_channels();
  select_channels();
  reseek_ = false;
  seeking_ = true;
  scene_lookback_ = Lookback();
  scene_->add_history(scene_lookback_, kSceneHistory, kMostSceneHistory);
  if (const auto done = source_->seek(time_ns, lookback(), *this); !done) {
    notify(done.error().to_string(), true);
  }
  pass_held();
  seeking_ = false;
  scene_->update(time_ns, timeline_.playing || timeline_.follow);
  panel_changed_ = true;
}

void App::Impl::follow_live() {
  if (!timeline_.live || timeline_.follow) return;
  timeline_.follow = true;
  source_->resume(lookback(), *this);
}

void App::Impl::play(bool on) {
  if (timeline_.live) {
    if (on) return follow_live();
    return seek(source_->range().end_ns);
  }
  if (on && timeline_.now_ns >= timeline_.range.end_ns) seek(timeline_.range.begin_ns);
  timeline_.playing = on;
}

void App::Impl::step(int direction) {
  timeline_.playing = false;
  seek(source_->step(timeline_.now_ns, direction));
}

void App::Impl::play_to(std::int64_t time_ns) {
  timeline_.playing = false;
  const std::int64_t to = std::min(time_ns, timeline_.range.end_ns);
  meet_channels();
  select_channels();
  if (reseek_ || to < timeline_.now_ns) return seek_now(to);
  while (source_->advance(to, *this) > 0) {
  }
  timeline_.now_ns = to;
  scene_->update(to, false);
  panel_changed_ = true;
}

void App::Impl::keep_past() {
  std::array<char, 48> name{};
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  std::strftime(name.data(), name.size(), "view-%Y%m%d-%H%M%S.mcap", &local);
  if (const auto kept = source_->keep_past(name.data()); !kept) {
    return notify(kept.error().to_string(), true);
  }
  notify(std::string("the past is written to ") + name.data(), false);
}

void App::Impl::advance_recording(std::int64_t now_ns) {
  if (!timeline_.playing) return;
  // The cursor waits for messages that the last call has left.
  const bool waits = pumped_ns_ == 0 || std::exchange(behind_, false);
  const std::int64_t passed = waits ? 0 : std::min(now_ns - pumped_ns_, kSecond / 4);
  std::int64_t to =
      timeline_.now_ns + static_cast<std::int64_t>(static_cast<double>(passed) * timeline_.speed);
  const std::int64_t end = timeline_.range.end_ns;
  if (to >= end && timeline_.loop) return seek_now(timeline_.range.begin_ns);
  to = std::min(to, end);
  const std::int64_t until = monotonic_now().ns + kPumpTime;
  while (source_->advance(to, *this) > 0) {
    if (monotonic_now().ns < until) continue;
    behind_ = more_data_ = true;
    break;
  }
  if (to == end && !behind_) timeline_.playing = false;
  timeline_.now_ns = to;
  panel_changed_ = true;
}

void App::Impl::advance(std::int64_t now_ns) {
  timeline_.range = source_->range();
  more_data_ = false;
  if (!timeline_.live) return advance_recording(now_ns);
  if (!timeline_.follow) {
    source_->advance(timeline_.now_ns, *this);  // the past grows meanwhile
    return;
  }
  const std::int64_t until = now_ns + kPumpTime;
  while (source_->advance(0, *this) > 0) {
    if (monotonic_now().ns >= until) {
      more_data_ = true;
      break;
    }
  }
  timeline_.now_ns = source_->range().end_ns;
}

}  // namespace hyphos::view
