#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gateway/ros1/value.hpp"
#include "hyphos/result.hpp"

/// XML-RPC in the dialect of ROS 1: pure functions over text. Untyped values are strings, and
/// integers are <int> or <i4>. Errors: corrupt.
namespace hyphos::gateway::ros1 {

/// Maximum nesting, deeper than any tree of parameters. Bounded, because untrusted input is parsed
/// by recursion.
inline constexpr int kMaxXmlDepth = 64;
/// Maximum size of one call or reply in bytes. The document in memory takes up to about 16 times as
/// much.
inline constexpr std::size_t kMaxXml = std::size_t{8} << 20;

struct RpcCall {
  std::string method;
  std::vector<Value> params;
};

Result<RpcCall> parse_call(std::string_view xml);
/// The returned value. A fault is an error of code io, with its text.
Result<Value> parse_reply(std::string_view xml);

std::string write_call(std::string_view method, const std::vector<Value>& params);
std::string write_reply(const Value& value);
std::string write_fault(int code, std::string_view text);

}  // namespace hyphos::gateway::ros1
