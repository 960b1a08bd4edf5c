#include "cosim/mavlink/programs.hpp"

#include <algorithm>
#include <utility>

namespace hyphos::cosim::mavlink {
namespace {

constexpr Duration kApart = Duration::from_ms(20);

}  // namespace

Result<std::unique_ptr<MavlinkPrograms>> MavlinkPrograms::open(
    std::unique_ptr<Programs> inner, const std::vector<std::optional<Options>>& vehicles) {
  std::unique_ptr<MavlinkPrograms> made(new MavlinkPrograms(std::move(inner)));
  for (NodeId node = 0; node < vehicles.size(); ++node) {
    if (!vehicles[node]) continue;
    const Options& options = *vehicles[node];
    auto link = Link::open(options.remote, options.port);
    if (!link) return link.error();
    made->vehicles_.push_back({node, Vehicle(options.autopilot, options.system), std::move(*link)});
  }
  return made;
}

Time MavlinkPrograms::next_event_time() const { return std::min(inner_->next_event_time(), due_); }

void MavlinkPrograms::step(Time now, std::span<const Delivery> inbox, std::span<const Pose> poses,
                           Outbox& outbox) {
  if (!inbox.empty() || inner_->next_event_time() <= now) inner_->step(now, inbox, poses, outbox);
  if (now < due_) return;
  due_ = now + kApart;
  for (Flying& one : vehicles_) {
    const Vehicle::Send send = [&one](const Message& message) {
      one.link.send(frame(message, one.sequence++));
    };
    one.vehicle.see(now, poses[one.node]);
    one.link.poll([&](std::span<const std::byte> datagram) {
      read_frames(
          datagram, [&](const Message& message) { one.vehicle.receive(message, send); },
          one.ignored);
    });
    if (const auto motion = one.vehicle.control()) outbox.steer(one.node, *motion);
    one.vehicle.report(send);
  }
}

}  // namespace hyphos::cosim::mavlink
