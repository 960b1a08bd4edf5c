#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "view/core/types.hpp"
#include "view/sources/ros_definition.hpp"
#include "view/sources/stored.hpp"

namespace hyphos::view::ros {

enum class Wire : std::uint8_t { ros1, cdr };

/// Converts the messages of one ROS type to protobuf, by the rules of proto/README.md.
///
/// The types of common_interfaces become those of hyphos.msgs, and others get a definition with the
/// same fields: "my_msgs.State". A conversion scans the message once. Not thread-safe.
class RosMessage {
 public:
  /// Adds a definition to `types` if hyphos.msgs has no such type. Errors: those of
  /// parse_definition(), and type_mismatch (another definition has the name).
  static Result<std::unique_ptr<RosMessage>> make(std::string_view name, std::string_view text,
                                                  Wire wire, Types& types);

  [[nodiscard]] const std::string& type() const { return type_; }
  /// True if the field `data` becomes attached buffer 0.
  [[nodiscard]] bool attached() const { return attached_; }
  /// Empty if the message is cut off, or not in the encoding. The buffer shares the memory of
  /// `message`.
  [[nodiscard]] std::optional<Unjoined> convert(const Buffer& message) const;

 private:
  struct Plan;
  struct Step {
    Field field;
    std::uint32_t number = 0;    ///< in protobuf, 0: skip the field
    std::uint8_t type = 0;       ///< google::protobuf::FieldDescriptor::Type
    bool buffer = false;         ///< becomes the attached buffer
    const Plan* plan = nullptr;  ///< of a message
  };
  struct Plan {
    std::vector<Step> steps;
  };
  class Reader;

  RosMessage() = default;
  const Plan* plan(const Definitions& all, const std::string& name,
                   const google::protobuf::Descriptor* target, bool top);
  static bool write(const Plan& plan, Reader& from, std::string& out, Unjoined& whole);
  static bool write_one(const Step& step, Reader& from, std::string& out, Unjoined& whole);
  static bool write_many(const Step& step, Reader& from, std::string& out, Unjoined& whole);

  std::string type_;
  Wire wire_ = Wire::cdr;
  bool attached_ = false;
  const Plan* top_ = nullptr;
  std::map<std::string, std::unique_ptr<Plan>> plans_;  // by ROS type and target
};

}  // namespace hyphos::view::ros
