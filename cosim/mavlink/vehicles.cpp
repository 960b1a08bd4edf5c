#include "cosim/mavlink/vehicles.hpp"

#include <utility>

namespace hyphos::cosim::mavlink {
namespace {

constexpr Duration kApart = Duration::from_ms(20);

}  // namespace

Result<Vehicles> Vehicles::open(const std::vector<std::optional<Options>>& vehicles) {
  Vehicles made;
  for (NodeId node = 0; node < vehicles.size(); ++node) {
    if (!vehicles[node]) continue;
    const Options& options = *vehicles[node];
    auto link = Link::open(options.remote, options.port);
    if (!link) return link.error();
    made.flying_.push_back({node, Vehicle(options.autopilot, options.system), std::move(*link)});
  }
  return made;
}

void Vehicles::step(Time now, std::span<const Pose> poses, const Steer& steer) {
  if (now < next()) return;
  due_ = now + kApart;
  for (Flying& one : flying_) {
    const Vehicle::Send send = [&one](const Message& message) {
      one.link.send(frame(message, one.sequence++));
    };
    one.vehicle.see(now, poses[one.node]);
    one.link.poll([&](std::span<const std::byte> datagram) {
      read_frames(
          datagram, [&](const Message& message) { one.vehicle.receive(message, send); },
          one.ignored);
    });
    if (const auto motion = one.vehicle.control()) steer(one.node, *motion);
    one.vehicle.report(send);
  }
}

Result<void> Vehicles::window(Time now, Physics& physics) {
  Result<void> done = success();
  step(now, physics.poses(), [&](NodeId node, const Motion& motion) {
    if (!done) return;
    ++motions_;
    auto left_out = physics.steer(node, motion);
    if (!left_out) {
      done = left_out.error();
    } else if (!left_out->empty()) {
      ++in_part_.try_emplace(node, InPart{0, now, *left_out}).first->second.count;
    }
  });
  return done;
}

}  // namespace hyphos::cosim::mavlink
