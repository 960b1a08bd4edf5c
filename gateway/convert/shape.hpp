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

/// The field types of ROS, numbered as in hyphos/ros/options.proto.
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

/// The protobuf encoding of a field.
enum class Store : std::uint8_t { varint, zigzag, fixed32, fixed64, length };

struct Shape;

/// A field of a message, in ROS and in the channel.
struct Field {
  std::string name;  ///< in ROS
  Kind kind = Kind::message;
  Count count = Count::one;
  std::uint32_t size = 0;         ///< for fixed and at_most
  std::uint32_t string_size = 0;  ///< maximum length of a string, in characters, 0: unlimited
  std::uint8_t width = 0;         ///< bytes of a number in ROS encodings, 0: not a number
  bool is_signed = false;         ///< for integers
  bool flag = false;              ///< boolean in the channel, perhaps a uint8 in ROS
  bool ros2 = false;              ///< ROS 2: times have other bounds, and other names in JSON
  /// An array of uint8 or int8 that the channel stores as bytes, or as attached buffers.
  bool blob = false;
  bool attached = false;
  bool repeated = false;  ///< in protobuf, false for a blob
  Store store = Store::varint;
  std::uint32_t number = 0;  ///< in protobuf, 0 if attached
  const Shape* shape = nullptr;

  [[nodiscard]] bool is_float() const { return kind == Kind::float32 || kind == Kind::float64; }
  [[nodiscard]] bool is_text() const { return kind == Kind::string || kind == Kind::wstring; }
  [[nodiscard]] bool is_time() const { return kind == Kind::time || kind == Kind::duration; }
};

/// A ROS message type together with the protobuf type that carries it in a channel: the fields in
/// the order of ROS encodings, each with its position in the channel's message.
struct Shape {
  std::string ros_name;
  std::vector<Field> fields;
  std::vector<std::int16_t> by_number;  ///< protobuf field number → index in `fields`, -1: unknown
  std::size_t least = 0;                ///< minimum size in ROS 1's encoding, in bytes
  bool ros2 = false;

  [[nodiscard]] const Field* find(std::uint64_t number) const {
    if (number >= by_number.size() || by_number[number] < 0) return nullptr;
    return &fields[static_cast<std::size_t>(by_number[number])];
  }
};

/// The reason why ROS does not allow this number of elements, or this number of bytes in a string.
/// Empty if it does.
[[nodiscard]] std::string count_problem(const Field& field, std::size_t count);
[[nodiscard]] std::string text_problem(const Field& field, std::size_t size);

/// Creates and owns shapes. Not thread-safe.
class Shapes {
 public:
  /// `ros` is a message that `hyphos msg import` wrote. `carrier` is the type of the channel: the
  /// same message, or one whose fields have the same names (`stamp_ns` for a time `stamp`).
  /// `attached`: a byte array that it lacks is in its attached buffers. Errors: unsupported (a
  /// field of `ros` has no counterpart in `carrier`, or does not fit), invalid_config (not a ROS
  /// message).
  Result<const Shape*> join(const google::protobuf::Descriptor& ros,
                            const google::protobuf::Descriptor& codec, bool attached);

 private:
  using Key =
      std::pair<std::pair<const google::protobuf::Descriptor*, const google::protobuf::Descriptor*>,
                bool>;
  std::map<Key, std::unique_ptr<Shape>> shapes_;
};

}  // namespace hyphos::gateway
