#pragma once

#include "tests/transport/zmq_factory.hpp"
#include "transport/faulty.hpp"

namespace hyphos::transport::testing {

/// Delay and jitter change only the time of arrival.
class FaultyFactory final : public Factory {
 public:
  std::shared_ptr<Transport> publisher() override { return inner_.publisher(); }
  std::shared_ptr<Transport> subscriber(const std::string& name) override {
    FaultConfig config;
    config.delay_us = 300;
    config.jitter_us = 300;
    auto faulty = make_faulty(inner_.unstarted_subscriber(name), config);
    faulty->start().or_throw();
    return faulty;
  }

 private:
  ZmqFactory inner_{false};
};

}  // namespace hyphos::transport::testing
