#pragma once

#include <cstdint>
#include <memory>

#include "transport/transport.hpp"

namespace hyphos::transport {

/// What `faulty` does to messages on their way in. Probabilities are 0 to 1.
struct FaultConfig {
  std::uint64_t seed = 1;      ///< the same seed and the same messages give the same faults
  double loss = 0;             ///< a message disappears
  double reorder = 0;          ///< a message is overtaken by the one behind it
  double duplicate = 0;        ///< a message comes twice
  std::int64_t delay_us = 0;   ///< every message is held back this long
  std::int64_t jitter_us = 0;  ///< and up to so much longer; order is kept unless `reorder` says so
  std::uint32_t queue = 4096;  ///< messages that may be held back per channel; more are dropped
};

/// A bad network around any other transport, for tests. Faults happen between the inner transport
/// and the inlet, after every promise that the inner one made, so that what stands above can be
/// shown to survive them. Each lost message is counted as Drop::injected.
///
/// Everything else is passed through unchanged, the name included. A message without delay costs
/// one lock more; what was delayed is handed over by a thread that sleeps while nothing is.
[[nodiscard]] std::unique_ptr<Transport> make_faulty(std::shared_ptr<Transport> inner,
                                                     const FaultConfig& config);

}  // namespace hyphos::transport
