#pragma once

#include <string>
#include <vector>

#include "cosim/core/geometry.hpp"
#include "hyphos/time.hpp"

namespace hyphos::cosim {

struct BaseStation {
  std::string name;
  Vec3 place;  ///< of its antenna
  double tx_power_dbm = 43;
  double gain_dbi = 0;
};

/// The base stations of a cellular radio, and the network between them.
struct CellOptions {
  std::vector<BaseStation> stations{};
  Duration core_delay = Duration::from_ms(4);  ///< between two base stations, or back to the same
  double load = 0.3;       ///< the share of time in which other stations interfere
  double handover_db = 3;  ///< event A3 of 3GPP TS 38.331: another station is stronger by this
  Duration time_to_trigger = Duration::from_ms(160);  ///< for this time
  Duration interruption = Duration::from_ms(50);      ///< of a handover
};

}  // namespace hyphos::cosim
