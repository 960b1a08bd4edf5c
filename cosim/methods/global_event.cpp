#include <memory>

#include "cosim/methods/variant.hpp"

namespace hyphos::cosim {
namespace {

/// CPS-Sim: one global order of events, which both simulators reproduce. Physics advances in steps,
/// so the order is the same as in lockstep with windows of one step. In addition the network stops
/// at each event, which is the cost of this method. The configured window has no effect.
class GlobalEvent final : public Method {
 public:
  Exchange exchange() const override { return Exchange::exact; }
  Result<Window> plan(const Situation& situation) override {
    return Window{situation.index + 1, false};
  }
  bool stops_at_events() const override { return true; }
};

}  // namespace

namespace make {
std::unique_ptr<Method> global_event(const MethodOptions& /*options*/, const Variant& /*variant*/) {
  return std::make_unique<GlobalEvent>();
}
}  // namespace make

}  // namespace hyphos::cosim
