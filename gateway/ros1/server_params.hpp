#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gateway/ros1/member.hpp"
#include "gateway/ros1/param_tree.hpp"

namespace hyphos::gateway::ros1 {

/// A live copy of a master's parameter server. All parameters are queried once, and the master
/// sends updates. The query is repeated if the master has lost its state (after a restart), and at
/// intervals, so that missed updates do not persist. Belongs to the call thread.
class ServerParams {
 public:
  static constexpr Duration kRefresh = Duration::from_seconds(30);

  /// `changed` is called after a change with the changed name. "/": anything may have changed.
  ServerParams(const Member& member, std::function<void(const std::string& name)> changed);

  /// Call it once per second while the master replies. `known` is a name that the master should
  /// have, or "".
  void look(const std::string& known);
  /// The master does not reply.
  void lost() { known_ = false; }
  /// An update from the master: `name` now has `value`. An empty struct means that it was deleted.
  void update(const std::string& name, const Value& value);
  /// Ends the subscription.
  void stop();

  /// If false, the copy is not reliable.
  [[nodiscard]] bool known() const { return known_; }
  [[nodiscard]] const ParamTree& tree() const { return tree_; }

  void set(const std::string& name, const Value& value);
  void erase(const std::string& name);
  /// Queries the present value, because an update may be older than a later local change. `done`
  /// gets false if the parameter is not set or the master does not reply.
  void ask(const std::string& name, std::function<void(bool)> done);

 private:
  void fetch();
  void fetched(const Result<Value>& all);
  void put(const std::string& name, const Value& value);
  void written(const std::string& name, const Result<Value>& outcome);

  const Member& member_;
  const std::function<void(const std::string& name)> changed_;
  ParamTree tree_;
  bool known_ = false;
  bool fetching_ = false;
  bool stopped_ = false;
  Time fetched_;
  std::vector<std::pair<std::string, Value>> meanwhile_;  ///< updates that arrived during the query
  LogOnce logged_;
};

}  // namespace hyphos::gateway::ros1
