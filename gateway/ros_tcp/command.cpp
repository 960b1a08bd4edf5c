#include "gateway/ros_tcp/command.hpp"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <utility>

namespace hyphos::gateway::ros_tcp {
namespace {

using simdjson::SUCCESS;
using Object = simdjson::dom::object;

constexpr std::array<std::pair<std::string_view, Kind>, 12> kCommands = {{
    {"__publish", Kind::publish},
    {"__subscribe", Kind::subscribe},
    {"__ros_service", Kind::ros_service},
    {"__unity_service", Kind::unity_service},
    {"__remove_publisher", Kind::remove_publisher},
    {"__remove_subscriber", Kind::remove_subscriber},
    {"__remove_ros_service", Kind::remove_ros_service},
    {"__remove_unity_service", Kind::remove_unity_service},
    {"__request", Kind::request},
    {"__response", Kind::response},
    {"__topic_list", Kind::topic_list},
    {"__ping", Kind::ping},
}};

Error lacks(std::string_view command, std::string_view key, std::string_view what) {
  return {Code::corrupt,
          std::string(command) + " needs '" + std::string(key) + "', " + std::string(what),
          std::string(command)};
}

bool read_text(const Object& object, std::string_view key, std::string& text) {
  std::string_view found;
  if (object[key].get(found) != SUCCESS || found.empty()) return false;
  text = found;
  return true;
}

/// Reads the fields of a command of this kind.
Result<void> read_fields(std::string_view name, const Object& object, Command& command) {
  switch (command.kind) {
    case Kind::topic_list:
      return success();
    case Kind::ping: {
      simdjson::dom::element time;
      if (object["request_time"].get(time) == SUCCESS) {
        command.request_time = simdjson::minify(time);
      }
      return success();
    }
    case Kind::request:
    case Kind::response:
      if (object["srv_id"].get(command.id) != SUCCESS) return lacks(name, "srv_id", "a number");
      return success();
    default:
      break;
  }
  if (!read_text(object, "topic", command.topic)) return lacks(name, "topic", "a name");
  const bool registers = command.kind <= Kind::unity_service;
  if (registers && !read_text(object, "message_name", command.type)) {
    return lacks(name, "message_name", "such as 'std_msgs/String'");
  }
  if (object["latch"].get(command.latch) != SUCCESS) command.latch = false;
  std::int64_t queue_size = 0;
  if (object["queue_size"].get(queue_size) != SUCCESS) queue_size = 0;
  command.queue_size =
      static_cast<std::uint32_t>(std::clamp<std::int64_t>(queue_size, 0, kMostQueue));
  return success();
}

/// The size of the UTF-8 character at this position. 0 if it is invalid.
std::size_t character(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  const std::size_t size = first < 0x80                     ? 1
                           : first >= 0xc2 && first <= 0xdf ? 2
                           : first >= 0xe0 && first <= 0xef ? 3
                           : first >= 0xf0 && first <= 0xf4 ? 4
                                                            : 0;
  if (size == 0 || at + size > text.size()) return 0;
  return simdjson::validate_utf8(text.substr(at, size)) ? size : 0;
}

std::string quoted_list(const std::vector<TopicInfo>& topics, std::string TopicInfo::* field) {
  std::string list = "[";
  for (const TopicInfo& topic : topics) {
    if (list.size() > 1) list += ',';
    list += json_string(topic.*field);
  }
  return list + "]";
}

}  // namespace

Result<Command> parse_command(std::string_view name, std::string_view json) {
  // A ROS 2 client ends its strings, including these, with a NUL that the length includes.
  while (json.ends_with('\0')) json.remove_suffix(1);
  const auto known = std::ranges::find(kCommands, name, &std::pair<std::string_view, Kind>::first);
  if (known == kCommands.end()) {
    return Error{Code::unsupported, "unknown command '" + std::string(name) + "'",
                 std::string(name)};
  }
  if (json.size() > kMostCommand) {
    return Error{Code::corrupt,
                 std::string(name) + " has " + std::to_string(json.size()) +
                     " bytes, more than the limit of " + std::to_string(kMostCommand),
                 std::string(name)};
  }
  Command command;
  command.kind = known->second;
  if (json.empty()) json = "{}";
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  const auto failed = parser.parse(json.data(), json.size(), true).get(document);
  Object object;
  if (failed != SUCCESS || document.get(object) != SUCCESS) {
    return Error{Code::corrupt,
                 std::string(name) + " is not followed by a JSON object" +
                     (failed ? std::string(": ") + simdjson::error_message(failed) : ""),
                 std::string(name)};
  }
  if (auto read = read_fields(name, object, command); !read) return read.error();
  return command;
}

std::string handshake(bool ros2) {
  const std::string metadata = std::string(R"({"protocol":")") + (ros2 ? "ROS2" : "ROS1") + "\"}";
  return R"({"version":"v0.7.0","metadata":)" + json_string(metadata) + "}";
}

std::string note(std::string_view text) { return R"({"text":)" + json_string(text) + "}"; }

std::string service_id(std::int64_t id) { return R"({"srv_id":)" + std::to_string(id) + "}"; }

std::string ping_response(std::string_view request_time) {
  if (request_time.empty()) return "{}";
  return R"({"request_time":)" + std::string(request_time) + "}";
}

std::string topic_list(const std::vector<TopicInfo>& topics) {
  return R"({"topics":)" + quoted_list(topics, &TopicInfo::topic) + R"(,"types":)" +
         quoted_list(topics, &TopicInfo::type) + "}";
}

std::string json_string(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const std::size_t size = character(text, at);
    if (byte == '"' || byte == '\\') {
      out += '\\';
      out += text[at];
    } else if (byte < 0x20) {
      out += R"(\u00)";
      out += kHex[byte >> 4U];
      out += kHex[byte & 0xfU];
    } else if (size == 0) {
      out += '?';
    } else {
      out += text.substr(at, size);
    }
    at += std::max<std::size_t>(size, 1);
  }
  return out + "\"";
}

}  // namespace hyphos::gateway::ros_tcp
