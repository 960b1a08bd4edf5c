#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "cosim/network/ns3/fates.hpp"
#include "cosim/network/ns3/medium.hpp"
#include "cosim/network/ns3/options.hpp"
#include "cosim/network/ns3/simulator.hpp"
#include "cosim/network/ns3/streams.hpp"
#include "ns3/net-device-container.h"
#include "ns3/wifi-mac.h"

namespace hyphos::cosim {

/// ns-3: robots in one ad-hoc network of 802.11, with IPv4, UDP and TCP. Nodes know all addresses
/// from the start, so there is no ARP.
///
/// ns-3's state is global: a process can create only one such network in its life.
class Ns3Network final : public Network {
 public:
  explicit Ns3Network(Ns3Options options, Scene scene)
      : options_(std::move(options)), scene_(std::move(scene)), medium_(fates_) {}
  ~Ns3Network() override;

  Result<void> init(std::uint32_t nodes, std::uint64_t seed) override;
  Result<void> set_poses(std::span<const Pose> poses) override;
  Result<void> inject(const Packet& packet) override;
  Result<void> advance(Time end) override;
  Time next_event_time() const override { return simulator_->next_event_time(); }
  Result<void> poll(std::vector<Outcome>& outcomes) override;

 private:
  void make_stacks();
  void make_sockets();
  void watch(NodeId node);
  void send_datagram(const Packet& packet);
  void receive(NodeId node, const ns3::Ptr<ns3::Socket>& socket);
  void frame_dropped(ns3::WifiMacDropReason reason, const ns3::Ptr<const ns3::WifiMpdu>& frame);
  void packet_dropped(const ns3::Ptr<const ns3::Packet>& packet, DropReason reason);

  Ns3Options options_;
  Scene scene_;
  Fates fates_;
  Medium medium_;
  std::optional<Streams> streams_;
  ns3::Ptr<WindowedSimulator> simulator_;
  ns3::NodeContainer nodes_;
  ns3::NetDeviceContainer devices_;
  std::vector<ns3::Ipv4Address> addresses_;
  std::vector<ns3::Ptr<ns3::Socket>> sockets_;
  std::vector<Time> last_entries_;  // entry times into the stack, by host
  std::uint64_t seed_ = 0;
  Time now_;
};

}  // namespace hyphos::cosim
