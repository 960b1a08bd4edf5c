#pragma once

#include "cosim/network/radio_model.hpp"

namespace hyphos::cosim {

/// A radio with every part of a channel: ground reflection, shadowing and fading.
inline RadioOptions fading_radio() {
  RadioOptions options;
  options.kind = "802.11g";
  options.shadowing_db = 4;
  options.channel.path_loss = "two_ray";
  options.channel.fading = "rician";
  return options;
}

}  // namespace hyphos::cosim
