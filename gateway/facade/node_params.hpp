#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hyphos/param_types.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway {

/// A parameter that clients show to the robot.
struct ShownParam {
  std::string name;
  ParamVariant value;
  /// Clients have set it since it was last shown. If not, what the robot has set meanwhile stays.
  bool is_news = true;
};

/// Parameters, as the clients of a gateway have to do with them: those of the robot's nodes, and
/// those that clients show to the robot, which are the parameters of the gateway's own node.
///
/// Thread-safe; nothing here waits for a node. Setting is a call of `NODE/_set_params`, seeing a
/// subscription to `NODE/_params`, showing a publication of the own one: so the rules of channels
/// and services say who may. Its end takes back what is shown; its callback runs no more then.
class NodeParams {
 public:
  using Sets = std::map<std::string, ParamSet>;
  using Done = std::function<void(Result<void>)>;

  virtual ~NodeParams() = default;

  /// The gateway's own node.
  [[nodiscard]] virtual std::string node() const = 0;
  /// Finds nodes that have come, and forgets those that have gone. Reads shared memory.
  virtual void look() = 0;
  /// What holds now, by node, of nodes that are there. Not the gateway's own.
  [[nodiscard]] virtual Sets all() const = 0;
  /// Asks the node, whose checks decide; `done` comes once, in any thread. Errors: permission (the
  /// rules), and those of RemoteParams::set(). Calls to one node go one after the other.
  virtual void set(const std::string& node, const std::string& name, ParamVariant value,
                   Done done) = 0;

  /// The parameters of the own node, which the robot may have set since they were shown.
  [[nodiscard]] virtual ParamSet own() const = 0;
  /// Takes the place of what was shown before. Returns why, by name, something cannot be shown.
  virtual std::map<std::string, std::string> show(const std::vector<ShownParam>& values) = 0;
};

/// "left-arm/_params": a '-' in a node's name is '_' in its channels.
[[nodiscard]] inline std::string params_channel(std::string_view node, std::string_view end) {
  std::string name(node);
  for (char& letter : name) letter = letter == '-' ? '_' : letter;
  return name.append("/").append(end);
}

/// ROS's name: "/left_arm/laser/rate_hz" of node "left-arm" and "laser.rate_hz".
[[nodiscard]] inline std::string ros_param(std::string_view node, std::string_view param) {
  std::string name = "/";
  name.append(node).append("/").append(param);
  for (char& letter : name) {
    if (letter == '.') letter = '/';
    if (letter == '-') letter = '_';
  }
  return name;
}

}  // namespace hyphos::gateway
