#include "transport/shm/endpoint_table.hpp"

#include <algorithm>

#include "transport/shm/ports.hpp"

namespace hyphos::transport::shm_detail {

Result<void> EndpointTable::add(shm::Control& own, const std::shared_ptr<Port>& port) {
  const auto free = std::find(used_.begin(), used_.end(), false);
  const auto index = static_cast<std::uint32_t>(free - used_.begin());
  if (index >= shm::kMaxEndpoints) return too_many_endpoints(port->spec.name);
  if (auto written = own.set_endpoint(index, port->record); !written) return written;
  if (index == used_.size()) used_.push_back(false);
  used_[index] = true;
  port->endpoint = index;
  port->serial = port->record.serial;
  by_serial_.emplace(port->serial, port);
  by_channel_.emplace(port->record.channel_hash, port);
  return {};
}

bool EndpointTable::remove(shm::Control& own, const std::shared_ptr<Port>& port) {
  if (by_serial_.erase(port->serial) == 0) return false;
  (void)own.set_endpoint(port->endpoint, {});
  used_[port->endpoint] = false;
  const auto [first, last] = by_channel_.equal_range(port->record.channel_hash);
  by_channel_.erase(
      std::find_if(first, last, [&](const auto& each) { return each.second == port; }));
  return true;
}

std::shared_ptr<Port> EndpointTable::find(std::uint64_t serial) const {
  const auto found = by_serial_.find(serial);
  return found != by_serial_.end() ? found->second : nullptr;
}

}  // namespace hyphos::transport::shm_detail
