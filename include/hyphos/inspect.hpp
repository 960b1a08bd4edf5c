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

/// A copy of a histogram of durations in nanoseconds. The bucket edges are log-linear as in
/// HdrHistogram.
struct HistogramSnapshot {
  std::uint64_t count = 0;
  std::int64_t min_ns = 0;
  std::int64_t max_ns = 0;
  double mean_ns = 0;
  /// Pairs (upper edge in ns, count) of every bucket that is not empty, in ascending order.
  std::vector<std::pair<std::int64_t, std::uint64_t>> buckets;

  /// The value below which `fraction` (0..1) of the samples are. 0 without samples.
  [[nodiscard]] HYPHOS_EXPORT std::int64_t percentile_ns(double fraction) const;
  /// The samples recorded since `earlier` was taken. min and max are then bucket edges.
  [[nodiscard]] HYPHOS_EXPORT HistogramSnapshot since(const HistogramSnapshot& earlier) const;
};

/// A snapshot of one endpoint in one process. Reading it does not disturb the process.
struct EndpointInfo {
  std::string channel;
  std::string node;
  std::string type_name;
  Encoding encoding = Encoding::bytes;
  std::uint64_t type_hash = 0;
  bool is_publisher = false;
  Policy policy;
  Mode mode = Mode::serial;  ///< subscriptions only
  std::string transports;    ///< the transports in use now, e.g. "pointer+shm"
  std::int64_t last_ns = 0;  ///< CLOCK_MONOTONIC of the last message, 0 before the first
  /// Counters that are not zero, by name: "sent", "received", "bytes", "drop.queue.overflow",
  /// "drop.shm.disconnected", "deadline_missed", "callback_error", ...
  std::vector<std::pair<std::string, std::uint64_t>> counters;
  /// Time from publish() to the start of the callback. Subscriptions only.
  HistogramSnapshot latency;
  /// Durations by layer: "encode", "submit", "transport", "deliver", "queue", "decode", "callback".
  std::vector<std::pair<std::string, HistogramSnapshot>> layers;
  std::uint64_t id = 0;  ///< unique within its process, also over time

  [[nodiscard]] HYPHOS_EXPORT std::uint64_t counter(std::string_view name) const;
};

/// Exceptions thrown by callbacks of subscriptions and timers of a process.
struct CallbackErrors {
  std::uint64_t count = 0;
  std::string first;  ///< the callback that threw first, and its exception
};

/// The state of a process's clock.
struct ClockStatus {
  ClockMode mode = ClockMode::real;
  std::string channel;       ///< simulated: the source of the time
  bool ready = false;        ///< simulated: the first time has arrived
  bool paused = false;       ///< simulated
  bool replayed = false;     ///< simulated: the times are those of a recording
  double speed = 1;          ///< simulated: as the simulator publishes it, 0 if it does not
  std::int64_t now_ns = 0;   ///< simulated: the last received time, real: Unix time now
  std::int64_t base_ns = 0;  ///< see Clock::base()
  std::uint64_t jumps = 0;   ///< number of jumps
};

/// The clock of another machine, measured over a link to that machine. See docs/how-to/time.md.
struct PeerClock {
  std::string process;              ///< the peer at the other end of the link
  std::string endpoint;             ///< network address of the peer
  std::uint64_t host = 0;           ///< identity of the peer's kernel
  std::int64_t offset_ns = 0;       ///< peer's monotonic clock minus ours
  std::int64_t wall_ahead_ns = 0;   ///< peer's wall clock minus ours
  std::int64_t uncertainty_ns = 0;  ///< bound of the error of both offsets: ± this
  std::int64_t round_trip_ns = 0;   ///< of the best exchange
  double drift_ppm = 0;             ///< peer's monotonic clock against ours, 0 while unknown
  std::uint64_t samples = 0;        ///< exchanges so far
  std::int64_t measured_ns = 0;     ///< CLOCK_MONOTONIC here at the last exchange
};

/// The phase of a process, as `hyphos node list` shows it.
enum class ProcessState : std::uint8_t {
  starting,  ///< its nodes are being constructed
  ready,     ///< all nodes are constructed, and the process spins
  stopping,
};
[[nodiscard]] HYPHOS_EXPORT std::string_view to_string(ProcessState value);

/// The state of a channel as seen by one process.
struct ChannelInfo {
  std::string name;
  TypeId type;
  Policy policy;
  std::uint32_t publishers = 0;  ///< known now, in this process and others
};

/// A snapshot of one Hyphos process of this machine.
struct ProcessInfo {
  std::string name;
  std::string host;
  std::int32_t pid = 0;
  std::uint64_t participant = 0;  ///< identifies the process in its domain
  ProcessState state = ProcessState::starting;
  /// CLOCK_MONOTONIC of the last heartbeat of its thread pool. 0: the plan requests no heartbeat.
  std::int64_t heartbeat_ns = 0;
  std::vector<EndpointInfo> endpoints;
  ClockStatus clock;
  std::vector<PeerClock> peer_clocks;  ///< clocks of other machines
};

/// Lists all Hyphos processes of this user and `domain` on this machine. Thread-safe. Reads shared
/// memory only, at no cost for the observed processes. Allocates. An empty list means that no
/// process runs.
HYPHOS_EXPORT Result<std::vector<ProcessInfo>> inspect(const std::string& domain);

/// The definitions of the protobuf types that a process uses on its channels, services and actions.
struct AnnouncedTypes {
  std::uint64_t participant = 0;  ///< ProcessInfo::participant
  std::int32_t pid = 0;
  std::string process;
  /// A FileDescriptorSet as the process wrote it, at most 4 MiB: the .proto files and their
  /// imports, imports first, without those of Hyphos and protobuf. A reader checks it.
  std::string descriptors;
};

/// Reads the definitions of all processes of this user and `domain` on this machine, as inspect()
/// reads the endpoints. Processes without types of their own are left out.
/// Runtime::announce_types() adds definitions.
HYPHOS_EXPORT Result<std::vector<AnnouncedTypes>> announced_types(const std::string& domain);

/// One event of the flight recorder at one endpoint: a publish(), or a callback that has ended.
/// Times are CLOCK_MONOTONIC nanoseconds of this machine as in Stamps. 0: layer not crossed. All
/// members are plain integers, because tools read events by the hundred thousand.
struct MessageEvent {
  std::uint32_t thread = 0;    ///< id of the kernel's thread
  std::uint16_t received = 0;  ///< 1 for a callback, 0 for a publish()
  std::uint16_t replayed = 0;  ///< 1: a latched value sent to a late subscriber
  std::uint64_t endpoint = 0;  ///< RecordedEnd::id
  std::uint64_t sender = 0;    ///< identifies the message together with `sequence`
  std::uint64_t sequence = 0;
  std::uint64_t bytes = 0;  ///< encoded size, 0 if a pointer was passed
  std::int64_t publish_ns = 0;
  std::int64_t encoded_ns = 0;
  std::int64_t submitted_ns = 0;
  std::int64_t arrived_ns = 0;
  std::int64_t scheduled_ns = 0;
  std::int64_t dequeued_ns = 0;  ///< taken from the queue
  std::int64_t decoded_ns = 0;
  std::int64_t callback_ns = 0;
  std::int64_t end_ns = 0;           ///< end of the callback
  std::uint64_t cause_sender = 0;    ///< of a publish() in a callback: the message of that callback
  std::uint64_t cause_sequence = 0;  ///< 0: published outside of a callback, e.g. in a timer
  std::uint64_t cause_endpoint = 0;
};

/// An endpoint to which events of the flight recorder refer.
struct RecordedEnd {
  std::uint64_t id = 0;
  std::string channel;
  std::string node;
  bool is_publisher = false;
};

/// The events of one process since the previous read.
struct RecordedEvents {
  std::string process;
  std::int32_t pid = 0;
  std::uint64_t participant = 0;
  std::uint64_t next = 0;         ///< position for the next read
  std::uint64_t missed = 0;       ///< events that were overwritten before they were read
  std::vector<RecordedEnd> ends;  ///< endpoints that exist now
  std::vector<MessageEvent> events;
};

/// Reads the flight recorders of all processes from `since` on. `since` maps a participant to its
/// RecordedEvents::next. A participant that is not in it is read from its oldest event. A recorder
/// holds the last 4096 events of its process. Reads shared memory only, as inspect() does.
HYPHOS_EXPORT Result<std::vector<RecordedEvents>> recorded_events(
    const std::string& domain, const std::map<std::uint64_t, std::uint64_t>& since = {});

}  // namespace hyphos
