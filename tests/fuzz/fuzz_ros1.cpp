// Input from ROS 1 nodes: XML-RPC calls and replies, TCPROS headers and replies, names and URIs,
// parameters, executed calls, and messages of actionlib. Accepted input must survive a round trip.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include "gateway/ros1/action_messages.hpp"
#include "gateway/ros1/frame.hpp"
#include "gateway/ros1/header.hpp"
#include "gateway/ros1/methods.hpp"
#include "gateway/ros1/names.hpp"
#include "gateway/ros1/param_server.hpp"
#include "gateway/ros1/param_tree.hpp"
#include "gateway/ros1/reply_reader.hpp"
#include "gateway/ros1/rosout.hpp"
#include "gateway/ros1/xmlrpc.hpp"
#include "gateway/types/rules.hpp"

using namespace hyphos;
using namespace hyphos::gateway;
using namespace hyphos::gateway::ros1;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

// Characters that XML does not allow are replaced on writing, which may change the order of names.
bool is_same(std::string_view written, std::string_view again) {
  return again == written || written.find("\xEF\xBF\xBD") != std::string_view::npos;
}

// Compared as text, because a NaN is not equal to itself.
void try_call(std::string_view text) {
  const auto call = parse_call(text);
  if (!call) return;
  const std::string written = write_call(call->method, call->params);
  const auto again = parse_call(written);
  require(again.ok() && is_same(written, write_call(again->method, again->params)));
}

void try_reply(std::string_view text) {
  const auto value = parse_reply(text);
  if (!value) return require(!value.error().message.empty());
  const std::string written = write_reply(*value);
  const auto again = parse_reply(written);
  require(again.ok() && is_same(written, write_reply(*again)));
}

void try_log(std::span<const std::byte> bytes) {
  const auto line = line_of_ros1(bytes);
  if (!line) return;
  const auto back = line_to_ros1(line->bytes());
  require(back.ok());
  const auto again = line_of_ros1(back->bytes());
  require(again.ok() && again->size() == line->size());
}

void try_header(std::span<const std::byte> bytes) {
  const auto measured = measure_frame(bytes, kMaxHeader);
  if (measured && measured->whole) require(measured->size <= kMaxHeader + 4);
  const auto header = parse_header(bytes);
  if (!header) return;
  const auto written = write_header(*header);
  const auto again = parse_header(std::span(written).subspan(4));
  require(again.ok() && *again == *header);
  (void)mismatch(*header, "a/B", "1");
}

// Splits the input in two pieces. The first byte gives the position.
void try_answer(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  ReplyReader reader(1000);
  const std::size_t cut =
      std::min<std::size_t>(std::to_integer<std::size_t>(bytes[0]), bytes.size() - 1);
  const auto body = bytes.subspan(1);
  if (!reader.take(body.first(cut)) || !reader.take(body.subspan(cut))) return;
  const auto answer = reader.finish();
  if (answer) require(answer->size() <= 1000 + 4);
  require(reader.empty());
}

void try_names(std::string_view text) {
  const std::size_t cut = text.find(' ');
  const std::string_view first = text.substr(0, cut);
  const std::string_view second = cut == std::string_view::npos ? "" : text.substr(cut + 1);
  (void)Patterns(first).match(second);
  require(resolve_name(first, second).starts_with('/'));
  const auto uri = Uri::parse(first);
  if (uri) require(uri->port != 0 && !uri->host.empty());
}

// Each line is "name" to erase or "name value" to set.
void try_params(std::string_view text) {
  ParamTree tree;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t space = line.find(' ');
    const std::string name = resolve_name(line.substr(0, space), "/n");
    if (space == std::string_view::npos) {
      tree.erase(name);
    } else if (tree.set(name, std::string(line.substr(space + 1)))) {
      require(tree.get(name)->text() == line.substr(space + 1));
    }
    (void)tree.search("/a/b", line.substr(0, space));
  }
  (void)tree.names();
}

// The parameters of a master, accessed by a sequence of calls. Each byte 0x00 ends one call.
void try_calls(std::string_view text) {
  Registrations nodes;
  ParamServer params(nodes, [](const std::string&, const std::string&, const Value&) {});
  Methods methods;
  params.add_to(methods);
  while (!text.empty()) {
    const std::string_view xml = text.substr(0, text.find('\0'));
    text.remove_prefix(std::min(xml.size() + 1, text.size()));
    const auto call = parse_call(xml);
    if (!call) continue;
    if (const auto answer = methods.call(*call, {})) (void)write_reply(*answer);
  }
}

}  // namespace

namespace {

void try_action(std::span<const std::byte> bytes) {
  const Time now{1};
  if (const auto goal = read_goal(bytes)) {
    const auto again = read_goal(write_goal(goal->goal, goal->message, now));
    if (!again || again->goal != goal->goal) std::abort();
  }
  if (const auto outcome = read_outcome(bytes)) {
    const auto again = read_outcome(write_outcome(outcome->record, outcome->message, now));
    if (!again || again->record != outcome->record) std::abort();
  }
  if (const auto records = read_records(bytes)) {
    if (read_records(write_records(*records, now)) != records) std::abort();
  }
  if (const auto which = read_cancel(bytes)) (void)includes(*which, *which);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data + 1, size - 1));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  switch (data[0] % 8U) {
    case 0:
      try_call(text);
      break;
    case 1:
      try_reply(text);
      break;
    case 2:
      try_header(bytes);
      try_log(bytes);
      break;
    case 3:
      try_answer(bytes);
      break;
    case 4:
      try_names(text);
      break;
    case 5:
      try_params(text);
      break;
    case 7:
      try_action(bytes);
      break;
    default:
      try_calls(text);
  }
  return 0;
}
