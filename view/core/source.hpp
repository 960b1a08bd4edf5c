#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hyphos/result.hpp"
#include "view/core/sample.hpp"

namespace google::protobuf {
class DescriptorPool;
}

namespace hyphos {
class Node;
}

namespace hyphos::view {

/// The interval of the timeline that a source can show, Unix time in nanoseconds. Empty (0, 0)
/// without a message.
struct TimeRange {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

/// Messages of one channel that did not reach the displays, and why.
struct Loss {
  std::uint64_t received = 0;
  std::uint64_t dropped = 0;  ///< by the viewer: its queue was full
  std::uint64_t missing = 0;  ///< gaps in the publishers' numbers: lost before the viewer
  std::uint64_t corrupt = 0;  ///< unreadable bytes in a recording
};

/// Source::advance() ends after this many bytes, so that a frame is drawn in between.
inline constexpr std::size_t kMaxPassed = 64U << 20U;

/// The past that a seek passes, for each channel.
class Lookback {
 public:
  /// The same past of all channels.
  Lookback(std::int64_t ns = 0) : all_(ns) {}  // NOLINT: implicit by design

  void need(const std::string& channel, std::int64_t ns) {
    std::int64_t& longest = longer_[channel];
    longest = std::max(longest, ns);
  }
  [[nodiscard]] std::int64_t of(const std::string& channel) const {
    const auto found = longer_.find(channel);
    return std::max<std::int64_t>(found == longer_.end() ? all_ : std::max(all_, found->second), 0);
  }

 private:
  std::int64_t all_;
  std::map<std::string, std::int64_t> longer_;
};

/// One of the sources that are shown together. A source alone is its only part.
struct Part {
  std::string label;  ///< empty for the first part, "b" for channels "b/scan"
  std::string title;
  TimeRange range;             ///< on the common timeline
  std::int64_t offset_ns = 0;  ///< from its own time to the common timeline
  bool live = false;
};

/// Receives the samples of each part of a source in the order of their time. After a seek, the last
/// values before its past come first.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void take(const Sample& sample) = 0;
  /// The samples that follow replace all earlier ones: after a seek or a jump of the time.
  virtual void clear() = 0;
};

/// Metadata of a recording: docs/reference/recording.md, e.g. "hyphos.recording".
using Metadata = std::map<std::string, std::map<std::string, std::string>>;

/// Where messages come from: a running robot (sources/live.cpp) or a file (sources/recording.cpp).
///
/// All functions belong to the thread of the view. None of them blocks for longer than one chunk of
/// a recording takes to read. A new kind of source is one file and one line in sources/open.cpp.
class Source {
 public:
  virtual ~Source() = default;

  /// One line for titles: "run.mcap", "domain 'robot1'".
  [[nodiscard]] virtual std::string title() const = 0;
  /// The channels so far, by id. Grows while a robot runs. The span is valid until the next call of
  /// select(), advance() or seek().
  [[nodiscard]] virtual std::span<const Channel> channels() const = 0;
  /// Definitions of all protobuf types of the channels. Lives as long as the source.
  [[nodiscard]] virtual const google::protobuf::DescriptorPool& types() const = 0;
  /// Names the channels that displays and panels use. The others cost the robot nothing. A seek()
  /// afterwards passes the earlier messages of a channel that was added.
  virtual void select(const std::set<std::string>& names) = 0;
  [[nodiscard]] virtual TimeRange range() const = 0;
  /// True while new messages arrive by themselves.
  [[nodiscard]] virtual bool live() const = 0;
  /// Passes all samples of selected channels in (the time of the last call, `until_ns`] to `sink`.
  /// A live source ignores `until_ns` and passes all arrived messages, unless seek() paused it.
  /// Returns the number of samples. A call passes a bounded number of bytes: while it returns a
  /// number that is not 0, more may wait.
  virtual std::size_t advance(std::int64_t until_ns, Sink& sink) = 0;
  /// Clears `sink` and passes, for each selected channel, the samples of its `history` before
  /// `time_ns`, and at least the last one, if there is one. Of a latched channel it passes the
  /// earlier values, too, because each publisher has its own. A live source is then paused: it
  /// keeps arriving messages, and advance() plays the past, until resume().
  virtual Result<void> seek(std::int64_t time_ns, const Lookback& history, Sink& sink) = 0;
  /// Live: ends the pause of a seek(). Passes the kept messages of `history`, then advance() goes
  /// on with new messages. A recording has nothing to do.
  virtual void resume(const Lookback& /*history*/, Sink& /*sink*/) {}
  /// The first instant at which each selected channel has a value, apart from those that have none
  /// within `most_ns` after the begin. Reads no more than the chunks of these values.
  [[nodiscard]] virtual std::int64_t first_complete_ns(std::int64_t /*most_ns*/) const {
    return range().begin_ns;
  }
  /// The time of the next (`step` = 1) or previous (-1) message of the selected channels, or
  /// `time_ns` if there is none.
  [[nodiscard]] virtual std::int64_t step(std::int64_t time_ns, int step) const = 0;
  /// Takes over messages that were appended to a growing recording. True if there are any.
  virtual bool refresh() { return false; }
  /// Live: writes the past and all that arrives to a recording, from which seek() reads. The past
  /// is then bounded by the disk. Errors: already_exists, permission, exhausted, and unsupported
  /// for a recording. A disk that is full later is one of problems(), and the past is as before.
  virtual Result<void> keep_past(const std::string& file) {
    return Error{Code::unsupported, "a recording has its past already", file};
  }
  /// The file of keep_past(), empty without one.
  [[nodiscard]] virtual std::string past_file() const { return {}; }

  /// `wake` is called by another thread when advance() has something to pass.
  virtual void on_arrival(std::function<void()> wake) = 0;
  /// True if advance() of a live source passes samples because time goes by, without a wake.
  [[nodiscard]] virtual bool ticks() const { return false; }
  [[nodiscard]] virtual Loss loss(std::uint32_t channel) const = 0;
  /// Faults of the source as sentences for the status line: "run.mcap ends in the middle of a
  /// chunk at byte 1,234", "no process runs in domain 'x'".
  [[nodiscard]] virtual std::vector<std::string> problems() const = 0;

  /// Bytes of messages in memory: the past of a live source, the chunks of a recording.
  [[nodiscard]] virtual std::size_t memory() const = 0;
  /// The limit of memory(). Lowering it drops the oldest.
  virtual void limit_memory(std::size_t bytes) = 0;
  /// Live: the robot's domain, for hyphos::inspect() and the panels. Empty for a recording.
  [[nodiscard]] virtual std::string domain() const { return {}; }
  /// Live: the viewer's node, for tools that publish or call. Null for a recording.
  [[nodiscard]] virtual const Node* node() const { return nullptr; }
  [[nodiscard]] virtual const Metadata& metadata() const = 0;
  /// The text of an attachment of a recording ("robot.yaml", "plan.json"). Not found if there is
  /// none, and for a live source.
  [[nodiscard]] virtual Result<std::string> attachment(std::string_view name) const = 0;

  /// The parts by Channel::part.
  [[nodiscard]] virtual std::vector<Part> parts() const {
    return {{{}, title(), range(), 0, live()}};
  }
  /// Shifts a part on the common timeline, apart from live ones. Call seek() afterwards.
  virtual void set_offset(std::size_t /*part*/, std::int64_t /*offset_ns*/) {}
};

}  // namespace hyphos::view
