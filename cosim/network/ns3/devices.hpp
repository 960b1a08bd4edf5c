#pragma once

#include "cosim/network/radio_model.hpp"
#include "ns3/net-device-container.h"
#include "ns3/node-container.h"

namespace hyphos::cosim {

/// Installs ns-3's 802.11 devices in one ad-hoc network. Without a `kind` they have 802.11g at a
/// constant rate. Errors: unsupported, if ns-3 has no such radio or rate control.
[[nodiscard]] Result<ns3::NetDeviceContainer> make_wifi(const RadioModel& model,
                                                        const ns3::NodeContainer& nodes);

}  // namespace hyphos::cosim
