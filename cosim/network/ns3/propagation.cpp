#include "cosim/network/ns3/propagation.hpp"

#include <algorithm>

#include "ns3/constant-position-mobility-model.h"
#include "ns3/double.h"

namespace hyphos::cosim {
namespace {

constexpr std::int64_t kStreams = 1 << 20;  // beyond those of the devices

ns3::Vector vector_of(const Vec3& at) { return {at.x, at.y, at.z}; }

}  // namespace

ns3::Ptr<ns3::PropagationLossModel> ns3_path_loss(const RadioOptions& radio, double frequency_hz) {
  const std::string& name = radio.channel.path_loss;
  if (name == "log_distance") {
    auto loss = ns3::CreateObject<ns3::LogDistancePropagationLossModel>();
    loss->SetPathLossExponent(radio.path_loss_exponent);
    loss->SetReference(1, radio.reference_loss_db);
    return loss;
  }
  if (name == "free_space") {
    auto loss = ns3::CreateObject<ns3::FriisPropagationLossModel>();
    loss->SetFrequency(frequency_hz);
    return loss;
  }
  if (name == "two_ray") {
    auto loss = ns3::CreateObject<ns3::TwoRayGroundPropagationLossModel>();
    loss->SetFrequency(frequency_hz);
    loss->SetMinDistance(1);
    loss->SetHeightAboveZ(0);
    return loss;
  }
  return nullptr;
}

ns3::Ptr<ns3::PropagationLossModel> ns3_nakagami(double m) {
  auto fading = ns3::CreateObject<ns3::NakagamiPropagationLossModel>();
  for (const char* name : {"m0", "m1", "m2"}) fading->SetAttribute(name, ns3::DoubleValue(m));
  return fading;
}

void Propagation::init(const RadioModel& model, Models models, std::uint32_t nodes) {
  model_.emplace(model);
  poses_.assign(nodes, {});
  if (model_->named() == nullptr || models != Models::ns3) return;
  const ChannelOptions& channel = model_->options().channel;
  path_loss_ = ns3_path_loss(model_->options(), model_->named()->frequency_hz());
  if (channel.fading == "rayleigh") clear_fading_ = blocked_fading_ = ns3_nakagami(1);
  if (channel.fading == "nakagami") {
    clear_fading_ = ns3_nakagami(channel.m_los);
    blocked_fading_ = ns3_nakagami(channel.m_nlos);
  }
  if (clear_fading_ != nullptr) {
    clear_fading_->AssignStreams(kStreams);
    blocked_fading_->AssignStreams(kStreams + 8);
  }
  for (std::uint32_t node = 0; node < nodes; ++node) {
    places_.push_back(ns3::CreateObject<ns3::ConstantPositionMobilityModel>());
  }
}

void Propagation::set_poses(std::span<const Pose> poses) {
  poses_.assign(poses.begin(), poses.end());
  const std::vector<Antenna>& antennas = model_->options().antennas;
  for (std::size_t node = 0; node < places_.size(); ++node) {
    const Antenna antenna = node < antennas.size() ? antennas[node] : Antenna{};
    Vec3 at = antenna.place(poses_[node]);
    // ns-3's TwoRayGround fails on the ground itself. Ours has the same lowest height.
    at.z = std::max(at.z, 0.01);
    places_[node]->SetPosition(vector_of(at));
  }
}

double Propagation::gain_db(NodeId from, NodeId to, Time now) const {
  Channel::Parts parts = model_->named()->channel().parts(from, poses_[from], to, poses_[to], now);
  if (path_loss_ != nullptr) {
    parts.path_loss_db = -path_loss_->CalcRxPower(0, places_[from], places_[to]);
  }
  if (clear_fading_ != nullptr) {
    const auto& fading = parts.line_of_sight ? clear_fading_ : blocked_fading_;
    parts.fading_db = std::min(Fading::kMostDb, fading->CalcRxPower(0, places_[from], places_[to]));
  }
  return parts.sum_db();
}

std::optional<double> Propagation::received_dbm(NodeId from, NodeId to, Time now) const {
  const Vec3 way = poses_[to].position - poses_[from].position;
  if (model_->surely_out_of_range(dot(way, way))) return std::nullopt;
  if (path_loss_ == nullptr && clear_fading_ == nullptr) {
    return model_->received_dbm(from, poses_[from], to, poses_[to], now);
  }
  const double power = model_->options().tx_power_dbm + gain_db(from, to, now);
  const double least = model_->noise_dbm() + model_->named()->kind().least_snr_db;
  if (power < least) return std::nullopt;
  return power;
}

}  // namespace hyphos::cosim
