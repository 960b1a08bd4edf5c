#include "cosim/network/ns3/ns3_radio.hpp"

#include <algorithm>
#include <iterator>

#include "cosim/core/random.hpp"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"

namespace hyphos::cosim {
namespace {

constexpr std::uint64_t kHostJitter = 3;  // the purpose of a random draw

Error past(const std::string& what, Time at, Time now) {
  return {Code::out_of_range,
          what + " at " + std::to_string(at.ns) + " ns, but ns-3 is already at " +
              std::to_string(now.ns) + " ns",
          "ns3"};
}

}  // namespace

void Ns3Radio::end() {
  if (simulator_ != nullptr) ns3::Simulator::Destroy();
}

Result<void> Ns3Radio::init(std::uint32_t nodes, std::uint64_t seed) {
  static bool used = false;
  if (used)
    return bad(Code::unsupported, "ns-3 can run only once in a process: start another worker");
  if (options_.transport == Transport::tcp && !ns3_support(options_.radio.kind)->tcp) {
    return bad(Code::unsupported, options_.radio.kind + " has no tcp here: write `transport: udp`");
  }
  if (auto checked = check_setup(nodes); !checked) return checked;
  auto model = RadioModel::make(options_.radio, &scene_, seed);
  if (!model) return model.error();
  used = true;
  ns3::RngSeedManager::SetSeed(1);
  ns3::RngSeedManager::SetRun(seed);
  simulator_ = ns3::CreateObject<WindowedSimulator>();
  ns3::Simulator::SetImplementation(simulator_);
  fates_.reset(nodes);
  nodes_ = nodes;
  seed_ = seed;
  last_entries_.resize(nodes);
  return make(*model, seed);
}

Result<void> Ns3Radio::set_poses(std::span<const Pose> poses) {
  if (poses.size() != nodes_) {
    return bad(Code::invalid_config,
               std::to_string(poses.size()) + " poses for " + std::to_string(nodes_) + " nodes");
  }
  return place(poses);
}

Result<void> Ns3Radio::inject(const Packet& packet) {
  const bool everyone = packet.to == kEveryone;
  if (packet.from >= nodes_ || (!everyone && packet.to >= nodes_)) {
    return bad(Code::not_found, "no node " + std::to_string(std::max(packet.from, packet.to)));
  }
  if (packet.stamp < now_) return past("a packet", packet.stamp, now_);
  if (auto checked = check_packet(packet); !checked) return checked;
  // As in the analytic radio, packets of one host keep their order.
  const auto most = static_cast<std::uint64_t>(options_.radio.host_jitter.ns);
  const Duration jitter{
      static_cast<std::int64_t>(draw(seed_, packet.id, kHostJitter, packet.from) % (most + 1))};
  Time& entry = last_entries_[packet.from];
  entry = std::max(entry, packet.stamp + jitter);
  simulator_->inject(entry + origin_, packet.id, packet.from, [this, packet] {
    fates_.sent(packet, now());
    enter(packet);
  });
  return success();
}

Result<void> Ns3Radio::advance(Time end) {
  if (end < now_) return past("asked to end", end, now_);
  now_ = end;
  return simulator_->run_before(end + origin_);
}

Time Ns3Radio::next_event_time() const {
  const Time next = simulator_->next_event_time();
  return next == kNever ? kNever : next - origin_;
}

Result<void> Ns3Radio::poll(std::vector<Outcome>& outcomes) {
  std::ranges::move(fates_.outcomes(), std::back_inserter(outcomes));
  fates_.outcomes().clear();
  return success();
}

Time Ns3Radio::now() const { return Time{ns3::Simulator::Now().GetNanoSeconds()} - origin_; }

void Ns3Radio::begin_here() { origin_ = {ns3::Simulator::Now().GetNanoSeconds()}; }

Result<std::unique_ptr<Ns3Radio>> make_ns3_radio(Ns3Options options, Scene scene) {
  const auto found = ns3_support(options.radio.kind);
#define HYPHOS_MAKE(name, ...)                                   \
  if (found && found->radio == #name) {                          \
    return make_ns3::name(std::move(options), std::move(scene)); \
  }
  HYPHOS_COSIM_NS3_RADIOS(HYPHOS_MAKE)
#undef HYPHOS_MAKE
  return Error{Code::unsupported, "ns-3 has no radio '" + options.radio.kind + "' here", "ns3"};
}

}  // namespace hyphos::cosim
