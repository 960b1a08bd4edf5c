#pragma once

#include "cosim/core/method.hpp"

namespace hyphos::cosim {

/// Windows of one fixed length. Methods differ in the way packets cross from one window to the
/// next.
class Fixed : public Method {
 public:
  Fixed(const MethodOptions& options, Exchange exchange)
      : steps_(options.step.whole_steps(options.window)), exchange_(exchange) {}

  Exchange exchange() const final { return exchange_; }
  Result<Window> plan(const Situation& situation) override {
    return Window{situation.index + steps_, false};
  }

 private:
  std::int64_t steps_;
  Exchange exchange_;
};

}  // namespace hyphos::cosim
