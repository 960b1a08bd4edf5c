#include "view/core/fields.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <set>

#include "view/core/words.hpp"

namespace hyphos::view {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using Bytes = std::span<const std::byte>;

constexpr std::size_t kMaxVisits = 100'000;  // of fields, in a type that contains others many times
constexpr std::size_t kMaxSteps = 32;
enum Wire : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

bool is_numeric(const FieldDescriptor& field) {
  return field.cpp_type() != FieldDescriptor::CPPTYPE_STRING &&
         field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE;
}

std::string type_name(const FieldDescriptor& field) {
  if (field.enum_type() != nullptr) return field.enum_type()->name();
  return field.type_name();
}

struct Lister {
  std::vector<NumericField>& out;
  std::size_t most;
  std::size_t visits = 0;
  std::set<const Descriptor*> open = {};

  void list(const Descriptor& type, const std::string& prefix) {
    if (!open.insert(&type).second) return;
    for (int i = 0; i < type.field_count(); ++i) {
      const FieldDescriptor& field = *type.field(i);
      if (out.size() >= most || ++visits > kMaxVisits) break;
      if (field.number() == kAttachedField) continue;
      const std::string path = prefix + field.name() + (field.is_repeated() ? "[]" : "");
      if (field.message_type() != nullptr) {
        list(*field.message_type(), path + ".");
      } else if (is_numeric(field)) {
        out.push_back({path, type_name(field)});
      }
    }
    open.erase(&type);
  }
};

Error no_field(const Descriptor& type, std::string_view name, std::string_view path) {
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(type.field_count()));
  for (int i = 0; i < type.field_count(); ++i) names.push_back(type.field(i)->name());
  std::string text = type.full_name() + " has no field '" + std::string(name) + "'";
  if (const std::string_view near = nearest_word(name, names); !near.empty()) {
    text += " (did you mean '" + std::string(near) + "'?)";
  }
  return {Code::not_found, std::move(text), std::string(path)};
}

bool read_varint(Bytes& left, std::uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 64 && !left.empty(); shift += 7) {
    const auto byte = std::to_integer<std::uint8_t>(left.front());
    left = left.subspan(1);
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

template <typename T>
bool read_fixed(Bytes& left, std::uint64_t& value) {
  if (left.size() < sizeof(T)) return false;
  T raw{};
  std::memcpy(&raw, left.data(), sizeof(T));
  left = left.subspan(sizeof(T));
  value = raw;
  return true;
}

bool read_bytes(Bytes& left, Bytes& value) {
  std::uint64_t size = 0;
  if (!read_varint(left, size) || size > left.size()) return false;
  value = left.first(static_cast<std::size_t>(size));
  left = left.subspan(value.size());
  return true;
}

bool read_scalar(Bytes& left, unsigned wire, std::uint64_t& value) {
  switch (wire) {
    case kVarint:
      return read_varint(left, value);
    case kFixed64:
      return read_fixed<std::uint64_t>(left, value);
    case kFixed32:
      return read_fixed<std::uint32_t>(left, value);
    default:
      return false;
  }
}

bool skip(Bytes& left, unsigned wire) {
  std::uint64_t number = 0;
  Bytes bytes;
  return wire == kBytes ? read_bytes(left, bytes) : read_scalar(left, wire, number);
}

unsigned wire_of(std::uint8_t type) {
  switch (type) {
    case FieldDescriptor::TYPE_DOUBLE:
    case FieldDescriptor::TYPE_FIXED64:
    case FieldDescriptor::TYPE_SFIXED64:
      return kFixed64;
    case FieldDescriptor::TYPE_FLOAT:
    case FieldDescriptor::TYPE_FIXED32:
    case FieldDescriptor::TYPE_SFIXED32:
      return kFixed32;
    case FieldDescriptor::TYPE_MESSAGE:
      return kBytes;
    default:
      return kVarint;
  }
}

double number_of(std::uint8_t type, std::uint64_t raw) {
  const auto low = static_cast<std::uint32_t>(raw);
  switch (type) {
    case FieldDescriptor::TYPE_DOUBLE:
      return std::bit_cast<double>(raw);
    case FieldDescriptor::TYPE_FLOAT:
      return std::bit_cast<float>(low);
    case FieldDescriptor::TYPE_UINT64:
    case FieldDescriptor::TYPE_FIXED64:
      return static_cast<double>(raw);
    case FieldDescriptor::TYPE_UINT32:
    case FieldDescriptor::TYPE_FIXED32:
      return low;
    case FieldDescriptor::TYPE_BOOL:
      return raw != 0 ? 1 : 0;
    case FieldDescriptor::TYPE_SINT32:
    case FieldDescriptor::TYPE_SINT64:  // zigzag
      return static_cast<double>(static_cast<std::int64_t>((raw >> 1U) ^ (~(raw & 1U) + 1U)));
    case FieldDescriptor::TYPE_INT32:
    case FieldDescriptor::TYPE_ENUM:
    case FieldDescriptor::TYPE_SFIXED32:
      return static_cast<std::int32_t>(low);
    default:
      return static_cast<double>(static_cast<std::int64_t>(raw));
  }
}

/// One part of a path: "ranges[3]".
struct Segment {
  std::string_view name;
  bool has_index = false;
  std::uint32_t index = 0;
};

bool parse_segment(std::string_view text, Segment& out) {
  const std::size_t bracket = text.find('[');
  out.name = text.substr(0, bracket);
  if (bracket == std::string_view::npos) return true;
  const std::string_view number = text.substr(bracket + 1);
  const char* const end = number.data() + number.size();
  const auto read = std::from_chars(number.data(), end, out.index);
  out.has_index = read.ec == std::errc() && read.ptr + 1 == end && *read.ptr == ']';
  return out.has_index;
}

}  // namespace

std::vector<NumericField> numeric_fields(const Descriptor& type, std::size_t most) {
  std::vector<NumericField> out;
  Lister{out, most}.list(type, "");
  return out;
}

Result<FieldPath> FieldPath::compile(const Descriptor& type, std::string_view path) {
  FieldPath out;
  out.text_ = path;
  const auto wrong = [path](std::string text) {
    return Error{Code::invalid_config, std::move(text), std::string(path.substr(0, 256))};
  };
  const Descriptor* in = &type;
  std::string_view left = path;
  while (true) {
    const std::size_t dot = left.find('.');
    const std::string_view text = left.substr(0, dot);
    left = dot == std::string_view::npos ? std::string_view() : left.substr(dot + 1);
    Segment segment;
    if (!parse_segment(text, segment)) {
      return wrong("'" + std::string(text.substr(0, 64)) + "' needs a number in its brackets");
    }
    const FieldDescriptor* const field = in->FindFieldByName(std::string(segment.name));
    if (field == nullptr) return no_field(*in, segment.name, path);
    const bool length = field->is_repeated() && !segment.has_index && left == "length";
    if (field->is_repeated() && !segment.has_index && !length) {
      return wrong("'" + field->name() + "' is repeated, so it needs an index: '" + field->name() +
                   "[0]'");
    }
    if (!field->is_repeated() && segment.has_index) {
      return wrong("'" + field->name() + "' is not repeated, so it has no index");
    }
    Step step;
    step.number = static_cast<std::uint32_t>(field->number());
    step.type = static_cast<std::uint8_t>(field->type());
    step.repeated = segment.has_index;
    step.index = segment.index;
    step.length = length;
    step.optional =
        !field->is_repeated() && field->has_presence() && field->message_type() == nullptr;
    out.steps_.push_back(step);
    if (length) return out;
    if (out.steps_.size() > kMaxSteps) return wrong("the path is too long");
    if (dot == std::string_view::npos) {
      if (is_numeric(*field)) return out;
      return wrong("'" + field->name() + "' is no number");
    }
    if (field->message_type() == nullptr) {
      return wrong("'" + field->name() + "' has no fields");
    }
    in = field->message_type();
  }
}

/// The result of one step, filled while the fields of a message pass.
struct FieldPath::Found {
  std::uint64_t count = 0;  // of elements
  bool there = false;
  std::uint64_t raw = 0;
  Bytes message;
};

bool FieldPath::take_packed(const Step& step, Bytes packed, Found& found) {
  const unsigned wire = wire_of(step.type);
  if (wire != kVarint) {
    const std::size_t size = wire == kFixed64 ? 8 : 4;
    const std::uint64_t there = packed.size() / size;
    if (!step.length && step.index >= found.count && step.index - found.count < there) {
      Bytes at = packed.subspan(static_cast<std::size_t>(step.index - found.count) * size);
      found.there = read_scalar(at, wire, found.raw);
    }
    found.count += there;
    return packed.size() % size == 0;
  }
  while (!packed.empty()) {
    std::uint64_t raw = 0;
    if (!read_varint(packed, raw)) return false;
    if (found.count++ == step.index && !step.length) {
      found.there = true;
      found.raw = raw;
    }
  }
  return true;
}

bool FieldPath::take(const Step& step, std::uint64_t key, Bytes& left, Found& found) {
  const auto wire = static_cast<unsigned>(key & 7U);
  const bool many = step.repeated || step.length;
  const bool scalar = step.type != FieldDescriptor::TYPE_MESSAGE &&
                      step.type != FieldDescriptor::TYPE_STRING &&
                      step.type != FieldDescriptor::TYPE_BYTES;
  if (wire == kBytes) {
    Bytes bytes;
    if (!read_bytes(left, bytes)) return false;
    if (scalar) return !many || take_packed(step, bytes, found);
    if (!many || (step.repeated && found.count == step.index)) {
      found.there = true;
      found.message = bytes;
    }
    ++found.count;
    return true;
  }
  std::uint64_t raw = 0;
  if (!read_scalar(left, wire, raw)) return false;
  if (wire != wire_of(step.type)) return true;  // of another type: an unknown field
  if (!many || (step.repeated && found.count == step.index)) {
    found.there = true;
    found.raw = raw;
  }
  ++found.count;
  return true;
}

// Fields that are absent are 0, but elements are not.
std::optional<double> FieldPath::absent(std::size_t step) const {
  if (steps_[step].repeated) return std::nullopt;
  if (step + 1 < steps_.size()) return absent(step + 1);
  return steps_[step].optional ? std::nullopt : std::optional(0.0);
}

std::optional<double> FieldPath::read(Bytes message, std::size_t at) const {
  const Step& step = steps_[at];
  Found found;
  while (!message.empty()) {
    std::uint64_t key = 0;
    if (!read_varint(message, key)) return std::nullopt;
    const bool good = key >> 3U == step.number ? take(step, key, message, found)
                                               : skip(message, static_cast<unsigned>(key & 7U));
    if (!good) return std::nullopt;
  }
  if (step.length) return static_cast<double>(found.count);
  if (!found.there) return absent(at);
  if (at + 1 < steps_.size()) return read(found.message, at + 1);
  return number_of(step.type, found.raw);
}

std::optional<double> FieldPath::read(Bytes message) const {
  return steps_.empty() ? std::nullopt : read(message, 0);
}

}  // namespace hyphos::view
