#pragma once

#include <string>

#include "hyphos/inspect.hpp"
#include "tests/node/harness.hpp"

namespace hyphos::test {

/// No test waits this long, so a result that arrives is not caused by the timeout.
inline constexpr Duration kForEver = Duration::from_seconds(3600);

inline Number square(const Number& n) { return {n.value * n.value}; }

/// A server and a client, each in a separate process.
struct Two {
  std::string domain = fresh_domain();
  Runtime a = open_runtime(domain, "a");
  Runtime b = open_runtime(domain, "b");
  Node server = a.node("server").or_throw();
  Node client = b.node("client").or_throw();
};

inline std::uint64_t counter(const std::string& domain, const std::string& channel,
                             const std::string& name) {
  std::uint64_t sum = 0;
  for (const ProcessInfo& process : inspect(domain).or_throw()) {
    for (const EndpointInfo& end : process.endpoints) {
      if (end.channel == channel) sum += end.counter(name);
    }
  }
  return sum;
}

}  // namespace hyphos::test
