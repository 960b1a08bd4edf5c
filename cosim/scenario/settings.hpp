#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/config.hpp"

/// Changes of a scenario from outside its file, before the file is interpreted.
namespace hyphos::cosim {

/// KEY=VALUE. KEY is a path such as `radio.tx_power_dbm` or `world.boxes[0].loss_db`, VALUE is
/// YAML.
struct OuterSetting {
  std::string option;  ///< the option that holds it, for error texts: "--set"
  std::string text;
};

inline constexpr std::int64_t kMostRobots = 10'000;

/// Applies settings to the tree of a scenario, in their order. A number as the value of `robots` is
/// the size of the team. It is applied last:
///
/// - A smaller team has the first robots of the file.
/// - A larger team has copies of all robots of the file, in turn. Copies of NAME are NAME_2, NAME_3
///   and so on. Each round of copies is moved by `copies.apart_m`. Without this key it is moved
///   along y by the width of the team plus 5 m, so that no copy overlaps another robot.
///
/// Mistakes become Problems that name the option and the key.
void apply_settings(config::Value& scenario, const std::vector<OuterSetting>& settings,
                    config::Problems& problems);

}  // namespace hyphos::cosim
