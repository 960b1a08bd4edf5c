#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "cosim/core/packet.hpp"
#include "cosim/radio/kinds.hpp"
#include "hyphos/result.hpp"

namespace hyphos::cosim {

/// The memory of a rate control about one rate of one link.
struct RateMemory {
  double success = 0;  ///< smoothed share of frames that arrived
  bool known = false;
  std::uint32_t tried = 0;  ///< since the last update
  std::uint32_t arrived = 0;
};
/// The memory about one link, in one direction.
struct LinkMemory {
  NodeId to = 0;
  Time updated{};
  std::vector<RateMemory> rates{};
  std::uint32_t best = 0;
  std::uint32_t second = 0;
  std::uint32_t safest = 0;
};

/// Chooses the rate of each frame to one node. It has no state of its own: the caller keeps a
/// LinkMemory for each link, and saves it.
class RateControl {
 public:
  /// One attempt to send a packet.
  struct Attempt {
    PacketId packet = 0;
    std::uint32_t number = 1;  ///< from 1
    NodeId from = 0;
    Time now;
  };
  RateControl() = default;
  RateControl(const RateControl&) = delete;
  RateControl& operator=(const RateControl&) = delete;
  virtual ~RateControl() = default;

  /// False: the caller need not keep a LinkMemory.
  [[nodiscard]] virtual bool remembers() const = 0;
  [[nodiscard]] virtual std::uint32_t choose(LinkMemory& link, const Attempt& attempt) const = 0;
  virtual void report(LinkMemory& link, std::uint32_t rate, bool arrived) const = 0;
  /// The rate of frames to everyone.
  [[nodiscard]] virtual std::uint32_t everyone() const = 0;
};

struct RateControlOptions {
  const RadioKind* kind = nullptr;
  std::uint32_t rate = 0;  ///< of fixed
  std::uint64_t seed = 1;
};
struct KnownRateControl {
  std::string_view name;
  std::string_view about;
  std::unique_ptr<RateControl> (*make)(const RateControlOptions&);
  bool ns3_only = false;  ///< a name for a rate control of ns-3. `make` is not used
};
[[nodiscard]] std::span<const KnownRateControl> known_rate_controls();
[[nodiscard]] const KnownRateControl* find_rate_control(std::string_view name);

}  // namespace hyphos::cosim
