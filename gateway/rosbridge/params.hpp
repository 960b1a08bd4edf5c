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
/// `left_arm:laser.rate_hz` means the same. A name that is a prefix of others is a namespace.
class ParamNames {
 public:
  struct Found {
    std::string node;
    std::string param;
    ParamVariant value;
  };

  /// Converts a name from a client to the form of ROS 1.
  static std::string normal(std::string_view name);

  explicit ParamNames(const NodeParams::Sets& sets);

  [[nodiscard]] std::vector<std::string> all() const;
  [[nodiscard]] const Found* find(std::string_view name) const;
  /// The value as JSON, or an object for a namespace. nullopt if neither exists. Numbers that JSON
  /// lacks become null, and bytes become a string of two hexadecimal digits each.
  [[nodiscard]] std::optional<std::string> json(std::string_view name) const;

 private:
  std::map<std::string, Found, std::less<>> found_;
};

}  // namespace hyphos::gateway::rosbridge
