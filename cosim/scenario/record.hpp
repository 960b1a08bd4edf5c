#pragma once

#include <array>
#include <cstdio>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "cosim/core/engine.hpp"
#include "cosim/programs/flow.hpp"
#include "cosim/routing/routed.hpp"

namespace hyphos::cosim {

/// The data of a report that Report does not have: the windows over time, the trajectories of the
/// robots, delay and loss by distance, the outcome of every copy of every packet, and the flows.
///
/// Its memory is bounded by the packets in flight. It does not change the run.
class Record {
 public:
  /// `scene` must outlive the record. With `csv`, the record writes one line for each copy when the
  /// last outcome of its packet is known. Copies still in flight are written at the end.
  Record(std::uint32_t nodes, const Scene& scene, Duration end, std::FILE* csv = nullptr);

  void sent(const Packet& packet, std::span<const Pose> poses);
  void outcome(const Outcome& outcome, const Packet& packet);
  void window(Time end, std::span<const Pose> poses);
  void flows(std::vector<FlowResult> results) { flows_ = std::move(results); }
  void routing(std::vector<routing::Routed::Results> results) { routing_ = std::move(results); }
  /// Writes the copies in flight as well. Errors: io.
  [[nodiscard]] Result<void> finish();

  /// Copies sent over a similar distance, either all with or all without a blocked path.
  struct Distance {
    std::uint64_t copies = 0;
    std::uint64_t delivered = 0;
    double delay_ns = 0;  // sum
    std::int64_t least_ns = kNever.ns;
    std::int64_t most_ns = 0;
    std::array<std::uint64_t, kDropReasons> dropped{};
  };
  /// A run of consecutive windows.
  struct Windows {
    Time begin;
    Time end;
    std::uint64_t count = 0;
    Duration shortest{0};
    Duration longest{0};
  };
  struct Sample {
    Time time;
    std::vector<Vec3> places;  // by node
  };
  static constexpr double kMetres = 5;  // width of a bin

  /// By bin of distance, and by whether the path was blocked.
  [[nodiscard]] const std::map<std::pair<std::uint32_t, bool>, Distance>& distances() const {
    return distances_;
  }
  [[nodiscard]] const std::vector<Windows>& windows() const { return windows_; }
  [[nodiscard]] const std::vector<Sample>& samples() const { return samples_; }
  /// The yaw of each robot at the last window, in rad.
  [[nodiscard]] const std::vector<double>& headings() const { return headings_; }
  [[nodiscard]] const std::vector<FlowResult>& flows() const { return flows_; }
  /// By node. Empty without a routing protocol.
  [[nodiscard]] const std::vector<routing::Routed::Results>& routing() const { return routing_; }

 private:
  struct Copy {
    NodeId to = 0;
    double distance_m = 0;
    double obstacles_db = 0;
    bool settled = false;
  };
  struct Open {
    Packet packet;  // without its bytes
    std::size_t bytes = 0;
    std::vector<Copy> copies;
    std::size_t left = 0;
    Time rest_time;  // of copies with unnamed receivers
    DropReason rest_reason = DropReason::other;
  };

  void join_windows();
  void settle(const Open& open, Copy& copy, Fate fate, DropReason reason, Time time);
  void write(const Open& open, const Copy& copy, std::string_view fate, std::string_view reason,
             Time time);

  std::uint32_t nodes_;
  const Scene& scene_;
  std::FILE* csv_;
  Duration apart_;  // between samples
  Time due_{};
  Time window_begin_{};
  std::uint64_t joined_ = 1;  // windows in each entry of windows_
  std::unordered_map<PacketId, Open> open_;
  std::map<std::pair<std::uint32_t, bool>, Distance> distances_;
  std::vector<Windows> windows_;
  std::vector<Sample> samples_;
  std::vector<double> headings_;
  std::vector<FlowResult> flows_;
  std::vector<routing::Routed::Results> routing_;
};

}  // namespace hyphos::cosim
