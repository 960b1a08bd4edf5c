#pragma once

#include <google/protobuf/descriptor.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hyphos/result.hpp"

namespace hyphos::gateway {

/// The types of fields in ROS, numbered as in hyphos/ros/options.proto.
enum class Kind : std::uint8_t {
  message,
  boolean,
  byte,
  character,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float32,
  float64,
  string,
  wstring,
  time,
  duration,
};

enum class Count : std::uint8_t { one, fixed, at_most, any };

/// How protobuf writes a field.
enum class Store : std::uint8_t { varint, zigzag, fixed32, fixed64, length };

struct Shape;

/// A field of a message as ROS and the channel have it.
struct Field {
  std::string name;  ///< in ROS
  Kind kind = Kind::message;
  Count count = Count::one;
  std::uint32_t size = 0;         ///< of fixed and at_most
  std::uint32_t string_size = 0;  ///< the most characters of a string; 0: any number
  std::uint8_t width = 0;         ///< bytes of a number on ROS's wires; 0: not a number
  bool is_signed = false;         ///< of whole numbers
  bool flag = false;              ///< true or false in the channel; in ROS perhaps a uint8
  bool ros2 = false;              ///< time has other bounds, and other names in JSON
  /// An array of uint8 or int8 that the channel has as bytes, or as attached buffers.
  bool blob = false;
  bool attached = false;
  bool repeated = false;  ///< in protobuf; a blob is not
  Store store = Store::varint;
  std::uint32_t number = 0;  ///< in protobuf; 0 if attached
  const Shape* shape = nullptr;

  [[nodiscard]] bool is_float() const { return kind == Kind::float32 || kind == Kind::float64; }
  [[nodiscard]] bool is_text() const { return kind == Kind::string || kind == Kind::wstring; }
  [[nodiscard]] bool is_time() const { return kind == Kind::time || kind == Kind::duration; }
};

/// A message of ROS beside the protobuf message that carries it in a channel: the fields in the
/// order of ROS's wires, each with where the channel has it.
struct Shape {
  std::string ros_name;
  std::vector<Field> fields;
  std::vector<std::int16_t> by_number;  ///< protobuf's number → place in `fields`, -1: unknown
  std::size_t least = 0;                ///< bytes that it has at least on ROS 1's wire
  bool ros2 = false;

  [[nodiscard]] const Field* find(std::uint64_t number) const {
    if (number >= by_number.size() || by_number[number] < 0) return nullptr;
    return &fields[static_cast<std::size_t>(by_number[number])];
  }
};

/// Why ROS does not allow so many elements of a field, or so many bytes in one of its texts; empty
/// if it does.
[[nodiscard]] std::string count_problem(const Field& field, std::size_t count);
[[nodiscard]] std::string text_problem(const Field& field, std::size_t size);

/// Makes shapes, and owns them. Not thread-safe.
class Shapes {
 public:
  /// `ros`: a message that `hyphos msg import` wrote. `carrier`: what the channel carries, the same
  /// message or one whose fields have the same names (`stamp_ns` for a time `stamp`); `attached`:
  /// an array of bytes that it lacks are its attached buffers. Errors: unsupported (what of `ros`
  /// has no place in `carrier`, or could not be kept there), invalid_config (no message of ROS).
  Result<const Shape*> join(const google::protobuf::Descriptor& ros,
                            const google::protobuf::Descriptor& codec, bool attached);

 private:
  using Key =
      std::pair<std::pair<const google::protobuf::Descriptor*, const google::protobuf::Descriptor*>,
                bool>;
  std::map<Key, std::unique_ptr<Shape>> shapes_;
};

}  // namespace hyphos::gateway
