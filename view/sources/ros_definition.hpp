#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hyphos/result.hpp"

namespace hyphos::view::ros {

enum class Kind : std::uint8_t {
  boolean,
  i8,
  u8,
  i16,
  u16,
  i32,
  u32,
  i64,
  u64,
  f32,
  f64,
  text,
  time,  ///< also a duration
  message,
};

enum class Many : std::uint8_t { one, fixed, sequence };

struct Field {
  std::string name;
  Kind kind = Kind::message;
  std::string type;  ///< of a message: "geometry_msgs/Pose"
  Many many = Many::one;
  std::uint32_t count = 0;  ///< of a fixed array
};

/// The fields of one type in the order of the wire.
using Fields = std::vector<Field>;
/// By name: "geometry_msgs/Pose".
using Definitions = std::map<std::string, Fields, std::less<>>;

/// "geometry_msgs/msg/Pose" → "geometry_msgs/Pose".
[[nodiscard]] std::string short_name(std::string_view name);

/// Reads the definition of `name` in the form of an MCAP schema (`ros2msg`, `ros1msg`): its text,
/// followed by the texts of all messages that it contains. Every contained type is in the result,
/// and no type contains itself. Errors: corrupt (the line), unsupported (wstring), not_found (a
/// contained type).
[[nodiscard]] Result<Definitions> parse_definition(std::string_view name, std::string_view text);

}  // namespace hyphos::view::ros
