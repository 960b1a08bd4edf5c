#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cosim/core/packet.hpp"
#include "hyphos/result.hpp"

namespace hyphos::cosim {

/// What a network did once: for each link from one node to another, what became of packets that
/// were sent at which time. Read from one of two texts, which are told apart by their first line:
///
/// A table, with its columns named in the first line, in any order; `#` begins a comment. Nodes are
/// names or numbers, or `*` for those links that have no lines of their own.
///
///     time_ms,from,to,delay_ms,loss           |  time_ms,from,to,delay_ms,outcome
///     0,*,*,1.5,0                             |  0.4,ugv,uav,1.21,delivered
///     2500,ugv,uav,4.25,0.3                   |  100.4,ugv,uav,0.9,collision
///
/// With `loss`, a line says how a link is from then on: its delay, and the probability that a
/// packet is lost. With `outcome`, a line is one packet.
///
/// Or a trace, as Trace writes it, of a run whose packets entered the network when they were sent.
///
/// Immutable. Cost: 32 bytes for each line of a table, and for each copy of each packet of a trace.
class Recording {
 public:
  /// One packet, or how a link is from `time` on.
  struct Entry {
    Time time;
    Duration delay{0};
    double loss = 0;  ///< probability
    DropReason reason = DropReason::none;
    bool grouped = false;  ///< one of several copies that the network did not tell apart
    bool open = false;     ///< it was in flight when the recording ended
  };

  /// `names`: those of all nodes, by number. Errors: invalid_config, with file and line.
  [[nodiscard]] static Result<Recording> parse(std::string_view text, const std::string& file,
                                               std::span<const std::string> names);

  /// Entries of a link, by time; empty if nothing is known of it.
  [[nodiscard]] std::span<const Entry> link(NodeId from, NodeId to) const;
  [[nodiscard]] std::size_t links() const { return links_.size(); }
  [[nodiscard]] std::uint32_t nodes() const { return nodes_; }

 private:
  friend class RecordingReader;

  [[nodiscard]] static std::uint64_t key(NodeId from, NodeId to) {
    return std::uint64_t{from} << 32 | to;
  }

  std::uint32_t nodes_ = 0;
  std::unordered_map<std::uint64_t, std::vector<Entry>> links_;  // kEveryone: any
};

}  // namespace hyphos::cosim
