#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gateway/ros1/value.hpp"
#include "hyphos/result.hpp"

/// XML-RPC as ROS 1 speaks it: pure functions over text. Values may be untyped, which are strings,
/// and integers <int> or <i4>. Errors: corrupt.
namespace hyphos::gateway::ros1 {

/// Arrays in arrays, deeper than any tree of parameters: what comes from outside is walked by
/// recursion.
inline constexpr int kMaxXmlDepth = 64;
/// Of one call or reply. The document in memory takes up to some 16 times as much.
inline constexpr std::size_t kMaxXml = std::size_t{8} << 20;

struct RpcCall {
  std::string method;
  std::vector<Value> params;
};

Result<RpcCall> parse_call(std::string_view xml);
/// The value that was returned. A fault is an error, io, with its text.
Result<Value> parse_reply(std::string_view xml);

std::string write_call(std::string_view method, const std::vector<Value>& params);
std::string write_reply(const Value& value);
std::string write_fault(int code, std::string_view text);

}  // namespace hyphos::gateway::ros1
