#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/ros1/value.hpp"
#include "gateway/ros1/xmlrpc.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway::ros1 {

/// What all calls of ROS's master and nodes return: 1 is success, 0 a failure, -1 the caller's
/// mistake.
[[nodiscard]] Value outcome(int code, std::string status, Value value);
/// The value of a success. Errors: io (what the other side says), corrupt (it is no outcome).
[[nodiscard]] Result<Value> value_of(Result<Value>&& outcome);

/// The calls that a server knows, by name. Besides those, `system.listMethods` and
/// `system.multicall`.
class Methods {
 public:
  using Params = std::vector<Value>;
  using Run = std::function<Value(const Params&)>;

  /// Calls in one `system.multicall`.
  static constexpr std::size_t kMaxTogether = 10'000;
  /// Of all that they return: a few bytes may ask for every parameter many times.
  static constexpr std::size_t kMaxReturned = std::size_t{32} << 20;

  /// `takes` names the arguments, "caller_id topic", of which those that end in '*' may be
  /// anything and all others are strings. What does not fit is answered without `run`.
  void add(std::string name, std::string_view takes, Run run);
  /// Errors: not_found, which becomes a fault.
  [[nodiscard]] Result<Value> call(const RpcCall& call) const;

 private:
  struct Method {
    std::vector<std::string> takes;
    Run run;
  };

  [[nodiscard]] Result<Value> one(const std::string& name, const Params& params) const;
  [[nodiscard]] Result<Value> together(const Params& params) const;

  std::map<std::string, Method, std::less<>> methods_;
};

/// The first argument, "caller_id", as a node is called in the graph: with the slash, which some
/// leave out.
[[nodiscard]] std::string caller_of(const Methods::Params& params);

}  // namespace hyphos::gateway::ros1
