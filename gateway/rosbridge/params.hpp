#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/facade/node_params.hpp"

namespace hyphos::gateway::rosbridge {

/// The parameters of the robot's nodes at one instant, by the names that ROS has for them:
/// `/left_arm/laser/rate_hz` is `laser.rate_hz` of node `left-arm`; `left_arm:laser.rate_hz`, as
/// ROS 2 has it, is the same. A name that others begin with is a namespace.
class ParamNames {
 public:
  struct Found {
    std::string node;
    std::string param;
    ParamVariant value;
  };

  /// `name` as a client writes it, in the form of ROS 1.
  static std::string normal(std::string_view name);

  explicit ParamNames(const NodeParams::Sets& sets);

  [[nodiscard]] std::vector<std::string> all() const;
  [[nodiscard]] const Found* find(std::string_view name) const;
  /// The value as JSON, of a namespace an object; nothing if there is neither. Numbers that JSON
  /// does not know are null, bytes are a text of two hexadecimal digits each.
  [[nodiscard]] std::optional<std::string> json(std::string_view name) const;

 private:
  std::map<std::string, Found, std::less<>> found_;
};

}  // namespace hyphos::gateway::rosbridge
