#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hyphos/inspect.hpp"

namespace hyphos::trace {

/// The open endpoints in the area of another process, as they were last read. A read reports the
/// difference, so its cost follows the changes. One thread at a time.
class LiveEndpoints {
 public:
  /// Bytes that changed() reads, and bytes that read() reads of an unchanged record.
  static constexpr std::size_t kLookedAt = 12;

  struct Changes {
    /// Without counters, times and transports.
    std::vector<EndpointInfo> opened;
    std::vector<std::uint64_t> closed;  ///< EndpointInfo::id
    std::uint64_t bytes = 0;            ///< read from the area
  };

  /// True if read() would report a change, or if the process has begun or ended its area.
  [[nodiscard]] bool changed(std::span<const std::byte> area) const;
  /// Adds to `changes`. If the area is not readable, all endpoints are closed.
  void read(std::span<const std::byte> area, Changes& changes);
  /// Reports all endpoints as closed.
  void end(Changes& changes);

 private:
  bool readable_ = false;
  bool refused_ = false;  // of another version
  std::uint32_t version_ = 0;
  std::vector<std::uint64_t> ids_;  // by index of the record, 0: closed
};

}  // namespace hyphos::trace
