#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gateway/ros1/member.hpp"
#include "gateway/ros1/param_tree.hpp"

namespace hyphos::gateway::ros1 {

/// What a master's parameter server has, kept up to date: it is asked for all of it once, and tells
/// what changes. It is asked again when it has forgotten what it knew, as one that was started anew
/// has, and now and then, so that nothing that was missed stays wrong. Of the calls' thread.
class ServerParams {
 public:
  static constexpr Duration kRefresh = Duration::from_seconds(30);

  /// `changed` is called with what changed, after it did; "/": perhaps all.
  ServerParams(const Member& member, std::function<void(const std::string& name)> changed);

  /// Once a second while the master answers. `known`: a name that it should have, or "".
  void look(const std::string& known);
  /// The master does not answer.
  void lost() { known_ = false; }
  /// It says that `name` is `value` now; an empty struct: it is not set any more.
  void update(const std::string& name, const Value& value);
  /// Subscribes no more.
  void stop();

  /// False: nothing is to be concluded from what is here.
  [[nodiscard]] bool known() const { return known_; }
  [[nodiscard]] const ParamTree& tree() const { return tree_; }

  void set(const std::string& name, const Value& value);
  void erase(const std::string& name);
  /// Asks for what holds now: what was told may be older than what has been set here since. False:
  /// it is not set any more, or there is no answer.
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
  std::vector<std::pair<std::string, Value>> meanwhile_;  ///< told while all of it was asked for
  LogOnce logged_;
};

}  // namespace hyphos::gateway::ros1
