#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/net/address.hpp"
#include "gateway/ros1/value.hpp"
#include "gateway/ros1/xmlrpc.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway::ros1 {

/// The result of every call of a ROS master or node. `code`: 1 is success, 0 a failure, -1 an error
/// of the caller.
[[nodiscard]] Value outcome(int code, std::string status, Value value);
/// The value of a successful call. Errors: io (with the status text), corrupt (not an outcome).
[[nodiscard]] Result<Value> value_of(Result<Value>&& outcome);

/// The origin of a call.
struct Origin {
  net::Address address;
  /// The addresses of the host that the call names, if it names one and that is known.
  std::vector<net::Address> named = {};
};

/// The methods of a server, by name. `system.listMethods` and `system.multicall` are always
/// available.
class Methods {
 public:
  using Params = std::vector<Value>;
  using Run = std::function<Value(const Params&)>;
  using RunFrom = std::function<Value(const Params&, const Origin&)>;

  /// Maximum number of calls in one `system.multicall`.
  static constexpr std::size_t kMaxTogether = 10'000;
  /// Maximum size of all their results in bytes: a few bytes may request every parameter many
  /// times.
  static constexpr std::size_t kMaxReturned = std::size_t{32} << 20;

  /// `takes` names the arguments, such as "caller_id topic". A name that ends in '*' accepts any
  /// type, and all others must be strings. A call with other arguments gets an error, and `run` is
  /// not called.
  void add(std::string name, std::string_view takes, Run run);
  /// For a method whose result depends on the origin of the call.
  void add(std::string name, std::string_view takes, RunFrom run);
  /// Errors: not_found, which becomes a fault.
  [[nodiscard]] Result<Value> call(const RpcCall& call, const Origin& origin) const;

 private:
  struct Method {
    std::vector<std::string> takes;
    RunFrom run;
  };

  [[nodiscard]] Result<Value> one(const std::string& name, const Params& params,
                                  const Origin& origin) const;
  [[nodiscard]] Result<Value> together(const Params& params, const Origin& origin) const;

  std::map<std::string, Method, std::less<>> methods_;
};

/// The first argument, "caller_id", as a node name with a leading slash, which some callers omit.
[[nodiscard]] std::string caller_of(const Methods::Params& params);

}  // namespace hyphos::gateway::ros1
