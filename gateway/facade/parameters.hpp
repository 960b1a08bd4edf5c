#pragma once

#include <functional>
#include <map>
#include <memory>
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
  /// True if clients have set it since it was last shown. If false, a value that the robot has set
  /// meanwhile stays.
  bool is_news = true;
};

/// The parameters that the clients of a gateway use: the parameters of the robot's nodes, and the
/// parameters that clients show to the robot. The latter belong to the gateway's own node.
///
/// Thread-safe. No function waits for a node. Setting calls `NODE/_set_params`, reading subscribes
/// to `NODE/_params`, and showing publishes the channel of the own node. So the rules of channels
/// and services decide the permissions. The destructor withdraws the shown values and waits until
/// the callback no longer runs.
class NodeParams {
 public:
  using Sets = std::map<std::string, ParamSet>;
  using Done = std::function<void(Result<void>)>;

  virtual ~NodeParams() = default;

  /// The name of the gateway's own node.
  [[nodiscard]] virtual std::string node() const = 0;
  /// Finds new nodes and forgets nodes that are gone. Reads shared memory.
  virtual void look() = 0;
  /// The present values by node, without the gateway's own node.
  [[nodiscard]] virtual Sets all() const = 0;
  /// Sends the value to the node, whose checks decide. `done` is called once, in any thread. Calls
  /// to one node run one after another. Errors: permission (the rules), and the errors of
  /// RemoteParams::set().
  virtual void set(const std::string& node, const std::string& name, ParamVariant value,
                   Done done) = 0;

  /// The parameters of the own node. The robot may have changed them since they were shown.
  [[nodiscard]] virtual ParamSet own() const = 0;
  /// Replaces the values that were shown before. Returns, by name, the reason why a value cannot be
  /// shown.
  virtual std::map<std::string, std::string> show(const std::vector<ShownParam>& values) = 0;
};

/// The parameters of the graph. Thread-safe.
class Parameters {
 public:
  virtual ~Parameters() = default;

  /// Opens the parameters. `changed` is called after a value of a node, or a shown value, has
  /// changed. The caller must call look() and show(). Only one may be open at a time, because it
  /// uses the gateway's own node.
  virtual std::unique_ptr<NodeParams> open(std::function<void()> changed) = 0;
};

/// "left-arm/_params": channel names have '_' for each '-' in the node name.
[[nodiscard]] inline std::string params_channel(std::string_view node, std::string_view end) {
  std::string name(node);
  for (char& letter : name) letter = letter == '-' ? '_' : letter;
  return name.append("/").append(end);
}

/// The ROS name: "/left_arm/laser/rate_hz" for node "left-arm" and parameter "laser.rate_hz".
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
