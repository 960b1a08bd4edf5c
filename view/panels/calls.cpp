#include "view/panels/calls.hpp"

#include <algorithm>
#include <map>

namespace hyphos::view {
namespace {

constexpr std::string_view kArrow = " -> ";

bool read_part(std::string_view text, TypeId& out) {
  const std::size_t open = text.rfind('(');
  if (open == std::string_view::npos || open == 0 || !text.ends_with(')')) return false;
  const std::string_view word = text.substr(open + 1, text.size() - open - 2);
  for (const Encoding one : {Encoding::structure, Encoding::bytes, Encoding::protobuf,
                             Encoding::attached, Encoding::custom}) {
    if (to_string(one) != word) continue;
    out = make_type_id(text.substr(0, open), one);
    return true;
  }
  return false;
}

}  // namespace

std::vector<TypeId> parse_call_type(std::string_view text) {
  std::vector<TypeId> parts;
  while (true) {
    const std::size_t end = std::min(text.find(kArrow), text.size());
    TypeId part;
    if (!read_part(text.substr(0, end), part)) return {};
    parts.push_back(std::move(part));
    if (end == text.size()) return parts;
    text.remove_prefix(end + kArrow.size());
  }
}

std::vector<CallInfo> find_calls(const std::vector<ProcessInfo>& processes, std::string_view kind) {
  const std::string prefix = "hyphos/" + std::string(kind) + "/";
  constexpr std::string_view kRequest = "/request";
  std::map<std::string, CallInfo> found;
  for (const ProcessInfo& process : processes) {
    for (const EndpointInfo& end : process.endpoints) {
      if (!end.channel.starts_with(prefix) || !end.channel.ends_with(kRequest)) continue;
      if (end.channel.size() <= prefix.size() + kRequest.size()) continue;
      const std::string name =
          end.channel.substr(prefix.size(), end.channel.size() - prefix.size() - kRequest.size());
      CallInfo& call = found[name];
      call.name = name;
      if (call.parts.empty() || !end.is_publisher) call.parts = parse_call_type(end.type_name);
      if (end.is_publisher) continue;
      call.node = end.node;
      call.requests += end.counter("received");
    }
  }
  std::vector<CallInfo> all;
  for (auto& [name, call] : found) {
    // Those that Hyphos itself uses, such as NODE/_set_params.
    if (name.find("/_") == std::string::npos && !name.starts_with('_')) {
      all.push_back(std::move(call));
    }
  }
  return all;
}

}  // namespace hyphos::view
