#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/facade/parameters.hpp"

namespace hyphos::gateway::rosbridge {

/// The parameters of the robot's nodes at one instant, by their ROS names:
/// `/left_arm/laser/rate_hz` is `laser.rate_hz` of node `left-arm`. The ROS 2 form
/// `left_arm:laser.rate_hz` means the same. A name that is a prefix of others is a namespace. A
/// parameter of ROS 1 has its own name, and `profile.name` of the tree that all nodes share is
/// `/profile/name`. The parameters of nodes take precedence.
class ParamNames {
 public:
  struct Found {
    std::string node;  ///< "" for a value of the tree that all nodes share
    std::string param;
    ParamVariant value;  ///< of a node
    std::string json;
  };

  /// Converts a name from a client to the form of ROS 1.
  static std::string normal(std::string_view name);

  ParamNames(const NodeParams::Sets& sets, const ParamValue& shared);

  [[nodiscard]] std::vector<std::string> all() const;
  [[nodiscard]] const Found* find(std::string_view name) const;
  /// The value as JSON, or an object for a namespace. nullopt if neither exists. Numbers that JSON
  /// lacks become null, and bytes become a string of two hexadecimal digits each.
  [[nodiscard]] std::optional<std::string> json(std::string_view name) const;

 private:
  std::map<std::string, Found, std::less<>> found_;
  /// Names below the gateway's node, of parameters with a name of their own.
  std::map<std::string, std::string, std::less<>> aliases_;
};

}  // namespace hyphos::gateway::rosbridge
