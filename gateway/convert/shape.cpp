#include "gateway/convert/shape.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

#include "hyphos/ros/options.pb.h"

namespace hyphos::gateway {

namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

constexpr std::uint32_t kMostNumber = 4096;  // of a field, hyphos msg import counts from 1

struct Number {
  std::uint8_t width;
  bool is_signed;
};

std::optional<Number> number_of(Kind kind, bool ros2) {
  switch (kind) {
    case Kind::boolean:
    case Kind::character:
    case Kind::uint8:
      return Number{1, false};
    case Kind::byte:
      return Number{1, !ros2};
    case Kind::int8:
      return Number{1, true};
    case Kind::int16:
      return Number{2, true};
    case Kind::uint16:
      return Number{2, false};
    case Kind::int32:
      return Number{4, true};
    case Kind::uint32:
      return Number{4, false};
    case Kind::int64:
      return Number{8, true};
    case Kind::uint64:
      return Number{8, false};
    case Kind::float32:
      return Number{4, true};
    case Kind::float64:
      return Number{8, true};
    default:
      return std::nullopt;
  }
}

std::optional<Store> store_of(const FieldDescriptor& field) {
  switch (field.type()) {
    case FieldDescriptor::TYPE_INT32:
    case FieldDescriptor::TYPE_INT64:
    case FieldDescriptor::TYPE_UINT32:
    case FieldDescriptor::TYPE_UINT64:
    case FieldDescriptor::TYPE_BOOL:
    case FieldDescriptor::TYPE_ENUM:
      return Store::varint;
    case FieldDescriptor::TYPE_SINT32:
    case FieldDescriptor::TYPE_SINT64:
      return Store::zigzag;
    case FieldDescriptor::TYPE_FLOAT:
    case FieldDescriptor::TYPE_FIXED32:
    case FieldDescriptor::TYPE_SFIXED32:
      return Store::fixed32;
    case FieldDescriptor::TYPE_DOUBLE:
    case FieldDescriptor::TYPE_FIXED64:
    case FieldDescriptor::TYPE_SFIXED64:
      return Store::fixed64;
    case FieldDescriptor::TYPE_STRING:
    case FieldDescriptor::TYPE_BYTES:
    case FieldDescriptor::TYPE_MESSAGE:
      return Store::length;
    case FieldDescriptor::TYPE_GROUP:
      return std::nullopt;
  }
  return std::nullopt;
}

/// True if `carrier` can hold every value of `field` and distinguish all of them.
bool can_keep(const Field& field, const FieldDescriptor& codec) {
  using Cpp = FieldDescriptor::CppType;
  const Cpp type = codec.cpp_type();
  if (field.blob) return codec.type() == FieldDescriptor::TYPE_BYTES && !codec.is_repeated();
  if (codec.is_repeated() != (field.count != Count::one) || codec.is_map()) return false;
  if (field.is_text()) return type == Cpp::CPPTYPE_STRING;
  if (field.is_time()) return type == Cpp::CPPTYPE_INT64;
  switch (field.kind) {
    case Kind::message:
      return type == Cpp::CPPTYPE_MESSAGE;
    case Kind::boolean:
      return type == Cpp::CPPTYPE_BOOL;
    case Kind::uint8:  // `is_bigendian` of images
      if (type == Cpp::CPPTYPE_BOOL) return true;
      break;
    case Kind::float32:
      return type == Cpp::CPPTYPE_FLOAT;
    case Kind::float64:
      return type == Cpp::CPPTYPE_DOUBLE;
    case Kind::int64:
      return type == Cpp::CPPTYPE_INT64;
    case Kind::uint64:
      return type == Cpp::CPPTYPE_UINT64;
    default:
      break;
  }
  if (type == Cpp::CPPTYPE_INT64 || (type == Cpp::CPPTYPE_UINT64 && !field.is_signed)) return true;
  // Open enums of proto3 hold every int32.
  if (type == Cpp::CPPTYPE_ENUM || type == Cpp::CPPTYPE_INT32)
    return field.width < 4 || field.is_signed;
  return type == Cpp::CPPTYPE_UINT32 && !field.is_signed;
}

std::string lower(std::string_view name) {
  std::string made(name);
  std::transform(made.begin(), made.end(), made.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return made;
}

/// ROS 1 writes `K` where ROS 2 and the standard messages write `k`.
const FieldDescriptor* find_codec(const Descriptor& codec, const Field& field) {
  const std::string name = field.is_time() ? field.name + "_ns" : field.name;
  if (const auto* found = codec.FindFieldByName(name)) return found;
  return codec.FindFieldByName(lower(name));
}

Field read_field(const FieldDescriptor& own, const ros::Field& option, bool ros2) {
  Field field;
  field.name = option.name().empty() ? own.name() : option.name();
  field.kind = static_cast<Kind>(option.type());
  field.count = static_cast<Count>(option.count());
  field.size = option.size();
  field.string_size = option.string_size();
  field.ros2 = ros2;
  if (option.name().empty() && field.is_time() && field.name.ends_with("_ns")) {
    field.name.resize(field.name.size() - 3);
  }
  if (const auto number = number_of(field.kind, ros2)) {
    field.width = number->width;
    field.is_signed = number->is_signed;
    field.blob = field.count != Count::one && field.width == 1 && field.kind != Kind::boolean;
  }
  return field;
}

std::size_t least_size(const Field& field) {
  std::size_t one = field.width;
  if (field.is_text()) one = 4;
  if (field.is_time()) one = 8;
  if (field.shape != nullptr) one = field.shape->least;
  if (field.count == Count::one) return one;
  return field.count == Count::fixed ? one * field.size : 4;
}

Error no_place(const Descriptor& ros, const Descriptor& codec, const std::string& why) {
  return {Code::unsupported,
          std::string(ros.full_name()) + " cannot travel as " + std::string(codec.full_name()) +
              ": " + why,
          std::string(codec.full_name())};
}

}  // namespace

std::string count_problem(const Field& field, std::size_t count) {
  const bool fits = field.count == Count::fixed     ? count == field.size
                    : field.count == Count::at_most ? count <= field.size
                                                    : count <= UINT32_MAX;
  if (fits) return {};
  return "has " + std::to_string(count) + " elements, but ROS " +
         (field.count == Count::fixed ? "requires " : "allows at most ") +
         std::to_string(field.size);
}

std::string text_problem(const Field& field, std::size_t size) {
  if (field.string_size == 0 || size <= field.string_size) return {};
  return "has " + std::to_string(size) + " bytes, but ROS allows at most " +
         std::to_string(field.string_size);
}

Result<const Shape*> Shapes::join(const Descriptor& ros, const Descriptor& codec, bool attached) {
  const Key key{{&ros, &codec}, attached};
  if (const auto known = shapes_.find(key); known != shapes_.end()) {
    if (known->second) return known->second.get();
    return no_place(ros, codec, "the type contains itself");
  }
  const auto& told = ros.options().GetExtension(ros::type);
  if (told.name().empty()) {
    return Error{Code::invalid_config,
                 std::string(ros.full_name()) +
                     " is not a ROS message. Make such files with "
                     "`hyphos msg import`",
                 std::string(ros.full_name())};
  }
  shapes_[key] = nullptr;  // under construction
  auto shape = std::make_unique<Shape>();
  shape->ros_name = told.name();
  shape->ros2 =
      ros.file()->options().GetExtension(ros::interface).flavour() == ros::Interface::ROS2;
  const auto refuse = [&](Error error) {
    shapes_.erase(key);
    return error;
  };
  bool buffers_taken = false;
  for (int i = 0; i < ros.field_count(); ++i) {
    const FieldDescriptor& own = *ros.field(i);
    Field field = read_field(own, own.options().GetExtension(ros::field), shape->ros2);
    const auto* place = &ros == &codec ? &own : find_codec(codec, field);
    if (place == nullptr && attached && field.blob && !buffers_taken) {
      field.attached = buffers_taken = true;
    } else if (place == nullptr) {
      return refuse(no_place(ros, codec, "it has no '" + field.name + "'"));
    } else {
      // Arrays of single bytes that the channel type stores as numbers.
      field.blob = field.blob && place->type() == FieldDescriptor::TYPE_BYTES;
      const auto store = store_of(*place);
      if (!store || !can_keep(field, *place) ||
          static_cast<std::uint32_t>(place->number()) > kMostNumber) {
        return refuse(
            no_place(ros, codec, "its '" + std::string(place->name()) + "' has another type"));
      }
      field.store = *store;
      field.number = static_cast<std::uint32_t>(place->number());
      field.repeated = place->is_repeated();
      field.flag = place->cpp_type() == FieldDescriptor::CPPTYPE_BOOL;
    }
    if (field.kind == Kind::message) {
      auto inner = join(*own.message_type(), *place->message_type(), false);
      if (!inner) return refuse(inner.error());
      field.shape = *inner;
    }
    if (field.number >= shape->by_number.size()) shape->by_number.resize(field.number + 1, -1);
    if (!field.attached) shape->by_number[field.number] = static_cast<std::int16_t>(i);
    shape->least += least_size(field);
    shape->fields.push_back(std::move(field));
  }
  return (shapes_[key] = std::move(shape)).get();
}

}  // namespace hyphos::gateway
