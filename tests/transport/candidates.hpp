#pragma once

#include <string>
#include <vector>

#include "tests/transport/conformance.hpp"
#include "tests/transport/faulty_factory.hpp"
#include "tests/transport/registered_factory.hpp"
#include "tests/transport/zmq_factory.hpp"

namespace hyphos::transport::testing {

/// All transports to test: every registered one (including the sample of the tests), and some in
/// other setups.
inline std::vector<Candidate> candidates() {
  std::vector<Candidate> all;
  for (const std::string_view name : transport_names()) {
    const std::string registered(name);
    all.push_back(
        {registered, [registered] { return std::make_unique<RegisteredFactory>(registered); }});
  }
  all.push_back({"zmq_tcp", [] { return std::make_unique<ZmqFactory>(true); }});
  all.push_back({"faulty_zmq", [] { return std::make_unique<FaultyFactory>(); }});
  return all;
}

}  // namespace hyphos::transport::testing
