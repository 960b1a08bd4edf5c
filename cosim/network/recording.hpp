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

/// The recorded behaviour of a network: for each link from one node to another, the outcomes of
/// packets by send time. Two text formats are accepted. The first line decides between them.
///
/// A table names its columns in the first line, in any order, and `#` begins a comment. Nodes are
/// names or numbers. `*` stands for all links without lines of their own.
///
///     time_ms,from,to,delay_ms,loss           |  time_ms,from,to,delay_ms,outcome
///     0,*,*,1.5,0                             |  0.4,ugv,uav,1.21,delivered
///     2500,ugv,uav,4.25,0.3                   |  100.4,ugv,uav,0.9,collision
///
/// With `loss`, a line gives the state of a link from that time on: its delay, and the probability
/// that a packet is lost. With `outcome`, a line is one packet.
///
/// The other format is a trace as written by Trace, of a run whose packets entered the network when
/// they were sent.
///
/// Immutable. Cost: 32 bytes for each line of a table, and for each copy of each packet of a trace.
class Recording {
 public:
  /// One packet, or the state of a link from `time` on.
  struct Entry {
    Time time;
    Duration delay{0};
    double loss = 0;  ///< probability
    DropReason reason = DropReason::none;
    bool grouped = false;  ///< one of several copies that the network reported together
    bool open = false;     ///< still in flight at the end of the recording
  };

  /// `names` are the names of all nodes, by number. Errors: invalid_config, with file and line.
  [[nodiscard]] static Result<Recording> parse(std::string_view text, const std::string& file,
                                               std::span<const std::string> names);

  /// The entries of a link, by time. Empty if the link was not recorded.
  [[nodiscard]] std::span<const Entry> link(NodeId from, NodeId to) const;
  [[nodiscard]] std::size_t links() const { return links_.size(); }
  [[nodiscard]] std::uint32_t nodes() const { return nodes_; }

 private:
  friend class RecordingReader;

  [[nodiscard]] static std::uint64_t key(NodeId from, NodeId to) {
    return std::uint64_t{from} << 32 | to;
  }

  std::uint32_t nodes_ = 0;
  std::unordered_map<std::uint64_t, std::vector<Entry>> links_;  // kEveryone: any node
};

}  // namespace hyphos::cosim
