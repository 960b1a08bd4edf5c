// Input from ROS 2 participants that DDS does not decode itself: lists of endpoints, heads of
// calls, names of topics and types, messages of actions. Accepted input must survive a round trip.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>
#include <vector>

#include "gateway/ros2/action_messages.hpp"
#include "gateway/ros2/call_header.hpp"
#include "gateway/ros2/entities.hpp"
#include "gateway/ros2/names.hpp"

using namespace hyphos::gateway::ros2;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void try_entities(std::span<const std::byte> bytes) {
  for (const GidSize gid : {GidSize::iron, GidSize::humble}) {
    const auto read = read_entities(bytes, gid);
    if (!read) continue;
    const auto again = read_entities(write_entities(*read, gid), gid);
    require(again && again->gid == read->gid && again->nodes.size() == read->nodes.size());
    for (std::size_t i = 0; i < read->nodes.size(); ++i) {
      require(again->nodes[i].name == read->nodes[i].name &&
              again->nodes[i].readers == read->nodes[i].readers &&
              again->nodes[i].writers == read->nodes[i].writers);
    }
  }
}

void try_call(std::span<const std::byte> bytes) {
  std::vector<std::byte> body;
  const auto header = take_header(bytes, body);
  if (header) require(std::ranges::equal(put_header(*header, body), bytes));
}

void try_names(std::string_view text) {
  if (const auto topic = topic_of_dds(text)) require(dds_topic(*topic) == text);
  if (const auto service = service_of_dds(text)) {
    require((service->is_request ? dds_request(service->service) : dds_reply(service->service)) ==
            text);
  }
  if (const auto type = type_of_dds(text)) require(type_of_dds(dds_type(*type)) == type);
  (void)service_type_of_dds(text);
  const std::string value = take_user_data(text, "id");
  if (!value.empty()) require(text.find("id=" + value) != text.npos);
  require(take_user_data(put_user_data("id", value), "id") == value);
  (void)is_name(text);
  (void)split_node(text);
}

void try_action(std::span<const std::byte> bytes) {
  if (const auto goal = take_goal_id(bytes)) {
    require(std::ranges::equal(put_goal_id(goal->id, goal->message), bytes));
  }
  if (const auto id = read_goal_id(bytes)) require(read_goal_id(write_goal_id(*id)) == id);
  if (const auto which = read_cancel(bytes)) (void)includes(*which, *which);
  if (const auto states = read_states(bytes)) {
    const auto again = read_states(write_states(*states));
    require(again && again->size() == states->size());
  }
  (void)read_acceptance(bytes);
  (void)read_cancel_code(bytes);
  if (const auto status = status_of_result(bytes)) {
    require(status_of_result(put_status(*status, bytes)) == status);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  switch (data[0] % 4U) {
    case 0:
      try_entities(bytes);
      break;
    case 1:
      try_call(bytes);
      break;
    case 3:
      try_action(bytes);
      break;
    default:
      try_names({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  return 0;
}
