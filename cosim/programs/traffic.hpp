#pragma once

#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "cosim/core/geometry.hpp"
#include "cosim/programs/flow.hpp"

namespace hyphos::cosim {

struct TrafficOptions {
  std::uint32_t nodes = 2;
  std::uint64_t seed = 1;
  /// The master robot. Every packet goes to it first and from there to its receiver: two hops, and
  /// two packets. kEveryone: no master, every packet goes directly.
  NodeId via = kEveryone;
  std::vector<FlowOptions> flows{};
};

/// Several flows at once, distinguished by the header in their packets.
class Traffic final : public Programs {
 public:
  /// `scene` must outlive the object.
  Traffic(const TrafficOptions& options, const Scene& scene);

  void step(Time now, std::span<const Delivery> inbox, std::span<const Pose> poses,
            Outbox& outbox) override;
  Time next_event_time() const override;

  [[nodiscard]] std::vector<FlowResult> results() const;

 private:
  void receive(Instant& at, const Delivery& delivery, Outbox& outbox);

  NodeId via_;
  const Scene& scene_;
  std::vector<std::unique_ptr<Flow>> flows_;
  // Of messages that the master has relayed: the parts of the first hop, and the time in the
  // master.
  std::map<std::tuple<std::uint16_t, Header::Kind, std::uint32_t>, DelayParts> relayed_;
};

}  // namespace hyphos::cosim
