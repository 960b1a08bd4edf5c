#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "gateway/ros1/methods.hpp"
#include "gateway/ros1/param_tree.hpp"
#include "gateway/ros1/registrations.hpp"

namespace hyphos::gateway::ros1 {

/// The parameter calls of a master. Not thread-safe.
class ParamServer {
 public:
  /// Notifies the node at `uri` that `name` now has `value`. An empty struct means that it was
  /// deleted.
  using Tell = std::function<void(const std::string& uri, const std::string& name, const Value&)>;

  ParamServer(const Registrations& nodes, Tell tell);
  void add_to(Methods& methods);
  /// The reply to a node that begins to watch `name`: its value, or an empty struct.
  [[nodiscard]] Value value(const std::string& name) const;

  /// The update for a watcher of `watched` when `name` becomes `value`. A watcher of a namespace
  /// gets the changed parameter. A watcher of a part of `value` gets that part. nullopt: no update.
  [[nodiscard]] static std::optional<std::pair<std::string, Value>> update_for(
      const std::string& watched, const std::string& name, const Value& value);

 private:
  Value set(const Methods::Params& params);
  Value erase(const Methods::Params& params);
  void tell_others(const std::string& node, const std::string& name, const Value& value);

  const Registrations& nodes_;
  Tell tell_;
  ParamTree tree_;
};

}  // namespace hyphos::gateway::ros1
