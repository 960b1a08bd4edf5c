#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hyphos/clock.hpp"
#include "hyphos/codec.hpp"
#include "hyphos/policy.hpp"
#include "hyphos/result.hpp"

namespace hyphos {

/// A copy of a histogram of durations in nanoseconds. Bucket edges are log-linear as in
/// HdrHistogram.
struct HistogramSnapshot {
  std::uint64_t count = 0;
  std::int64_t min_ns = 0;
  std::int64_t max_ns = 0;
  double mean_ns = 0;
  /// (upper edge in ns, count) of every bucket that is not empty, in order.
  std::vector<std::pair<std::int64_t, std::uint64_t>> buckets;

  /// The value below which `fraction` (0..1) of the samples lie; 0 without samples.
  [[nodiscard]] HYPHOS_EXPORT std::int64_t percentile_ns(double fraction) const;
  /// What was recorded after `earlier` was taken. min and max are then those of the buckets.
  [[nodiscard]] HYPHOS_EXPORT HistogramSnapshot since(const HistogramSnapshot& earlier) const;
};

/// One end of one channel in one process, read live and without disturbing it.
struct EndpointInfo {
  std::string channel;
  std::string node;
  std::string type_name;
  Encoding encoding = Encoding::bytes;
  std::uint64_t type_hash = 0;
  bool is_publisher = false;
  Policy policy;
  Mode mode = Mode::serial;  ///< subscriptions only
  std::string transports;    ///< those in use now, e.g. "pointer+shm"
  std::int64_t last_ns = 0;  ///< CLOCK_MONOTONIC of the last message, 0: none yet
  /// Counters that are not zero, by name: "sent", "received", "bytes", "drop.queue.overflow",
  /// "drop.shm.disconnected", "deadline_missed", "callback_error", ...
  std::vector<std::pair<std::string, std::uint64_t>> counters;
  /// publish() to callback start; subscriptions only.
  HistogramSnapshot latency;
  /// By layer: "encode", "submit", "transport", "deliver", "queue", "decode", "callback".
  std::vector<std::pair<std::string, HistogramSnapshot>> layers;
  std::uint64_t id = 0;  ///< unique within its process, also over time

  [[nodiscard]] HYPHOS_EXPORT std::uint64_t counter(std::string_view name) const;
};

/// Exceptions that have left callbacks of subscriptions and timers of a process.
struct CallbackErrors {
  std::uint64_t count = 0;
  std::string first;  ///< whose callback threw first, and what
};

/// What a process has for the time.
struct ClockStatus {
  ClockMode mode = ClockMode::real;
  std::string channel;       ///< simulated: where the time comes from
  bool ready = false;        ///< simulated: it has come
  bool paused = false;       ///< simulated
  bool replayed = false;     ///< simulated: the times are those of a recording
  double speed = 1;          ///< simulated: as the simulator says; 0: it does not
  std::int64_t now_ns = 0;   ///< simulated: the last that came; real: Unix time, now
  std::int64_t base_ns = 0;  ///< see Clock::base()
  std::uint64_t jumps = 0;   ///< how often it was set
};

/// The clock of another machine as measured over a link to it; see docs/time.md.
struct PeerClock {
  std::string process;              ///< the peer over which it was measured
  std::string endpoint;             ///< where it is
  std::uint64_t host = 0;           ///< identity of its kernel
  std::int64_t offset_ns = 0;       ///< its monotonic clock minus ours
  std::int64_t wall_ahead_ns = 0;   ///< its wall clock minus ours
  std::int64_t uncertainty_ns = 0;  ///< the truth of both lies within ± this
  std::int64_t round_trip_ns = 0;   ///< of the best exchange
  double drift_ppm = 0;             ///< of its monotonic clock against ours; 0: not known yet
  std::uint64_t samples = 0;        ///< exchanges so far
  std::int64_t measured_ns = 0;     ///< CLOCK_MONOTONIC here at the last one
};

enum class ProcessState : std::uint8_t {
  starting,  ///< its nodes are being made
  ready,     ///< it spins: all of them stand
  stopping,
};
[[nodiscard]] HYPHOS_EXPORT std::string_view to_string(ProcessState value);
/// A channel as one process sees it.
struct ChannelInfo {
  std::string name;
  TypeId type;
  Policy policy;
  std::uint32_t publishers = 0;  ///< known now, in this process and outside
};

struct ProcessInfo {
  std::string name;
  std::string host;
  std::int32_t pid = 0;
  std::uint64_t participant = 0;
  ProcessState state = ProcessState::starting;
  /// CLOCK_MONOTONIC of the last heartbeat of its thread pool; 0: the plan asks for none.
  std::int64_t heartbeat_ns = 0;
  std::vector<EndpointInfo> endpoints;
  ClockStatus clock;
  std::vector<PeerClock> peer_clocks;  ///< of other machines
};

/// All Hyphos processes of this user and `domain` on this machine. Reads shared memory only: costs
/// the observed processes nothing.
HYPHOS_EXPORT Result<std::vector<ProcessInfo>> inspect(const std::string& domain);

/// One message at one end of a channel, as the flight recorder of its process kept it: a publish()
/// or a callback that ended. Times are CLOCK_MONOTONIC nanoseconds of this machine as in Stamps; 0:
/// not crossed. Plain words, since tools read them by the hundred thousand.
struct MessageEvent {
  std::uint32_t thread = 0;    ///< of the kernel
  std::uint16_t received = 0;  ///< 1: a callback; 0: a publish()
  std::uint16_t replayed = 0;  ///< 1: a latched value that was sent again
  std::uint64_t endpoint = 0;  ///< RecordedEnd::id
  std::uint64_t sender = 0;    ///< with `sequence`: which message
  std::uint64_t sequence = 0;
  std::uint64_t bytes = 0;  ///< encoded; 0: a pointer
  std::int64_t publish_ns = 0;
  std::int64_t encoded_ns = 0;
  std::int64_t submitted_ns = 0;
  std::int64_t arrived_ns = 0;
  std::int64_t scheduled_ns = 0;
  std::int64_t dequeued_ns = 0;  ///< taken from the queue
  std::int64_t decoded_ns = 0;
  std::int64_t callback_ns = 0;
  std::int64_t end_ns = 0;           ///< of the callback
  std::uint64_t cause_sender = 0;    ///< publish(): the message in whose callback it was called;
  std::uint64_t cause_sequence = 0;  ///< 0: outside of one, such as in a timer
  std::uint64_t cause_endpoint = 0;
};

struct RecordedEnd {
  std::uint64_t id = 0;
  std::string channel;
  std::string node;
  bool is_publisher = false;
};

/// What one process did since the last look.
struct RecordedEvents {
  std::string process;
  std::int32_t pid = 0;
  std::uint64_t participant = 0;
  std::uint64_t next = 0;         ///< where the next look goes on
  std::uint64_t missed = 0;       ///< events that were overwritten before they were read
  std::vector<RecordedEnd> ends;  ///< that exist now
  std::vector<MessageEvent> events;
};

/// What the flight recorders of all processes hold that came after `since` (RecordedEvents::next by
/// participant; who is not in it: all that is still there). A recorder holds the last 4096 events
/// of its process. Reads shared memory only, as inspect().
HYPHOS_EXPORT Result<std::vector<RecordedEvents>> recorded_events(
    const std::string& domain, const std::map<std::uint64_t, std::uint64_t>& since = {});

}  // namespace hyphos
