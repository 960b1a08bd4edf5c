#pragma once

#include "cosim/radio/kinds.hpp"

/// The radios, one file for a family.
namespace hyphos::cosim::radios {

extern const RadioKind kWifiG;
extern const RadioKind kWifiN;
extern const RadioKind kWifiAc;
extern const RadioKind kWifiAx;
extern const RadioKind kIeee802154;
extern const RadioKind kLora;
extern const RadioKind kCell;

}  // namespace hyphos::cosim::radios
