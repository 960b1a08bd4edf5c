#include "gateway/types/ros2_text.hpp"

#include <string_view>

#include "hyphos/ros/options.pb.h"

namespace hyphos::gateway {
namespace {

using google::protobuf::FieldDescriptor;

std::string lower(std::string name) {
  for (char& letter : name) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return name;
}

std::string type_text(const FieldDescriptor& field, const ros::Field& option) {
  if (option.type() == ros::Field::TIME) return "builtin_interfaces/msg/Time";
  if (option.type() == ros::Field::DURATION) return "builtin_interfaces/msg/Duration";
  if (const auto* const inner = field.message_type()) {
    return inner->options().GetExtension(ros::type).name();
  }
  const std::string name = lower(ros::Field::Type_Name(option.type()));
  return option.string_size() == 0 ? name : name + "<=" + std::to_string(option.string_size());
}

std::string count_text(const ros::Field& option) {
  switch (option.count()) {
    case ros::Field::FIXED:
      return "[" + std::to_string(option.size()) + "]";
    case ros::Field::AT_MOST:
      return "[<=" + std::to_string(option.size()) + "]";
    case ros::Field::ANY:
      return "[]";
    default:
      return {};
  }
}

std::string name_text(const FieldDescriptor& field, const ros::Field& option) {
  constexpr std::string_view kTime = "_ns";  // suffix that only Hyphos adds to names of times
  std::string name = option.name().empty() ? std::string(field.name()) : option.name();
  const bool is_time = option.type() == ros::Field::TIME || option.type() == ros::Field::DURATION;
  if (option.name().empty() && is_time && name.ends_with(kTime)) {
    name.resize(name.size() - kTime.size());
  }
  return name;
}

}  // namespace

std::string ros2_text(const google::protobuf::Descriptor& message) {
  std::string text;
  for (const auto& constant : message.options().GetExtension(ros::type).constants()) {
    text += lower(ros::Field::Type_Name(constant.type())) + " " + constant.name() + "=" +
            constant.value() + "\n";
  }
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldDescriptor& field = *message.field(i);
    const auto& option = field.options().GetExtension(ros::field);
    text += type_text(field, option) + count_text(option) + " " + name_text(field, option);
    if (!option.default_value().empty()) text += " " + option.default_value();
    text += "\n";
  }
  return text;
}

}  // namespace hyphos::gateway
