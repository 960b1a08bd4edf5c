#include "cosim/methods/fixed.hpp"
#include "cosim/methods/methods.hpp"

namespace hyphos::cosim::make {

/// The default behaviour of the engine. With windows of one step it adds no error.
std::unique_ptr<Method> lockstep(const MethodOptions& options) {
  return std::make_unique<Fixed>(options, Exchange::exact);
}

}  // namespace hyphos::cosim::make
