#include "cosim/mavlink/programs.hpp"

#include <algorithm>
#include <utility>

namespace hyphos::cosim::mavlink {

Result<std::unique_ptr<MavlinkPrograms>> MavlinkPrograms::open(
    std::unique_ptr<Programs> inner, const std::vector<std::optional<Options>>& vehicles) {
  auto opened = Vehicles::open(vehicles);
  if (!opened) return opened.error();
  return std::unique_ptr<MavlinkPrograms>(
      new MavlinkPrograms(std::move(inner), std::move(*opened)));
}

Time MavlinkPrograms::next_event_time() const {
  return std::min(inner_->next_event_time(), vehicles_.next());
}

void MavlinkPrograms::step(Time now, std::span<const Delivery> inbox, std::span<const Pose> poses,
                           Outbox& outbox) {
  if (!inbox.empty() || inner_->next_event_time() <= now) inner_->step(now, inbox, poses, outbox);
  vehicles_.step(now, poses,
                 [&outbox](NodeId node, const Motion& motion) { outbox.steer(node, motion); });
}

}  // namespace hyphos::cosim::mavlink
