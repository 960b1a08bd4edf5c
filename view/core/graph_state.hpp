#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hyphos/inspect.hpp"
#include "hyphos/result.hpp"
#include "view/core/source.hpp"

namespace hyphos::view {

/// Messages that one counter `drop.<place>.<why>` counted.
struct DropCount {
  std::string place;  ///< "queue", "shm", "zmq", …, "recorder", "viewer"
  std::string why;    ///< "overflow", "disconnected", …
  std::uint64_t count = 0;
  double per_s = 0;  ///< since the previous sample
  std::string at;    ///< the endpoint: "planner subscribes in body", empty in a recording
};

/// Percentiles of durations since the previous sample. Without a message since then, of the whole
/// life of the endpoint.
struct LatencyRow {
  std::string layer;  ///< "encode", "submit", "transport", "deliver", "queue", "decode",
                      ///< "callback", or "total": from publish() to the start of the callback
  std::uint64_t count = 0;
  std::int64_t p50_ns = 0;
  std::int64_t p95_ns = 0;
  std::int64_t p99_ns = 0;
  std::int64_t max_ns = 0;
};

/// One channel of the table.
struct ChannelRow {
  std::string name;
  std::string type;
  std::uint32_t publishers = 0;
  std::uint32_t subscribers = 0;
  double rate_hz = 0;
  double bytes_per_s = 0;
  std::uint64_t sent = 0;      ///< messages: by the publishers, 0 in a recording
  std::uint64_t received = 0;  ///< by all subscriptions, or by the recorder
  std::uint64_t dropped = 0;   ///< sum of `drops`
  std::vector<DropCount> drops;
  std::int64_t age_ns = -1;  ///< of the newest message, -1: none
  std::uint64_t deadline_missed = 0;
  std::uint64_t callback_errors = 0;
  std::vector<LatencyRow> latency;  ///< the slowest subscription, "total" first, then its layers
};

/// A node of the graph: a node of the robot in one process.
struct GraphNode {
  std::string node;
  std::string process;
  std::string host;
  std::int32_t pid = 0;
  ProcessState state = ProcessState::ready;
  bool viewer = false;  ///< this process
};

/// An endpoint: an edge between `node` and `channel`.
struct GraphEdge {
  std::uint32_t node = 0;     ///< index in GraphSnapshot::nodes
  std::uint32_t channel = 0;  ///< index in GraphSnapshot::channels
  bool publishes = false;
  double rate_hz = 0;
  double bytes_per_s = 0;
  std::uint32_t depth = 0;  ///< capacity of the subscription's queue
  std::uint64_t dropped = 0;
  double drops_per_s = 0;
  LatencyRow total;        ///< subscriptions only
  LatencyRow queue;        ///< waiting for a thread
  double busy = 0;         ///< share of one core that the callback used
  std::string transports;  ///< "pointer+shm"
};

struct GraphSnapshot {
  std::int64_t time_ns = 0;  ///< Unix time
  std::vector<ChannelRow> channels;
  std::vector<GraphNode> nodes;
  std::vector<GraphEdge> edges;
};

/// Endpoints of an earlier state, by participant and EndpointInfo::id.
using EndpointsBefore = std::map<std::pair<std::uint64_t, std::uint64_t>, EndpointInfo>;

/// The robot's own counters: rates, drops, latencies, and the graph with its load.
///
/// Live: reads hyphos::inspect(), at no cost for the robot. Call sample() only while a panel shows
/// the result. A recording has the counters that the recorder stored, and the graph of its plan.
/// Not thread-safe.
class GraphState {
 public:
  static constexpr std::int64_t kPeriodNs = 500'000'000;

  /// Of the source's domain, or of its metadata. The source must outlive this object.
  explicit GraphState(const Source& source);

  /// Takes a sample if the last one is at least kPeriodNs old. Returns true if snapshot() changed.
  /// Cost: about 50 us per process of the robot.
  bool sample();
  [[nodiscard]] const GraphSnapshot& snapshot() const { return snapshot_; }
  /// True once there are rates, which need two samples of a running robot.
  [[nodiscard]] bool complete() const { return complete_; }
  /// Shows this state, and takes no more samples: for pictures of a known state.
  void hold(GraphSnapshot snapshot);
  /// The reason why there is no snapshot, empty if there is one.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  const Source& source_;
  GraphSnapshot snapshot_;
  std::string problem_;
  bool held_ = false;
  bool complete_ = false;
  std::int64_t sampled_ns_ = 0;  // CLOCK_MONOTONIC
  EndpointsBefore before_;
};

/// Makes a snapshot from two states of the processes, `seconds` apart (0: the first state).
/// Channels of services, actions and of Hyphos itself are left out. Pure, for tests.
[[nodiscard]] GraphSnapshot make_snapshot(const std::vector<ProcessInfo>& processes,
                                          const EndpointsBefore& before, double seconds,
                                          std::int64_t monotonic_ns);
/// Makes a snapshot from the metadata of a recording.
[[nodiscard]] GraphSnapshot make_snapshot(const Source& recording);

}  // namespace hyphos::view
