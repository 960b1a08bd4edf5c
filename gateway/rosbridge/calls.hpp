#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "gateway/rosbridge/context.hpp"
#include "gateway/rosbridge/rosapi.hpp"

namespace hyphos::gateway::rosbridge {

/// The services that one client calls. For use by one thread at a time.
class Calls {
 public:
  Calls(Context& context, std::shared_ptr<ContextGate> gate, NodeParams& params)
      : context_(context),
        gate_(std::move(gate)),
        rosapi_(context.facade, context.client, params) {}

  /// A later failure is reported with `result: false`, as in the original rosbridge. Errors: faults
  /// of the request itself.
  Result<void> call(const Request& request);

 private:
  Result<void> start(const Request& request, const Shape& shape);
  /// `form`: of the values.
  [[nodiscard]] std::function<void(Result<Buffer>)> responder(const Request& request,
                                                              const Shape& shape, Form form);
  [[nodiscard]] Result<TypeInfo> request_type(const std::string& service) const;

  Context& context_;
  const std::shared_ptr<ContextGate> gate_;
  const Rosapi rosapi_;
  const std::shared_ptr<std::atomic<std::size_t>> pending_ =
      std::make_shared<std::atomic<std::size_t>>(0);
};

}  // namespace hyphos::gateway::rosbridge
