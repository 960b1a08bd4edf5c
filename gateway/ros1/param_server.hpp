#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "gateway/ros1/methods.hpp"
#include "gateway/ros1/param_tree.hpp"
#include "gateway/ros1/registrations.hpp"

namespace hyphos::gateway::ros1 {

/// The calls of a master that are about parameters. Not thread-safe.
class ParamServer {
 public:
  /// Tells the node at `uri` that `name` is `value` now; an empty struct: it is not set any more.
  using Tell = std::function<void(const std::string& uri, const std::string& name, const Value&)>;

  ParamServer(const Registrations& nodes, Tell tell);
  void add_to(Methods& methods);
  /// What a node that begins to watch `name` gets: its value, or an empty struct.
  [[nodiscard]] Value value(const std::string& name) const;

  /// Who of those that watch a parameter is told what when `name` becomes `value`: watchers of a
  /// namespace get what changed in it, those of a part of `value` that part.
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
