#pragma once

#include <cstdint>
#include <memory>

#include "transport/transport.hpp"

namespace hyphos::transport {

/// The faults that `faulty` applies to incoming messages. Probabilities are 0 to 1.
struct FaultConfig {
  std::uint64_t seed = 1;      ///< the same seed and the same messages give the same faults
  double loss = 0;             ///< a message disappears
  double reorder = 0;          ///< a message is overtaken by the next one
  double duplicate = 0;        ///< a message arrives twice
  std::int64_t delay_us = 0;   ///< every message is delayed by this time
  std::int64_t jitter_us = 0;  ///< plus up to this time. Order is kept, except by `reorder`
  std::uint32_t queue = 4096;  ///< delayed messages per channel. Further messages are dropped
};

/// Simulates a bad network around another transport, for tests. The faults happen between the inner
/// transport and the receive sink, after all guarantees of the inner transport. So tests show that
/// the layers above survive them. Each lost message is counted as Drop::injected.
///
/// Everything else passes through unchanged, including the name. A message without delay costs one
/// more lock. A thread delivers the delayed messages and sleeps while there are none.
[[nodiscard]] std::unique_ptr<Transport> make_faulty(std::shared_ptr<Transport> inner,
                                                     const FaultConfig& config);

}  // namespace hyphos::transport
