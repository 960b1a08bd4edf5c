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
  std::string description = {};
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

  /// The tree that all nodes of the robot share. Never null. Empty before the first look(), and if
  /// the rules do not let clients subscribe to kSharedParams.
  [[nodiscard]] virtual std::shared_ptr<const ParamValue> shared() const = 0;
  /// Sets or removes a path of the tree. Errors: permission (the rules let no client publish
  /// kSharedParams), and those of SharedParams.
  virtual Result<void> set_shared(const std::string& path, const ParamValue& value) = 0;
  virtual Result<void> remove_shared(const std::string& path) = 0;
};

/// The channel of the tree that all nodes share, for the rules.
inline constexpr const char* kSharedParams = "_params/shared";

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

/// A parameter of ROS 1 that a gateway shows has a description with its own name.
inline constexpr std::string_view kOfRos1 = "Parameter of ROS 1: ";

/// The same, or the parameter's own name if it is one of ROS 1 that a gateway shows.
[[nodiscard]] inline std::string ros_param(std::string_view node, const ParamInfo& info) {
  const std::string& about = info.description;
  if (about.starts_with(kOfRos1)) return about.substr(kOfRos1.size());
  return ros_param(node, info.name);
}

/// "profile.name" for "/profile/name": the path in the tree that all nodes share.
[[nodiscard]] inline std::string shared_path(std::string_view ros_param) {
  std::string path(ros_param.substr(ros_param.starts_with('/') ? 1 : 0));
  for (char& letter : path) letter = letter == '/' ? '.' : letter;
  return path;
}

/// Calls `visit(path, leaf)` for the values of a tree that are not maps with keys.
template <typename F>
void each_leaf(const ParamValue& tree, const std::string& path, const F& visit) {
  if (tree.kind != ParamValue::Kind::map || tree.entries.empty()) {
    if (!path.empty()) visit(path, tree);
    return;
  }
  for (const ParamEntry& entry : tree.entries) {
    each_leaf(entry.value, path.empty() ? entry.key : path + "." + entry.key, visit);
  }
}

}  // namespace hyphos::gateway
