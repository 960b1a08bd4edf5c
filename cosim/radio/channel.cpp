#include "cosim/radio/channel.hpp"

#include <algorithm>
#include <cmath>

#include "cosim/radio/obstacles.hpp"

namespace hyphos::cosim {
namespace {

const Antenna kDefaultAntenna{};

/// An error with all names, for a name that no model has.
template <typename Known>
Error no_model(std::string_view name, const char* key, std::span<const Known> known) {
  std::string names;
  for (const Known& one : known) names += (names.empty() ? "" : ", ") + std::string(one.name);
  return {Code::invalid_config, "'" + std::string(name) + "' is not one of: " + names, key};
}

FadingOptions fading_options(const Channel::Setup& setup) {
  const ChannelOptions& options = setup.options;
  return {.frequency_hz = setup.frequency_hz,
          .k_los_db = options.k_los_db,
          .k_nlos_db = options.k_nlos_db,
          .m_los = options.m_los,
          .m_nlos = options.m_nlos,
          .scatterer_speed = options.scatterer_speed,
          .seed = setup.seed};
}

PathLossOptions path_loss_options(const Channel::Setup& setup) {
  return {.frequency_hz = setup.frequency_hz,
          .exponent = setup.exponent,
          .reference_loss_db = setup.reference_loss_db,
          .environment = setup.options.environment,
          .base_station = setup.base_stations};
}

}  // namespace

Result<Channel> Channel::make(const Setup& setup) {
  const ChannelOptions& options = setup.options;
  const KnownPathLoss* path_loss = find_path_loss(options.path_loss);
  if (path_loss == nullptr) return no_model(options.path_loss, "path_loss", known_path_losses());
  if (find_fading(options.fading) == nullptr) {
    return no_model(options.fading, "fading", known_fadings());
  }
  if (!options.environment.empty() &&
      std::ranges::find(path_loss->environments, options.environment) ==
          path_loss->environments.end()) {
    std::string names;
    for (const std::string_view name : path_loss->environments) {
      names += (names.empty() ? "" : ", ") + std::string(name);
    }
    return Error{Code::invalid_config,
                 names.empty() ? "only valid with `path_loss: air_to_ground` or `elevation`"
                               : "'" + options.environment + "' is not one of: " + names,
                 "environment"};
  }
  return Channel(setup);
}

Channel::Channel(const Setup& setup)
    : antennas_(setup.antennas),
      scene_(setup.scene),
      knife_edge_(setup.options.knife_edge),
      wavelength_m_(kSpeedOfLight / setup.frequency_hz),
      path_loss_(find_path_loss(setup.options.path_loss)->make(path_loss_options(setup))),
      fading_(find_fading(setup.options.fading)->make(fading_options(setup))),
      shadowing_(setup.seed, setup.shadowing_db, setup.options.shadowing_distance_m),
      sight_(setup.seed, setup.options.sight_distance_m) {
  most_above_db_ = std::hypot(shadowing_.most_db(), fading_->fades() ? Fading::kMostDb : 0);
  most_fading_db_ = {fading_->most_db(false), fading_->most_db(true)};
}

const Antenna& Channel::antenna(NodeId node) const {
  return node < antennas_.size() ? antennas_[node] : kDefaultAntenna;
}

Channel::Parts Channel::slow_parts(const Link& link, NodeId a, const Pose& at_a,
                                   const Pose& at_b) const {
  Parts parts;
  const bool forward = link.low.node == a;
  const Pose& low = forward ? at_a : at_b;
  const Pose& high = forward ? at_b : at_a;
  parts.antennas_db = antenna(link.low.node).towards(low, link.high.place) +
                      antenna(link.high.node).towards(high, link.low.place);
  bool clear = true;
  if (scene_ != nullptr && !scene_->empty()) {
    const double through = scene_->loss_db(link.low.place, link.high.place);
    clear = through == 0;
    parts.obstacles_db =
        knife_edge_ ? diffraction_db(*scene_, link.low.place, link.high.place, wavelength_m_)
                    : through;
  }
  parts.los_probability = path_loss_->los_probability(link);
  const bool open = sight_.clear(link, parts.los_probability);
  parts.path_loss_db = path_loss_->loss_db(link, open);
  parts.line_of_sight = clear && open;
  return parts;
}

Channel::Parts Channel::parts(NodeId a, const Pose& at_a, NodeId b, const Pose& at_b,
                              Time time) const {
  const Link link = Link::between({a, antenna(a).place(at_a)}, {b, antenna(b).place(at_b)});
  Parts parts = slow_parts(link, a, at_a, at_b);
  parts.shadowing_db = shadowing_.loss_db(link);
  if (fading_->fades()) {
    const double gain = fading_->gain(link, time, parts.line_of_sight);
    parts.fading_db = std::min({Fading::kMostDb, most_above_db_ + parts.shadowing_db,
                                10 * std::log10(std::max(gain, 1e-30))});
  }
  return parts;
}

std::optional<double> Channel::gain_db(NodeId a, const Pose& at_a, NodeId b, const Pose& at_b,
                                       Time time, double least_db) const {
  const Link link = Link::between({a, antenna(a).place(at_a)}, {b, antenna(b).place(at_b)});
  const Parts slow = slow_parts(link, a, at_a, at_b);
  double gain = slow.antennas_db - slow.path_loss_db - slow.obstacles_db;
  if (gain + most_above_db_ < least_db) return std::nullopt;
  const double shadowing = shadowing_.loss_db(link);
  gain -= shadowing;
  if (fading_->fades()) {
    const double most = std::min(Fading::kMostDb, most_above_db_ + shadowing);
    const double reachable = std::min(most, most_fading_db_[slow.line_of_sight ? 1 : 0]);
    if (gain + reachable < least_db) return std::nullopt;
    const double ratio = fading_->gain(link, time, slow.line_of_sight);
    gain += std::min(most, 10 * std::log10(std::max(ratio, 1e-30)));
  }
  if (gain < least_db) return std::nullopt;
  return gain;
}

double Channel::range_m(double least_db) const {
  double antennas = 0;  // the best pair
  double heights = 0;   // distances are those of the robots
  for (const Antenna& one : antennas_) {
    antennas = std::max(antennas, 2 * one.most_dbi());
    heights = std::max(heights, 2 * one.height_m);
  }
  const auto most = [&](double distance) {
    return antennas + most_above_db_ - path_loss_->least_db(distance);
  };
  double low = 1;
  double high = 1e8;
  if (most(low) < least_db) return low + heights;
  for (int i = 0; i < 100; ++i) {
    const double middle = std::sqrt(low * high);
    (most(middle) >= least_db ? low : high) = middle;
  }
  return high + heights;
}

}  // namespace hyphos::cosim
