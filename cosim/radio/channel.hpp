#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cosim/radio/antenna.hpp"
#include "cosim/radio/fading.hpp"
#include "cosim/radio/path_loss.hpp"
#include "cosim/radio/shadowing.hpp"

namespace hyphos::cosim {

/// The parts of a channel by name, and their numbers.
struct ChannelOptions {
  std::string path_loss = "log_distance";
  std::string environment{};
  bool knife_edge = false;  ///< signals bend around the boxes of the world
  double shadowing_distance_m = 10;
  double sight_distance_m = 50;  ///< correlation of the line of sight (3GPP TR 38.901, 7.6.3)
  std::string fading = "none";
  double k_los_db = 9;
  double k_nlos_db = -100;
  double m_los = 3;
  double m_nlos = 1;
  double scatterer_speed = 0.33;
  double noise_figure_db = -1;      ///< negative: that of the radio
  double interference_dbm = -1000;  ///< power of other systems in the band
  double frequency_hz = 0;          ///< 0: that of the radio
};

/// Everything between the amplifier of a sender and the detector of a receiver: antennas, path
/// loss, obstacles, shadowing and fading. Each part is one model, and their gains add in dB.
///
/// A gain depends on seed, link, poses and time only. It is the same in both directions, bit by
/// bit. Thread-safe.
class Channel {
 public:
  struct Setup {
    ChannelOptions options{};
    double exponent = 3;  ///< of log_distance
    double reference_loss_db = 40.05;
    double shadowing_db = 0;
    double frequency_hz = 2.437e9;
    std::vector<Antenna> antennas{};  ///< by node. Nodes beyond have the default
    const Scene* scene = nullptr;
    std::uint64_t seed = 1;
    bool base_stations = false;  ///< the node with the lower number of each link is one
  };
  /// Errors: invalid_config, with the option's name as `where`.
  [[nodiscard]] static Result<Channel> make(const Setup& setup);

  /// The gain in dB from a to b, negative as a rule. Nothing if it is surely below `least_db`: this
  /// costs less.
  [[nodiscard]] std::optional<double> gain_db(NodeId a, const Pose& at_a, NodeId b,
                                              const Pose& at_b, Time time, double least_db) const;

  /// The parts of a gain, for curves and tests.
  struct Parts {
    double antennas_db = 0;
    double path_loss_db = 0;
    double obstacles_db = 0;
    double shadowing_db = 0;
    double fading_db = 0;
    double los_probability = 1;
    bool line_of_sight = true;

    [[nodiscard]] double sum_db() const {
      return antennas_db - path_loss_db - obstacles_db - shadowing_db + fading_db;
    }
  };
  [[nodiscard]] Parts parts(NodeId a, const Pose& at_a, NodeId b, const Pose& at_b,
                            Time time) const;

  /// The distance beyond which every gain is below `least_db`.
  [[nodiscard]] double range_m(double least_db) const;
  [[nodiscard]] double steepest() const { return path_loss_->steepest(); }
  [[nodiscard]] const PathLoss& path_loss() const { return *path_loss_; }

 private:
  explicit Channel(const Setup& setup);
  [[nodiscard]] const Antenna& antenna(NodeId node) const;
  /// All parts but shadowing and fading.
  [[nodiscard]] Parts slow_parts(const Link& link, NodeId a, const Pose& at_a,
                                 const Pose& at_b) const;

  std::vector<Antenna> antennas_;
  const Scene* scene_;
  bool knife_edge_;
  double wavelength_m_;
  /// The largest gain of shadowing and fading together: √(a² + b²) of both limits. Their sum is
  /// larger in 6 of 10,000 places with Rayleigh fading, and is cut there: each pair in range costs
  /// time.
  double most_above_db_ = 0;
  std::shared_ptr<const PathLoss> path_loss_;
  std::shared_ptr<const Fading> fading_;
  std::array<double, 2> most_fading_db_{};  ///< without and with a line of sight
  Shadowing shadowing_;
  Sight sight_;
};

}  // namespace hyphos::cosim
