// A cell: LTE of ns-3.

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cosim/network/ns3/node_place.hpp"
#include "cosim/network/ns3/ns3_radio.hpp"
#include "cosim/network/ns3/propagation.hpp"
#include "cosim/radio/decibels.hpp"
#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/epc-ue-nas.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/lte-enb-net-device.h"
#include "ns3/lte-enb-phy.h"
#include "ns3/lte-helper.h"
#include "ns3/lte-ue-net-device.h"
#include "ns3/lte-ue-phy.h"
#include "ns3/lte-ue-rrc.h"
#include "ns3/point-to-point-epc-helper.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/udp-socket-factory.h"
#include "ns3/uinteger.h"

namespace hyphos::cosim {
namespace {

constexpr std::uint16_t kPort = 4000;
constexpr std::size_t kLongestDatagram = 65'507;
constexpr std::uint32_t kResourceBlocks = 100;  // of 20 MHz
constexpr double kThermalDbmHz = -174;          // as in ns-3
constexpr double kStationNoiseDb = 4;           // as in the analytic cell: less than a robot's
constexpr double kNothingDb = -1000;
// A packet is lost if it has not arrived by then, on each of its two hops (TS 38.331,
// discardTimer).
constexpr Duration kPatience = Duration::from_ms(1000);
constexpr Duration kBetweenAttaches = Duration::from_ms(10);  // so that preambles rarely collide
constexpr Duration kLongestAttach = Duration::from_ms(2000);

ns3::TimeValue time_value(Duration value) { return {ns3::NanoSeconds(value.ns)}; }

/// A packet of ns-3 of this size, at least one byte. Its tag is on each byte: the radio link joins
/// packets to a block, and keeps the tags of bytes only.
ns3::Ptr<ns3::Packet> carrier_of(const Packet& packet) {
  const auto bytes = std::max<std::size_t>(1, packet.bytes.size());
  const auto carrier = ns3::Create<ns3::Packet>(static_cast<std::uint32_t>(bytes));
  carrier->AddByteTag(PacketTag(packet.id));
  return carrier;
}

/// The channel between stations and robots. Stations have the lower numbers.
class StationLoss final : public ns3::PropagationLossModel {
 public:
  StationLoss(const Propagation& propagation, NodeId stations, std::function<Time()> now)
      : propagation_(propagation), stations_(stations), now_(std::move(now)) {}

 private:
  double DoCalcRxPower(double power_dbm, ns3::Ptr<ns3::MobilityModel> from,
                       ns3::Ptr<ns3::MobilityModel> to) const override {
    const auto [low, high] = std::minmax({NodePlace::of(from), NodePlace::of(to)});
    if (low >= stations_ || high < stations_) return power_dbm + kNothingDb;
    return power_dbm + propagation_.gain_db(low, high, now_());
  }
  std::int64_t DoAssignStreams(std::int64_t /*stream*/) override { return 0; }

  const Propagation& propagation_;
  NodeId stations_;
  std::function<Time()> now_;
};

/// Stations and robots of LTE in 20 MHz: scheduling in turn, repetitions, measurements and
/// handovers are those of ns-3. Messages of its radio resource control are never lost.
///
/// A packet goes up to the station of its sender, over the core network to a relay, and from there
/// down to each receiver. The queues of both hops are counted here, in packets, because ns-3 counts
/// bytes.
class Lte final : public Ns3Radio {
 public:
  Lte(Ns3Options options, Scene scene) : Ns3Radio(std::move(options), std::move(scene)) {}
  ~Lte() override;

 private:
  Result<void> check_setup(std::uint32_t nodes) const override;
  Result<void> make(const RadioModel& model, std::uint64_t seed) override;
  Result<void> place(std::span<const Pose> poses) override;
  Result<void> check_packet(const Packet& packet) const override;
  void enter(const Packet& packet) override;

  void set_defaults() const;
  void make_devices();
  void make_relay();
  template <typename F>
  [[nodiscard]] static ns3::Ptr<ns3::Socket> open(const ns3::Ptr<ns3::Node>& host, const F& f);
  void make_sockets();
  Result<void> attach();
  [[nodiscard]] std::uint32_t strongest(NodeId robot) const;
  [[nodiscard]] bool connected(NodeId robot) const {
    return robots_[robot]->GetNas()->GetState() == ns3::EpcUeNas::ACTIVE;
  }
  [[nodiscard]] DropReason lost_at(NodeId robot, bool down) const;
  [[nodiscard]] const std::vector<BaseStation>& stations() const {
    return options().radio.cell.stations;
  }
  void relay(PacketId id);
  void send_down(const Packet& packet, NodeId to);
  void receive(PacketId id, NodeId robot);

  std::optional<RadioModel> model_;  // its first nodes are the stations
  Propagation propagation_;
  ns3::Ptr<ns3::LteHelper> lte_;
  ns3::Ptr<ns3::PointToPointEpcHelper> core_;
  ns3::NodeContainer station_hosts_;
  ns3::NodeContainer hosts_;
  ns3::NetDeviceContainer station_devices_;
  std::vector<ns3::Ptr<ns3::LteUeNetDevice>> robots_;
  std::vector<ns3::Ipv4Address> addresses_;
  ns3::NodeContainer relay_host_;
  ns3::Ipv4Address relay_address_;
  ns3::Ptr<ns3::Socket> relay_socket_;
  std::vector<ns3::Ptr<ns3::Socket>> sockets_;
  bool attached_ = false;

  std::map<PacketId, Packet> up_;
  std::map<std::pair<PacketId, NodeId>, Buffer> down_;
  std::vector<std::uint32_t> waiting_up_;  // by robot
  std::vector<std::uint32_t> waiting_down_;
};

Lte::~Lte() {
  const auto nothing = ns3::MakeNullCallback<void, ns3::Ptr<ns3::Socket>>();
  for (const auto& socket : sockets_) socket->SetRecvCallback(nothing);
  if (relay_socket_ != nullptr) relay_socket_->SetRecvCallback(nothing);
  end();
}

Result<void> Lte::check_setup(std::uint32_t nodes) const {
  if (stations().empty()) {
    return bad(Code::invalid_config, "a cellular radio needs a base station: write `cells`");
  }
  if (stations().size() > kMostNs3Stations) {
    return bad(Code::invalid_config,
               std::to_string(stations().size()) + " base stations: at most " +
                   std::to_string(kMostNs3Stations) + " in ns-3, or `simulator: analytic`");
  }
  if (nodes > kMostNs3Users) {
    return bad(Code::invalid_config, std::to_string(nodes) + " robots in cells: at most " +
                                         std::to_string(kMostNs3Users) +
                                         " in ns-3, or `simulator: analytic`");
  }
  return success();
}

void Lte::set_defaults() const {
  using ns3::Config::SetDefault;
  SetDefault("ns3::LteRlcUm::MaxTxBufferSize", ns3::UintegerValue(1U << 30));
  SetDefault("ns3::LteUePhy::EnableUplinkPowerControl", ns3::BooleanValue(false));
  std::uint32_t period = 10;  // of sounding signals, in ms: longer with more robots
  while (period < nodes() + 1) period *= 2;
  SetDefault("ns3::LteEnbRrc::SrsPeriodicity", ns3::UintegerValue(period));
}

Result<void> Lte::make(const RadioModel& model, std::uint64_t seed) {
  RadioOptions radio = model.options();
  radio.antennas.clear();
  for (const BaseStation& station : stations()) {
    radio.antennas.push_back({.gain_dbi = station.gain_dbi});
  }
  radio.antennas.insert(radio.antennas.end(), model.options().antennas.begin(),
                        model.options().antennas.end());
  auto whole = RadioModel::make(radio, &scene(), seed);
  if (!whole) return whole.error();
  model_.emplace(std::move(*whole));
  propagation_.init(*model_, options().models,
                    static_cast<std::uint32_t>(stations().size()) + nodes());
  waiting_up_.resize(nodes());
  waiting_down_.resize(nodes());
  set_defaults();
  core_ = ns3::CreateObject<ns3::PointToPointEpcHelper>();
  lte_ = ns3::CreateObject<ns3::LteHelper>();
  lte_->SetEpcHelper(core_);
  lte_->SetSchedulerType("ns3::RrFfMacScheduler");
  // The only loss is our channel.
  lte_->SetPathlossModelType(ns3::MatrixPropagationLossModel::GetTypeId());
  lte_->SetPathlossModelAttribute("DefaultLoss", ns3::DoubleValue(0));
  const CellOptions& cell = options().radio.cell;
  lte_->SetHandoverAlgorithmType("ns3::A3RsrpHandoverAlgorithm");
  lte_->SetHandoverAlgorithmAttribute("Hysteresis", ns3::DoubleValue(cell.handover_db));
  lte_->SetHandoverAlgorithmAttribute("TimeToTrigger", time_value(cell.time_to_trigger));
  lte_->SetEnbDeviceAttribute("DlBandwidth", ns3::UintegerValue(kResourceBlocks));
  lte_->SetEnbDeviceAttribute("UlBandwidth", ns3::UintegerValue(kResourceBlocks));
  make_devices();
  make_relay();
  // Events at instant 0 initialise the nodes. Sockets work only after that.
  if (auto ran = simulator().run_before({1}); !ran) return ran;
  make_sockets();
  return success();
}

void Lte::make_devices() {
  const auto count = static_cast<NodeId>(stations().size());
  station_hosts_.Create(count);
  hosts_.Create(nodes());
  for (NodeId station = 0; station < count; ++station) {
    const auto place = ns3::CompleteConstruct(new NodePlace(station));
    const Vec3& at = stations()[station].place;
    place->SetPosition({at.x, at.y, at.z});
    station_hosts_.Get(station)->AggregateObject(place);
  }
  for (NodeId robot = 0; robot < nodes(); ++robot) {
    hosts_.Get(robot)->AggregateObject(ns3::CompleteConstruct(new NodePlace(count + robot)));
  }
  station_devices_ = lte_->InstallEnbDevice(station_hosts_);
  const ns3::NetDeviceContainer devices = lte_->InstallUeDevice(hosts_);
  for (const auto& channel :
       {lte_->GetDownlinkSpectrumChannel(), lte_->GetUplinkSpectrumChannel()}) {
    channel->AddPropagationLossModel(
        ns3::CompleteConstruct(new StationLoss(propagation_, count, [this] { return now(); })));
  }
  const double noise_db =
      model_->noise_dbm() - kThermalDbmHz - to_db(model_->named()->kind().bandwidth_hz);
  for (NodeId station = 0; station < count; ++station) {
    const auto phy =
        ns3::DynamicCast<ns3::LteEnbNetDevice>(station_devices_.Get(station))->GetPhy();
    phy->SetTxPower(stations()[station].tx_power_dbm);
    phy->SetNoiseFigure(noise_db - kStationNoiseDb);
  }
  for (NodeId robot = 0; robot < nodes(); ++robot) {
    robots_.push_back(ns3::DynamicCast<ns3::LteUeNetDevice>(devices.Get(robot)));
    robots_.back()->GetPhy()->SetTxPower(options().radio.tx_power_dbm);
    robots_.back()->GetPhy()->SetNoiseFigure(noise_db);
  }
  const std::int64_t used = lte_->AssignStreams(station_devices_, 0);
  lte_->AssignStreams(devices, used);
  ns3::InternetStackHelper stack;
  stack.SetIpv6StackInstall(false);
  stack.Install(hosts_);
  const auto given = core_->AssignUeIpv4Address(devices);
  ns3::Ipv4StaticRoutingHelper routing;
  for (NodeId robot = 0; robot < nodes(); ++robot) {
    addresses_.push_back(given.GetAddress(robot));
    routing.GetStaticRouting(hosts_.Get(robot)->GetObject<ns3::Ipv4>())
        ->SetDefaultRoute(core_->GetUeDefaultGatewayAddress(), 1);
  }
  lte_->AddX2Interface(station_hosts_);
}

void Lte::make_relay() {
  relay_host_.Create(1);
  ns3::InternetStackHelper stack;
  stack.SetIpv6StackInstall(false);
  stack.Install(relay_host_);
  ns3::PointToPointHelper link;
  link.SetDeviceAttribute("DataRate", ns3::StringValue("100Gb/s"));
  link.SetChannelAttribute("Delay", time_value({options().radio.cell.core_delay.ns / 2}));
  const auto devices = link.Install(core_->GetPgwNode(), relay_host_.Get(0));
  ns3::Ipv4AddressHelper addresses;
  addresses.SetBase("1.0.0.0", "255.0.0.0");
  relay_address_ = addresses.Assign(devices).GetAddress(1);
  ns3::Ipv4StaticRoutingHelper routing;
  routing.GetStaticRouting(relay_host_.Get(0)->GetObject<ns3::Ipv4>())
      ->AddNetworkRouteTo("7.0.0.0", "255.0.0.0", 1);
}

/// Opens a socket that calls `f(id)` for each packet that arrives.
template <typename F>
ns3::Ptr<ns3::Socket> Lte::open(const ns3::Ptr<ns3::Node>& host, const F& f) {
  using Socket = ns3::Ptr<ns3::Socket>;
  const Socket socket = ns3::Socket::CreateSocket(host, ns3::UdpSocketFactory::GetTypeId());
  socket->Bind(ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), kPort));
  socket->SetRecvCallback(ns3::Callback<void, Socket>([f](Socket readable) {
    while (const ns3::Ptr<ns3::Packet> packet = readable->Recv()) each_packet(*packet, f);
  }));
  return socket;
}

void Lte::make_sockets() {
  for (NodeId robot = 0; robot < nodes(); ++robot) {
    sockets_.push_back(open(hosts_.Get(robot), [this, robot](PacketId id) { receive(id, robot); }));
  }
  relay_socket_ = open(relay_host_.Get(0), [this](PacketId id) { relay(id); });
}

Result<void> Lte::place(std::span<const Pose> poses) {
  std::vector<Pose> all;
  for (const BaseStation& station : stations()) all.push_back({station.place, {}});
  all.insert(all.end(), poses.begin(), poses.end());
  propagation_.set_poses(all);
  return std::exchange(attached_, true) ? success() : attach();
}

std::uint32_t Lte::strongest(NodeId robot) const {
  std::uint32_t best = 0;
  double most = -std::numeric_limits<double>::infinity();
  for (std::uint32_t station = 0; station < stations().size(); ++station) {
    const double power =
        stations()[station].tx_power_dbm +
        propagation_.gain_db(station, static_cast<NodeId>(stations().size()) + robot, {});
    if (power <= most) continue;
    most = power;
    best = station;
  }
  return best;
}

/// Robots connect before the run, each to its strongest station. Those without a station in range
/// go on to look for one.
Result<void> Lte::attach() {
  for (NodeId robot = 0; robot < nodes(); ++robot) {
    const auto station = station_devices_.Get(strongest(robot));
    ns3::Simulator::Schedule(ns3::NanoSeconds(kBetweenAttaches.ns * robot),
                             [this, robot, station] { lte_->Attach(robots_[robot], station); });
  }
  const Time last = Time{kBetweenAttaches.ns * nodes()} + kLongestAttach;
  for (Time end{kBetweenAttaches.ns * (nodes() + 1)}; end <= last; end = end + kBetweenAttaches) {
    if (auto ran = simulator().run_before(end); !ran) return ran;
    bool all = true;
    for (NodeId robot = 0; robot < nodes(); ++robot) all = all && connected(robot);
    if (all) break;
  }
  begin_here();
  return success();
}

Result<void> Lte::check_packet(const Packet& packet) const {
  if (packet.bytes.size() <= kLongestDatagram) return success();
  return bad(Code::invalid_config, "a packet of " + std::to_string(packet.bytes.size()) +
                                       " bytes does not fit into a datagram: send less");
}

void Lte::enter(const Packet& packet) {
  std::uint32_t& waiting = waiting_up_[packet.from];
  if (waiting >= options().radio.queue_packets) {
    return fates().all_dropped(packet.id, now(), DropReason::queue_full);
  }
  ++waiting;
  up_.emplace(packet.id, packet);
  sockets_[packet.from]->SendTo(carrier_of(packet), 0,
                                ns3::InetSocketAddress(relay_address_, kPort));
  ns3::Simulator::Schedule(ns3::NanoSeconds(kPatience.ns), [this, id = packet.id] {
    const auto found = up_.find(id);
    if (found == up_.end()) return;
    const NodeId from = found->second.from;
    --waiting_up_[from];
    up_.erase(found);
    fates().all_dropped(id, now(), lost_at(from, false));
  });
}

/// The reason for the loss of a packet that a robot sent up, or that was to come down to it.
DropReason Lte::lost_at(NodeId robot, bool down) const {
  if (!connected(robot)) return DropReason::out_of_range;
  const NodeId station = robots_[robot]->GetRrc()->GetCellId() - 1U;
  const double gain =
      propagation_.gain_db(station, static_cast<NodeId>(stations().size()) + robot, now());
  const double ratio =
      down ? stations()[station].tx_power_dbm + gain - model_->noise_dbm()
           : options().radio.tx_power_dbm + gain - (model_->noise_dbm() - kStationNoiseDb);
  const bool reached = ratio >= model_->named()->kind().least_snr_db;
  return reached ? DropReason::retry_limit : DropReason::out_of_range;
}

/// A packet has come up.
void Lte::relay(PacketId id) {
  const auto found = up_.find(id);
  if (found == up_.end()) return;
  const Packet packet = std::move(found->second);
  up_.erase(found);
  --waiting_up_[packet.from];
  for (NodeId to = 0; to < nodes(); ++to) {
    if (to == packet.from && packet.to == kEveryone) continue;
    if (packet.to == kEveryone || packet.to == to) send_down(packet, to);
  }
}

void Lte::send_down(const Packet& packet, NodeId to) {
  std::uint32_t& waiting = waiting_down_[to];
  if (waiting >= options().radio.queue_packets) {
    return fates().dropped(packet.id, to, now(), DropReason::queue_full);
  }
  ++waiting;
  down_.emplace(std::pair(packet.id, to), packet.bytes);
  relay_socket_->SendTo(carrier_of(packet), 0, ns3::InetSocketAddress(addresses_[to], kPort));
  ns3::Simulator::Schedule(ns3::NanoSeconds(kPatience.ns), [this, id = packet.id, to] {
    if (down_.erase({id, to}) == 0) return;
    --waiting_down_[to];
    fates().dropped(id, to, now(), lost_at(to, true));
  });
}

/// A packet has come down.
void Lte::receive(PacketId id, NodeId robot) {
  const auto found = down_.find({id, robot});
  if (found == down_.end()) return;
  --waiting_down_[robot];
  fates().delivered(id, robot, now(), found->second);
  down_.erase(found);
}

}  // namespace

std::unique_ptr<Ns3Radio> make_ns3::lte(Ns3Options options, Scene scene) {
  return std::make_unique<Lte>(std::move(options), std::move(scene));
}

}  // namespace hyphos::cosim
