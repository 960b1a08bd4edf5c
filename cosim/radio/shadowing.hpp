#pragma once

#include "cosim/radio/waves.hpp"

namespace hyphos::cosim {

/// Shadowing with a normal distribution in dB and Gudmundson's correlation exp(-Δ / distance). Each
/// link has a field of its own, over the places of both ends. Values are cut at three deviations.
class Shadowing {
 public:
  static constexpr double kMostDeviations = 3;

  /// Without a `distance_m`, a link has one value for the whole run.
  Shadowing(std::uint64_t seed, double deviation_db, double distance_m);

  [[nodiscard]] double loss_db(const Link& link) const;
  [[nodiscard]] double most_db() const { return kMostDeviations * deviation_db_; }

 private:
  double deviation_db_;
  Waves waves_;
};

/// Whether a model's line of sight exists on a link, with the probability that the model gives for
/// its places. The state is correlated along the way like Shadowing.
class Sight {
 public:
  Sight(std::uint64_t seed, double distance_m);

  [[nodiscard]] bool clear(const Link& link, double probability) const;

 private:
  Waves waves_;
};

}  // namespace hyphos::cosim
