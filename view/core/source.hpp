#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "hyphos/result.hpp"
#include "view/core/sample.hpp"

namespace google::protobuf {
class DescriptorPool;
}

namespace hyphos::view {

/// The interval of the timeline that a source can show, Unix time in nanoseconds.
struct TimeRange {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

/// Messages of one channel that did not reach the displays, and why.
struct Loss {
  std::uint64_t received = 0;
  std::uint64_t dropped = 0;  ///< by the viewer: its queue was full
  std::uint64_t corrupt = 0;  ///< unreadable bytes in a recording
};

/// Receives samples in the order of their time.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void take(const Sample& sample) = 0;
  /// The samples that follow replace all earlier ones: after a seek or a jump of the time.
  virtual void clear() = 0;
};

/// Where messages come from: a running robot (sources/live.cpp) or a file (sources/recording.cpp).
///
/// All functions belong to the thread of the view. None of them blocks for longer than one chunk of
/// a recording takes to read. A new kind of source is one file and one line in sources/open.cpp.
class Source {
 public:
  virtual ~Source() = default;

  /// The channels so far, by id. Grows while a robot runs.
  [[nodiscard]] virtual std::span<const Channel> channels() const = 0;
  /// Definitions of all protobuf types of the channels. Lives as long as the source.
  [[nodiscard]] virtual const google::protobuf::DescriptorPool& types() const = 0;
  /// Names the channels that displays and panels use. The others cost the robot nothing.
  virtual void select(const std::set<std::string>& names) = 0;
  [[nodiscard]] virtual TimeRange range() const = 0;
  /// True while new messages arrive by themselves.
  [[nodiscard]] virtual bool live() const = 0;
  /// Passes all samples of selected channels in (the time of the last call, `until_ns`] to `sink`.
  /// A live source ignores `until_ns` and passes what has arrived. Returns the number of samples.
  virtual std::size_t advance(std::int64_t until_ns, Sink& sink) = 0;
  /// Clears `sink` and passes, for each selected channel, the samples in (time_ns - history_ns,
  /// time_ns], and at least the last one before `time_ns`, if there is one.
  virtual Result<void> seek(std::int64_t time_ns, std::int64_t history_ns, Sink& sink) = 0;
  /// The time of the next (`step` = 1) or previous (-1) message of the selected channels, or
  /// `time_ns` if there is none.
  [[nodiscard]] virtual std::int64_t step(std::int64_t time_ns, int step) const = 0;
  /// `wake` is called by another thread when advance() has something to pass.
  virtual void on_arrival(std::function<void()> wake) = 0;
  [[nodiscard]] virtual Loss loss(std::uint32_t channel) const = 0;
  /// Faults of the source as sentences for the status line: "run.mcap ends in the middle of a
  /// chunk at byte 1,234", "no process runs in domain 'x'".
  [[nodiscard]] virtual std::vector<std::string> problems() const = 0;
};

}  // namespace hyphos::view
