#include "cosim/network/ns3/devices.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "cosim/network/ns3/medium.hpp"
#include "cosim/network/ns3/preamble.hpp"
#include "ns3/block-ack-manager.h"
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/he-configuration.h"
#include "ns3/mgt-headers.h"
#include "ns3/qos-txop.h"
#include "ns3/queue-size.h"
#include "ns3/string.h"
#include "ns3/txop.h"
#include "ns3/uinteger.h"
#include "ns3/wifi-mac-queue.h"
#include "ns3/wifi-mac.h"
#include "ns3/wifi-net-device.h"

namespace hyphos::cosim {
namespace {

constexpr std::uint16_t kMtu = 1500;
constexpr double kThermalNoiseDbm = -100.965;  // of 20 MHz at 290 K

/// ns-3's name for a rate of 802.11g.
ns3::StringValue mode(double rate_mbit) {
  return {"ErpOfdmRate" + std::to_string(std::lround(rate_mbit)) + "Mbps"};
}

ns3::Ptr<ns3::Txop> queue_of(const ns3::Ptr<ns3::WifiNetDevice>& device) {
  const auto mac = device->GetMac();
  if (!mac->GetQosSupported()) return mac->GetTxop();
  return mac->GetQosTxop(ns3::AC_BE);
}

void set_queues(const ns3::NetDeviceContainer& devices, const RadioModel& model) {
  for (std::uint32_t i = 0; i < devices.GetN(); ++i) {
    const auto device = ns3::DynamicCast<ns3::WifiNetDevice>(devices.Get(i));
    device->SetMtu(kMtu);
    const auto txop = queue_of(device);
    txop->SetMinCw(model.cw_min());
    txop->SetMaxCw(model.cw_max());
    txop->GetWifiMacQueue()->SetMaxSize(
        {ns3::QueueSizeUnit::PACKETS, model.options().queue_packets});
    // Packets leave the queue only by being sent.
    txop->GetWifiMacQueue()->SetMaxDelay(ns3::Hours(1));
  }
}

ns3::NetDeviceContainer simple_wifi(const RadioModel& model, const ns3::NodeContainer& nodes) {
  const RadioOptions& radio = model.options();
  RadioPhyHelper phy;
  phy.Set("TxPowerStart", ns3::DoubleValue(radio.tx_power_dbm));
  phy.Set("TxPowerEnd", ns3::DoubleValue(radio.tx_power_dbm));
  phy.Set("RxNoiseFigure", ns3::DoubleValue(radio.noise_dbm - kThermalNoiseDbm));
  phy.Set("RxSensitivity", ns3::DoubleValue(radio.detection_dbm));
  phy.SetPreambleDetectionModel("ns3::ThresholdPreambleDetectionModel", "MinimumRssi",
                                ns3::DoubleValue(radio.detection_dbm));
  ns3::WifiHelper wifi;
  wifi.SetStandard(ns3::WIFI_STANDARD_80211g);
  wifi.SetRemoteStationManager(
      "ns3::ConstantRateWifiManager", "DataMode", mode(radio.rate_mbit), "ControlMode",
      mode(radio.rate_mbit >= 24   ? 24
           : radio.rate_mbit >= 12 ? 12
                                   : 6),
      "NonUnicastMode", mode(radio.rate_mbit), "MaxSsrc", ns3::UintegerValue(radio.retry_limit),
      "MaxSlrc", ns3::UintegerValue(radio.retry_limit));
  ns3::WifiMacHelper mac;
  mac.SetType("ns3::AdhocWifiMac");
  auto devices = wifi.Install(phy, mac, nodes);
  wifi.AssignStreams(devices, 0);
  return devices;
}

/// A generation of 802.11 in ns-3.
struct Generation {
  std::string_view kind;
  ns3::WifiStandard standard;
  const char* channel;  // number, MHz, band, primary channel
  const char* prefix;   // of the rates
  const char* suffix;
  const char* control;  // prefix of the rates of acknowledgements
  const char* minstrel;
  bool qos;
  bool block_acks;  // are agreed on before the first frame to a node
};
constexpr std::array<Generation, 4> kGenerations{
    {{"802.11g", ns3::WIFI_STANDARD_80211g, "{6, 20, BAND_2_4GHZ, 0}", "ErpOfdmRate", "Mbps",
      "ErpOfdmRate", "ns3::MinstrelWifiManager", false, false},
     {"802.11n", ns3::WIFI_STANDARD_80211n, "{6, 20, BAND_2_4GHZ, 0}", "HtMcs", "", "ErpOfdmRate",
      "ns3::MinstrelHtWifiManager", true, false},
     {"802.11ac", ns3::WIFI_STANDARD_80211ac, "{36, 20, BAND_5GHZ, 0}", "VhtMcs", "", "OfdmRate",
      "ns3::MinstrelHtWifiManager", true, true},
     {"802.11ax", ns3::WIFI_STANDARD_80211ax, "{36, 20, BAND_5GHZ, 0}", "HeMcs", "", "OfdmRate",
      "ns3::MinstrelHtWifiManager", true, true}}};

const Generation* generation_of(const std::string& kind) {
  const auto found = std::ranges::find(kGenerations, kind, &Generation::kind);
  return found == kGenerations.end() ? nullptr : &*found;
}

/// "mcs7" is HtMcs7, VhtMcs7 or HeMcs7, and "24" is ErpOfdmRate24Mbps.
std::string mode_of(const Generation& generation, std::string_view rate) {
  if (rate.starts_with("mcs")) rate.remove_prefix(3);
  return generation.prefix + std::string(rate) + generation.suffix;
}

/// The rate of acknowledgements: the highest basic rate up to that of the data.
std::string control_of(const Generation& generation, const Rate& rate) {
  const char* mbit = rate.mbit >= 24 ? "24" : rate.mbit >= 12 ? "12" : "6";
  return generation.control + std::string(mbit) + "Mbps";
}

void set_rates(ns3::WifiHelper& wifi, const RadioModel& model, const Generation& generation) {
  const RadioOptions& radio = model.options();
  const Radio& named = *model.named();
  const ns3::UintegerValue attempts(radio.retry_limit);
  const Rate& everyone = named.kind().rates[named.rate_control().everyone()];
  const ns3::StringValue slowest(mode_of(generation, everyone.name));
  if (radio.rate_control == "fixed") {
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", slowest, "ControlMode",
                                 ns3::StringValue(control_of(generation, everyone)),
                                 "NonUnicastMode", slowest, "MaxSsrc", attempts, "MaxSlrc",
                                 attempts);
    return;
  }
  const char* manager =
      radio.rate_control == "ideal" ? "ns3::IdealWifiManager" : generation.minstrel;
  wifi.SetRemoteStationManager(manager, "NonUnicastMode", slowest, "MaxSsrc", attempts, "MaxSlrc",
                               attempts);
}

/// Frames are acknowledged one by one, as in the analytic radio. Devices of 802.11ac and ax would
/// otherwise agree on block acknowledgements even without aggregation. A frame that is given up
/// then delays the later packets of its sender at the receiver, until its window moves on.
void leave_out_block_acks(const ns3::NetDeviceContainer& devices) {
  constexpr std::uint8_t kBestEffort = 0;  // the traffic of all packets
  ns3::MgtAddBaRequestHeader request;
  request.SetImmediateBlockAck();
  request.SetTid(kBestEffort);
  request.SetTimeout(0);
  request.SetBufferSize(1);
  request.SetStartingSequence(0);
  for (std::uint32_t from = 0; from < devices.GetN(); ++from) {
    const auto mac = ns3::DynamicCast<ns3::WifiNetDevice>(devices.Get(from))->GetMac();
    const auto agreements = mac->GetQosTxop(kBestEffort)->GetBaManager();
    for (std::uint32_t to = 0; to < devices.GetN(); ++to) {
      if (to == from) continue;
      const auto peer = ns3::Mac48Address::ConvertFrom(devices.Get(to)->GetAddress());
      agreements->CreateAgreement(&request, peer);
      agreements->NotifyAgreementNoReply(peer, kBestEffort);
    }
  }
}

/// 802.11 of the table of `kind`: short slots, EDCA of best effort with the waiting time of the
/// table, and no aggregation.
ns3::NetDeviceContainer named_wifi(const RadioModel& model, const Generation& generation,
                                   const ns3::NodeContainer& nodes) {
  const RadioOptions& radio = model.options();
  const Radio& named = *model.named();
  RadioPhyHelper phy;
  phy.Set("ChannelSettings", ns3::StringValue(generation.channel));
  phy.Set("TxPowerStart", ns3::DoubleValue(radio.tx_power_dbm));
  phy.Set("TxPowerEnd", ns3::DoubleValue(radio.tx_power_dbm));
  phy.Set("RxNoiseFigure", ns3::DoubleValue(named.noise_dbm() - kThermalNoiseDbm));
  phy.Set("CcaEdThreshold", ns3::DoubleValue(named.kind().energy_dbm));
  phy.SetErrorRateModel("ns3::NistErrorRateModel");
  ns3::WifiHelper wifi;
  wifi.SetStandard(generation.standard);
  set_rates(wifi, model, generation);
  ns3::WifiMacHelper mac;
  mac.SetType("ns3::AdhocWifiMac", "QosSupported", ns3::BooleanValue(generation.qos),
              "BE_MaxAmpduSize", ns3::UintegerValue(0), "BE_MaxAmsduSize", ns3::UintegerValue(0));
  auto devices = wifi.Install(phy, mac, nodes);
  wifi.AssignStreams(devices, 0);
  for (std::uint32_t i = 0; i < devices.GetN(); ++i) {
    const auto device = ns3::DynamicCast<ns3::WifiNetDevice>(devices.Get(i));
    const auto detector = ns3::CreateObject<PreambleDetector>();
    detector->attach(model, i);
    device->GetPhy()->SetPreambleDetectionModel(detector);
    if (const auto he = device->GetHeConfiguration(); he != nullptr) {
      he->SetGuardInterval(ns3::NanoSeconds(800));
    }
    device->GetPhy()->SetSlot(ns3::NanoSeconds(named.kind().slot.ns));
  }
  if (generation.block_acks) leave_out_block_acks(devices);
  return devices;
}

}  // namespace

Result<ns3::NetDeviceContainer> make_wifi(const RadioModel& model,
                                          const ns3::NodeContainer& nodes) {
  ns3::NetDeviceContainer devices;
  if (model.named() == nullptr) {
    devices = simple_wifi(model, nodes);
  } else {
    const Generation* generation = generation_of(model.options().kind);
    if (generation == nullptr) {
      return Error{Code::unsupported, "ns-3 has no radio '" + model.options().kind + "' here",
                   "ns3"};
    }
    devices = named_wifi(model, *generation, nodes);
  }
  set_queues(devices, model);
  return devices;
}

}  // namespace hyphos::cosim
