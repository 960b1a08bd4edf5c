#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hyphos/codec.hpp"
#include "hyphos/inspect.hpp"
#include "hyphos/result.hpp"

namespace hyphos::view {

/// A service or an action of the robot, seen from outside. docs/reference/services.md, "On the
/// wire".
struct CallInfo {
  std::string name;
  /// Request and reply, or goal, feedback and result. Only the name and the encoding are known.
  std::vector<TypeId> parts;
  std::string node;  ///< the server, empty without one
  std::uint64_t requests = 0;
};

/// `kind`: "service" or "action".
[[nodiscard]] std::vector<CallInfo> find_calls(const std::vector<ProcessInfo>& processes,
                                               std::string_view kind);
/// Splits "pkg.A(protobuf) -> pkg.B(protobuf)". Empty if it has another form.
[[nodiscard]] std::vector<TypeId> parse_call_type(std::string_view text);

}  // namespace hyphos::view
