#pragma once

#include <vector>

#include "tests/transport/conformance.hpp"
#include "tests/transport/faulty_factory.hpp"
#include "tests/transport/sample_transport.hpp"
#include "tests/transport/shm_factory.hpp"
#include "tests/transport/zmq_factory.hpp"

namespace hyphos::transport::testing {

/// Every transport that has to pass. A new one is one line here.
inline std::vector<Candidate> candidates() {
  return {
      {"Sample", [] { return std::make_unique<SampleFactory>(); }},
      {"Shm", [] { return std::make_unique<ShmFactory>(); }},
      {"ZmqIpc", [] { return std::make_unique<ZmqFactory>(false); }},
      {"ZmqTcp", [] { return std::make_unique<ZmqFactory>(true); }},
      {"FaultyZmq", [] { return std::make_unique<FaultyFactory>(); }},
  };
}

}  // namespace hyphos::transport::testing
