#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "cosim/network/ns3/fates.hpp"
#include "cosim/network/ns3/options.hpp"
#include "cosim/network/ns3/propagation.hpp"
#include "cosim/network/ns3/simulator.hpp"
#include "ns3/lr-wpan-net-device.h"
#include "ns3/net-device-container.h"
#include "ns3/node-container.h"
#include "ns3/single-model-spectrum-channel.h"

namespace hyphos::cosim {

/// 802.15.4 of ns-3: its receivers, and CSMA-CA without beacons. A packet that exceeds one frame is
/// sent as several frames with a header of 6LoWPAN each, and arrives only as a whole.
///
/// ns-3 has no IPv4 over 802.15.4, so packets go to the MAC directly. Their sizes are those of the
/// analytic radio.
class LrWpanNetwork final : public Network {
 public:
  explicit LrWpanNetwork(Ns3Options options, Scene scene)
      : options_(std::move(options)), scene_(std::move(scene)) {}
  ~LrWpanNetwork() override;

  Result<void> init(std::uint32_t nodes, std::uint64_t seed) override;
  Result<void> set_poses(std::span<const Pose> poses) override;
  Result<void> inject(const Packet& packet) override;
  Result<void> advance(Time end) override;
  Time next_event_time() const override { return simulator_->next_event_time(); }
  Result<void> poll(std::vector<Outcome>& outcomes) override;

 private:
  /// A packet at its sender, and the number of its next frame.
  struct Sending {
    Packet packet;
    std::size_t frame = 0;
  };

  void make_device(NodeId node, const RadioModel& model);
  void enter(const Packet& packet);
  void send_frame(NodeId node);
  void confirmed(NodeId node, ns3::LrWpanMcpsDataConfirmStatus status);
  void on_air(NodeId node, const ns3::Ptr<const ns3::Packet>& frame);
  void received(NodeId node, const ns3::Ptr<ns3::Packet>& frame);
  [[nodiscard]] std::size_t frames_of(const Packet& packet) const;
  void next(NodeId node);
  void judge(PacketId id, NodeId from);

  Ns3Options options_;
  Scene scene_;
  Fates fates_;
  std::optional<RadioModel> model_;
  Propagation propagation_;
  ns3::Ptr<WindowedSimulator> simulator_;
  ns3::Ptr<ns3::SingleModelSpectrumChannel> channel_;
  ns3::NodeContainer nodes_;
  std::vector<ns3::Ptr<ns3::LrWpanNetDevice>> devices_;
  std::vector<ns3::Ptr<ns3::MobilityModel>> places_;
  std::vector<std::deque<Sending>> queues_;
  /// The frames that each node has of the packet that a sender is sending.
  std::vector<std::vector<std::size_t>> have_;  // [sender][receiver]
  std::vector<Time> last_entries_;
  std::uint64_t seed_ = 0;
  Time now_;
};

}  // namespace hyphos::cosim
