#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "view/core/fields.hpp"

namespace hyphos::view {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr int kPreview = 8;  // elements in the line of an array

template <typename T>
std::string text_of(T value) {
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end.ptr};
}

std::string hexadecimal(std::span<const std::byte> bytes, std::size_t most) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  const std::size_t shown = std::min(bytes.size(), most / 3);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto byte = std::to_integer<unsigned>(bytes[i]);
    if (i != 0) out += ' ';
    out += kDigits[byte >> 4U];
    out += kDigits[byte & 15U];
  }
  if (shown < bytes.size()) out += " …";
  return out;
}

/// One line: control characters become spaces, and a cut is never inside a character of UTF-8.
std::string one_line(std::string_view text, std::size_t most) {
  std::size_t size = std::min(text.size(), most);
  while (size < text.size() && size > 0 &&
         (static_cast<unsigned char>(text[size]) & 0xc0U) == 0x80) {
    --size;
  }
  std::string out(text.substr(0, size));
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  if (size < text.size()) out += "…";
  return out;
}

std::string bytes_text(std::string_view bytes, std::size_t most) {
  return text_of(bytes.size()) + " bytes: " + hexadecimal(std::as_bytes(std::span(bytes)), most);
}

class Builder {
 public:
  explicit Builder(const TreeLimits& limits) : limits_(limits), left_(limits.nodes) {}

  void fields(const Message& message, const std::string& prefix, std::size_t depth,
              FieldNode& into) {
    const Descriptor& type = *message.GetDescriptor();
    for (int i = 0; i < type.field_count(); ++i) {
      const FieldDescriptor& field = *type.field(i);
      if (field.number() == kAttachedField) continue;
      // Of a oneof, the field that is set.
      if (field.real_containing_oneof() != nullptr &&
          !message.GetReflection()->HasField(message, &field)) {
        continue;
      }
      if (!room()) {
        into.hidden += static_cast<std::uint64_t>(type.field_count() - i);
        return;
      }
      FieldNode node;
      node.name = field.name();
      node.path = prefix + field.name();
      if (field.is_repeated()) {
        array(message, field, depth, node);
      } else {
        single(message, field, depth, node);
      }
      into.children.push_back(std::move(node));
    }
    const auto& unknown = message.GetReflection()->GetUnknownFields(message);
    if (!unknown.empty() && room()) {
      FieldNode node;
      node.name = "unknown fields";
      node.value = text_of(unknown.field_count()) + " of a newer definition";
      into.children.push_back(std::move(node));
    }
  }

  bool room() {
    if (left_ == 0) return false;
    --left_;
    return true;
  }

 private:
  void single(const Message& message, const FieldDescriptor& field, std::size_t depth,
              FieldNode& node) {
    const Reflection& reflection = *message.GetReflection();
    node.type = type_of(field);
    if (field.has_presence() && !reflection.HasField(message, &field)) {
      node.value = "not set";
      return;
    }
    if (field.message_type() != nullptr) {
      below(reflection.GetMessage(message, &field), depth, node);
      return;
    }
    node.numeric = field.cpp_type() != FieldDescriptor::CPPTYPE_STRING;
    node.value = scalar(message, field, -1);
  }

  void array(const Message& message, const FieldDescriptor& field, std::size_t depth,
             FieldNode& node) {
    const Reflection& reflection = *message.GetReflection();
    const int size = reflection.FieldSize(message, &field);
    node.type = type_of(field) + "[" + text_of(size) + "]";
    const bool messages = field.message_type() != nullptr;
    if (!messages) {
      for (int i = 0; i < std::min(size, kPreview); ++i) {
        node.value += (i == 0 ? "" : ", ") + scalar(message, field, i);
        if (node.value.size() > limits_.text) break;
      }
      if (size > kPreview) node.value += ", …";
    }
    for (int i = 0; i < size; ++i) {
      if (static_cast<std::size_t>(i) >= limits_.elements || !room()) {
        node.hidden = static_cast<std::uint64_t>(size - i);
        return;
      }
      FieldNode element;
      element.name = "[" + text_of(i) + "]";
      element.path = node.path + element.name;
      if (messages) {
        element.type = type_of(field);
        below(reflection.GetRepeatedMessage(message, &field, i), depth, element);
      } else {
        element.numeric = field.cpp_type() != FieldDescriptor::CPPTYPE_STRING;
        element.value = scalar(message, field, i);
      }
      node.children.push_back(std::move(element));
    }
  }

  void below(const Message& message, std::size_t depth, FieldNode& node) {
    if (depth >= limits_.depth) {
      node.hidden = static_cast<std::uint64_t>(message.GetDescriptor()->field_count());
      return;
    }
    fields(message, node.path + ".", depth + 1, node);
  }

  static std::string type_of(const FieldDescriptor& field) {
    if (field.message_type() != nullptr) return field.message_type()->name();
    if (field.enum_type() != nullptr) return field.enum_type()->name();
    return field.type_name();
  }

  /// The value of a field, or of its element `i` if that is not negative.
  std::string scalar(const Message& message, const FieldDescriptor& field, int i) {
    const Reflection& r = *message.GetReflection();
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return text_of(i < 0 ? r.GetInt32(message, &field)
                             : r.GetRepeatedInt32(message, &field, i));
      case FieldDescriptor::CPPTYPE_INT64:
        return text_of(i < 0 ? r.GetInt64(message, &field)
                             : r.GetRepeatedInt64(message, &field, i));
      case FieldDescriptor::CPPTYPE_UINT32:
        return text_of(i < 0 ? r.GetUInt32(message, &field)
                             : r.GetRepeatedUInt32(message, &field, i));
      case FieldDescriptor::CPPTYPE_UINT64:
        return text_of(i < 0 ? r.GetUInt64(message, &field)
                             : r.GetRepeatedUInt64(message, &field, i));
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return text_of(i < 0 ? r.GetDouble(message, &field)
                             : r.GetRepeatedDouble(message, &field, i));
      case FieldDescriptor::CPPTYPE_FLOAT:
        return text_of(i < 0 ? r.GetFloat(message, &field)
                             : r.GetRepeatedFloat(message, &field, i));
      case FieldDescriptor::CPPTYPE_BOOL:
        return (i < 0 ? r.GetBool(message, &field) : r.GetRepeatedBool(message, &field, i))
                   ? "true"
                   : "false";
      case FieldDescriptor::CPPTYPE_ENUM: {
        const int number =
            i < 0 ? r.GetEnumValue(message, &field) : r.GetRepeatedEnumValue(message, &field, i);
        const auto* value = field.enum_type()->FindValueByNumber(number);
        return value == nullptr ? text_of(number) : value->name() + " (" + text_of(number) + ")";
      }
      default: {
        std::string memory;
        const std::string& text = i < 0 ? r.GetStringReference(message, &field, &memory)
                                        : r.GetRepeatedStringReference(message, &field, i, &memory);
        return field.type() == FieldDescriptor::TYPE_BYTES ? bytes_text(text, limits_.text)
                                                           : one_line(text, limits_.text);
      }
    }
  }

  const TreeLimits& limits_;
  std::size_t left_;
};

}  // namespace

FieldNode field_tree(const Channel& channel, const Sample& sample, Decoder& decoder,
                     const TreeLimits& limits) {
  FieldNode root;
  root.name = channel.name;
  root.type = channel.type;
  const auto bytes = [&](std::string name, std::span<const std::byte> content) {
    FieldNode node;
    node.name = std::move(name);
    node.type = text_of(content.size()) + " bytes";
    node.value = hexadecimal(content, limits.text);
    root.children.push_back(std::move(node));
  };
  const bool decodes =
      channel.encoding == Encoding::protobuf || channel.encoding == Encoding::attached;
  if (!decodes || decoder.find(channel.type) == nullptr) {
    root.value =
        decodes ? "no program defines this type" : std::string(to_string(channel.encoding));
    bytes("bytes", sample.payload.bytes());
  } else if (auto message = decoder.parse(channel.type, sample.payload.bytes()); !message) {
    root.value = message.error().message;
    bytes("bytes", sample.payload.bytes());
  } else {
    Builder(limits).fields(**message, "", 0, root);
  }
  for (std::size_t i = 0; i < sample.buffers.size(); ++i) {
    bytes("buffer " + std::to_string(i), sample.buffers[i].bytes());
  }
  return root;
}

}  // namespace hyphos::view
