#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "transport/shm/parts.hpp"

namespace hyphos::transport::shm_detail {

/// The endpoints that this process announces in its control file. Not thread-safe.
class EndpointTable {
 public:
  /// Writes `port->record`, which is complete. Fails if the table is full or has no memory.
  [[nodiscard]] Result<void> add(shm::Control& own, const std::shared_ptr<Port>& port);
  /// False if the port is not announced.
  bool remove(shm::Control& own, const std::shared_ptr<Port>& port);

  /// Null if no port has this serial.
  [[nodiscard]] std::shared_ptr<Port> find(std::uint64_t serial) const;
  /// By serial.
  [[nodiscard]] const std::unordered_map<std::uint64_t, std::shared_ptr<Port>>& all() const {
    return by_serial_;
  }
  /// The ports with this hash of their channel name, as two iterators.
  [[nodiscard]] auto named(std::uint64_t channel_hash) const {
    return by_channel_.equal_range(channel_hash);
  }

 private:
  std::vector<bool> used_;  ///< up to the highest index ever used
  std::unordered_map<std::uint64_t, std::shared_ptr<Port>> by_serial_;
  std::unordered_multimap<std::uint64_t, std::shared_ptr<Port>> by_channel_;  ///< by hash
};

}  // namespace hyphos::transport::shm_detail
