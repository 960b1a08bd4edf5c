#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "gateway/facade/hyphos_graph.hpp"
#include "hyphos/hyphos.hpp"
#include "tests/gateway/convert/sample.hpp"

namespace hyphos::gateway {

/// Succeeds if `text` contains `part`. A failure shows both.
inline testing::AssertionResult has(std::string_view text, std::string_view part) {
  if (text.find(part) != std::string_view::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no '" << part << "' in '" << text << "'";
}

/// A process with the graph facade and a node of the robot.
class HyphosGraphTest : public testing::Test {
 protected:
  static RuntimeOptions alone() {
    static int count = 0;
    RuntimeOptions options;
    options.domain = "door" + std::to_string(getpid()) + "_" + std::to_string(++count);
    return options;
  }
  HyphosGraph facade_with(Rules rules) {
    return {robot_.runtime().node("other").or_throw(), types_, std::move(rules)};
  }

  Node robot_ = Node::open("robot", alone()).or_throw();
  std::shared_ptr<Types> types_ = sample_types();
  HyphosGraph facade_{robot_.runtime().node("gateway").or_throw(), types_, {}};
  const Client client_{"test"};
};

}  // namespace hyphos::gateway
