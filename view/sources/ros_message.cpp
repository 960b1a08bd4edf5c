#include "view/sources/ros_message.hpp"

#include <google/protobuf/descriptor.pb.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cstring>
#include <set>

namespace hyphos::view::ros {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorProto;
using google::protobuf::FieldDescriptor;
using google::protobuf::FieldDescriptorProto;
using google::protobuf::FileDescriptorProto;

// As python/hyphos/recording/ros_map.py.
constexpr std::array<std::string_view, 8> kPackages{
    "std_msgs", "geometry_msgs",   "sensor_msgs",    "nav_msgs",
    "tf2_msgs", "diagnostic_msgs", "rcl_interfaces", "visualization_msgs"};
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kRenamed{{
    {"sensor_msgs/PointCloud2", "PointCloud"},
    {"sensor_msgs/PointCloud", ""},
    {"tf2_msgs/TFMessage", "TfMessage"},
    {"tf/tfMessage", "TfMessage"},
}};

// A definition has at most this depth (parse_definition), so each byte is in that many messages.
constexpr std::size_t kMostDepth = 33;
constexpr std::size_t kMostEmpty = 64;  // messages without a byte, at each depth

enum ProtoWire : std::uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

const Descriptor* standard(const Types& types, std::string_view name) {
  for (const auto& [ros, own] : kRenamed) {
    if (ros == name) return own.empty() ? nullptr : types.find("hyphos.msgs." + std::string(own));
  }
  const std::size_t slash = name.find('/');
  const std::string_view package = name.substr(0, slash);
  if (std::find(kPackages.begin(), kPackages.end(), package) == kPackages.end()) return nullptr;
  return types.find("hyphos.msgs." + std::string(name.substr(slash + 1)));
}

std::string proto_name(const Field& field) {
  std::string name = field.name;
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (field.kind == Kind::time && field.many == Many::one) name += "_ns";
  return name;
}

bool is_blob(const Field& field) {
  return field.many != Many::one && (field.kind == Kind::u8 || field.kind == Kind::i8);
}

/// True if `target` has a place for every field of the type and of those below it.
bool holds_all(const Definitions& all, const std::string& name, const Descriptor& target) {
  for (const Field& field : all.find(name)->second) {
    const FieldDescriptor* const place = target.FindFieldByName(proto_name(field));
    if (place == nullptr) return field.name == "structure_needs_at_least_one_member";
    if (field.kind == Kind::message &&
        (place->message_type() == nullptr || !holds_all(all, field.type, *place->message_type()))) {
      return false;
    }
  }
  return true;
}

FieldDescriptorProto::Type type_of(const Field& field) {
  if (is_blob(field)) return FieldDescriptorProto::TYPE_BYTES;
  switch (field.kind) {
    case Kind::boolean:
      return FieldDescriptorProto::TYPE_BOOL;
    case Kind::i8:
    case Kind::i16:
    case Kind::i32:
      return FieldDescriptorProto::TYPE_INT32;
    case Kind::u8:
    case Kind::u16:
    case Kind::u32:
      return FieldDescriptorProto::TYPE_UINT32;
    case Kind::u64:
      return FieldDescriptorProto::TYPE_UINT64;
    case Kind::f32:
      return FieldDescriptorProto::TYPE_FLOAT;
    case Kind::f64:
      return FieldDescriptorProto::TYPE_DOUBLE;
    case Kind::text:
      return FieldDescriptorProto::TYPE_STRING;
    case Kind::message:
      return FieldDescriptorProto::TYPE_MESSAGE;
    case Kind::i64:
    case Kind::time:
      break;
  }
  return FieldDescriptorProto::TYPE_INT64;
}

std::string dotted(std::string name) {
  std::replace(name.begin(), name.end(), '/', '.');
  return name;
}

/// Defines `name` and all types below it that are neither standard nor known.
Result<void> define(const Definitions& all, const std::string& name, Types& types) {
  if (types.find(dotted(name)) != nullptr) return success();
  google::protobuf::FileDescriptorSet set;
  FileDescriptorProto& file = *set.add_file();
  file.set_name("ros/" + name + ".proto");
  file.set_syntax("proto3");
  const std::size_t slash = name.find('/');
  if (slash == std::string::npos) return Error{Code::corrupt, "the type has no package", name};
  file.set_package(name.substr(0, slash));
  DescriptorProto& message = *file.add_message_type();
  message.set_name(name.substr(slash + 1));
  std::set<std::string> imports;
  int number = 0;
  for (const Field& field : all.find(name)->second) {
    FieldDescriptorProto& out = *message.add_field();
    out.set_name(proto_name(field));
    out.set_number(++number);
    out.set_type(type_of(field));
    const bool repeated = field.many != Many::one && !is_blob(field);
    out.set_label(repeated ? FieldDescriptorProto::LABEL_REPEATED
                           : FieldDescriptorProto::LABEL_OPTIONAL);
    if (field.kind != Kind::message) continue;
    const Descriptor* below = standard(types, field.type);
    if (below == nullptr || !holds_all(all, field.type, *below)) {
      if (auto defined = define(all, field.type, types); !defined) return defined;
      below = types.find(dotted(field.type));
      if (below == nullptr) return Error{Code::type_mismatch, "cannot be defined", field.type};
    }
    out.set_type_name("." + below->full_name());
    imports.insert(below->file()->name());
  }
  for (const std::string& import : imports) file.add_dependency(import);
  return types.add(set.SerializeAsString());
}

void put_varint(std::string& out, std::uint64_t value) {
  for (; value > 0x7f; value >>= 7U) out += static_cast<char>((value & 0x7fU) | 0x80U);
  out += static_cast<char>(value);
}
void put_tag(std::string& out, std::uint32_t number, ProtoWire wire) {
  put_varint(out, std::uint64_t{number} << 3U | wire);
}
template <typename T>
void put_fixed(std::string& out, T value) {
  std::array<char, sizeof(T)> bytes;
  std::memcpy(bytes.data(), &value, sizeof(T));
  out.append(bytes.data(), bytes.size());
}
void put_bytes(std::string& out, std::uint32_t number, std::string_view bytes) {
  put_tag(out, number, kBytes);
  put_varint(out, bytes.size());
  out += bytes;
}

/// The number of bytes of the character at the start of `text`. 0: it is not UTF-8.
std::size_t character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t size = first < 0xc2   ? 0
                           : first < 0xe0 ? 2
                           : first < 0xf0 ? 3
                           : first < 0xf5 ? 4
                                          : 0;
  if (size == 0 || size > text.size()) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return 0;
  }
  // Overlong forms, surrogates, and numbers beyond Unicode.
  const bool wrong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f) ||
                     (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f);
  return wrong ? 0 : size;
}

/// ROS does not check texts, but protobuf refuses other bytes than UTF-8. As in the other commands,
/// U+FFFD replaces each wrong byte.
void put_text(std::string& out, std::uint32_t number, std::string_view text) {
  std::string corrected;
  std::size_t good = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = character(text.substr(at));
    if (size == 0) {
      corrected += text.substr(good, at - good);
      corrected += "\xef\xbf\xbd";
      good = at + 1;
    }
    at += std::max(size, std::size_t{1});
  }
  if (corrected.empty()) return put_bytes(out, number, text);
  corrected += text.substr(good);
  put_bytes(out, number, corrected);
}

std::size_t size_of(Kind kind) {
  switch (kind) {
    case Kind::boolean:
    case Kind::i8:
    case Kind::u8:
      return 1;
    case Kind::i16:
    case Kind::u16:
      return 2;
    case Kind::i64:
    case Kind::u64:
    case Kind::f64:
      return 8;
    default:
      return 4;
  }
}

bool is_float(Kind kind) { return kind == Kind::f32 || kind == Kind::f64; }

/// A number of the wire: a float as a double, an integer with its sign extended.
struct Number {
  std::uint64_t integer = 0;
  double real = 0;
};

/// Writes a value without its tag.
void put_number(std::string& out, std::uint8_t type, bool real, const Number& number) {
  const double value =
      real ? number.real : static_cast<double>(static_cast<std::int64_t>(number.integer));
  if (type == FieldDescriptor::TYPE_DOUBLE) {
    put_fixed(out, value);
  } else if (type == FieldDescriptor::TYPE_FLOAT) {
    put_fixed(out, static_cast<float>(value));
  } else {
    put_varint(out, number.integer);
  }
}

ProtoWire wire_of(std::uint8_t type) {
  if (type == FieldDescriptor::TYPE_DOUBLE) return kFixed64;
  return type == FieldDescriptor::TYPE_FLOAT ? kFixed32 : kVarint;
}

/// True if a value of the kind can be written to a field of this type.
bool fits(const Field& field, const FieldDescriptor& place) {
  if (is_blob(field) && place.type() == FieldDescriptor::TYPE_BYTES) return true;
  if (place.is_repeated() != (field.many != Many::one)) return false;
  switch (place.type()) {
    case FieldDescriptor::TYPE_MESSAGE:
      return field.kind == Kind::message;
    case FieldDescriptor::TYPE_STRING:
      return field.kind == Kind::text;
    case FieldDescriptor::TYPE_DOUBLE:
    case FieldDescriptor::TYPE_FLOAT:
      return field.kind < Kind::text;
    case FieldDescriptor::TYPE_BOOL:
    case FieldDescriptor::TYPE_ENUM:
    case FieldDescriptor::TYPE_INT32:
    case FieldDescriptor::TYPE_INT64:
    case FieldDescriptor::TYPE_UINT32:
    case FieldDescriptor::TYPE_UINT64:
      return field.kind == Kind::time || (field.kind < Kind::text && !is_float(field.kind));
    default:
      return false;
  }
}

}  // namespace

/// Reads the values of a message. After the first one that does not fit, all reads fail.
class RosMessage::Reader {
 public:
  Reader(const Buffer& message, std::size_t start, Wire wire, std::size_t largest_align)
      : message_(message),
        at_(start),
        start_(start),
        wire_(wire),
        align_(largest_align),
        messages_(kMostDepth * (message.size() + kMostEmpty)) {}

  [[nodiscard]] bool cdr() const { return wire_ == Wire::cdr; }

  bool align(std::size_t size) {
    if (!cdr()) return true;
    const std::size_t unit = std::min(size, align_);
    const std::size_t behind = (at_ - start_) % unit;
    return behind == 0 || skip(unit - behind);
  }
  bool skip(std::size_t size) {
    if (size > message_.size() - at_) return false;
    at_ += size;
    return true;
  }
  /// Begins a message inside the message. Messages without a byte may be nested, so that a short
  /// definition has any number of them.
  bool begin() {
    if (messages_ == 0) return false;
    --messages_;
    return true;
  }
  template <typename T>
  bool get(T& value) {
    if (!align(sizeof(T)) || sizeof(T) > message_.size() - at_) return false;
    std::memcpy(&value, message_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return true;
  }
  bool bytes(std::size_t size, std::string_view& out) {
    if (size > message_.size() - at_) return false;
    out = message_.text().substr(at_, size);
    at_ += size;
    return true;
  }
  bool text(std::string_view& out) {
    std::uint32_t size = 0;
    if (!get(size) || !bytes(size, out)) return false;
    if (cdr() && !out.empty() && out.back() == '\0') out.remove_suffix(1);
    return true;
  }
  bool number(Kind kind, Number& out) {
    switch (kind) {
      case Kind::boolean:
      case Kind::u8:
        return read<std::uint8_t>(out);
      case Kind::i8:
        return read<std::int8_t>(out);
      case Kind::i16:
        return read<std::int16_t>(out);
      case Kind::u16:
        return read<std::uint16_t>(out);
      case Kind::i32:
        return read<std::int32_t>(out);
      case Kind::u32:
        return read<std::uint32_t>(out);
      case Kind::i64:
        return read<std::int64_t>(out);
      case Kind::u64:
        return read<std::uint64_t>(out);
      case Kind::f32: {
        float value = 0;
        if (!get(value)) return false;
        out.real = value;
        return true;
      }
      case Kind::f64:
        return get(out.real);
      case Kind::time: {
        std::int32_t seconds = 0;
        std::int32_t nanoseconds = 0;
        if (!get(seconds) || !get(nanoseconds)) return false;
        // The seconds of ROS 1 are unsigned in a time, and signed in a duration.
        out.integer =
            static_cast<std::uint64_t>(std::int64_t{seconds} * 1'000'000'000 + nanoseconds);
        return true;
      }
      default:
        return false;
    }
  }
  /// The number of elements of an array. Elements take at least one byte, unless they are empty.
  bool count(const Field& field, std::uint32_t& out) {
    out = field.count;
    if (field.many == Many::sequence && !get(out)) return false;
    const std::size_t least = field.kind == Kind::message ? 0 : 1;
    return out * least <= message_.size() - at_ && out <= message_.size();
  }
  [[nodiscard]] std::size_t position() const { return at_; }
  [[nodiscard]] const Buffer& message() const { return message_; }

 private:
  template <typename T>
  bool read(Number& out) {
    T value{};
    if (!get(value)) return false;
    out.integer = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
    return true;
  }

  const Buffer& message_;
  std::size_t at_;
  std::size_t start_;
  Wire wire_;
  std::size_t align_;
  std::size_t messages_;  // that may still begin
};

Result<std::unique_ptr<RosMessage>> RosMessage::make(std::string_view name, std::string_view text,
                                                     Wire wire, Types& types) {
  auto all = parse_definition(name, text);
  if (!all) return all.error();
  const std::string ros = short_name(name);
  std::unique_ptr<RosMessage> out(new RosMessage());
  out->wire_ = wire;
  const Descriptor* target = standard(types, ros);
  if (target == nullptr) {
    if (auto defined = define(*all, ros, types); !defined) return defined.error();
    target = types.find(dotted(ros));
  }
  if (target == nullptr) return Error{Code::type_mismatch, "the type cannot be defined", ros};
  out->type_ = target->full_name();
  out->top_ = out->plan(*all, ros, target, true);
  return out;
}

const RosMessage::Plan* RosMessage::plan(const Definitions& all, const std::string& name,
                                         const Descriptor* target, bool top) {
  const std::string key = name + " " + (target == nullptr ? "" : target->full_name());
  const auto [found, fresh] = plans_.try_emplace(key);
  if (!fresh) return found->second.get();
  found->second = std::make_unique<Plan>();
  Plan* const out = found->second.get();
  for (const Field& field : all.find(name)->second) {
    Step step{field, 0, 0, false, nullptr};
    const FieldDescriptor* place =
        target == nullptr ? nullptr : target->FindFieldByName(proto_name(field));
    if (place != nullptr && !fits(field, *place)) place = nullptr;
    if (place != nullptr) {
      step.number = static_cast<std::uint32_t>(place->number());
      step.type = static_cast<std::uint8_t>(place->type());
    } else if (top && field.name == "data" && field.many == Many::sequence && is_blob(field)) {
      step.buffer = attached_ = true;
    }
    if (field.kind == Kind::message) {
      step.plan = plan(all, field.type, place == nullptr ? nullptr : place->message_type(), false);
    }
    out->steps.push_back(std::move(step));
  }
  return out;
}

bool RosMessage::write_one(const Step& step, Reader& from, std::string& out, Unjoined& whole) {
  if (step.field.kind == Kind::message) {
    std::string below;
    if (!from.begin() || !write(*step.plan, from, below, whole)) return false;
    if (step.number != 0) put_bytes(out, step.number, below);
    return true;
  }
  if (step.field.kind == Kind::text) {
    std::string_view text;
    if (!from.text(text)) return false;
    if (step.number != 0) put_text(out, step.number, text);
    return true;
  }
  Number number;
  if (!from.number(step.field.kind, number)) return false;
  if (step.number == 0 || (number.integer == 0 && number.real == 0)) return true;
  put_tag(out, step.number, wire_of(step.type));
  put_number(out, step.type, is_float(step.field.kind), number);
  return true;
}

bool RosMessage::write_many(const Step& step, Reader& from, std::string& out, Unjoined& whole) {
  std::uint32_t count = 0;
  if (!from.count(step.field, count)) return false;
  const Kind kind = step.field.kind;
  if (kind == Kind::message || kind == Kind::text) {
    for (std::uint32_t i = 0; i < count; ++i) {
      if (!write_one(step, from, out, whole)) return false;
    }
    return true;
  }
  if (is_blob(step.field)) {
    const std::size_t at = from.position();
    std::string_view bytes;
    if (!from.bytes(count, bytes)) return false;
    if (step.buffer) whole.buffers.push_back(from.message().slice(at, count));
    if (step.number != 0) put_bytes(out, step.number, bytes);
    return true;
  }
  if (count == 0) return true;
  const bool same = (kind == Kind::f32 && step.type == FieldDescriptor::TYPE_FLOAT) ||
                    (kind == Kind::f64 && step.type == FieldDescriptor::TYPE_DOUBLE);
  if (same && step.number != 0) {
    std::string_view bytes;
    if (!from.align(size_of(kind)) || !from.bytes(count * size_of(kind), bytes)) return false;
    put_bytes(out, step.number, bytes);
    return true;
  }
  std::string packed;
  for (std::uint32_t i = 0; i < count; ++i) {
    Number number;
    if (!from.number(kind, number)) return false;
    if (step.number != 0) put_number(packed, step.type, is_float(kind), number);
  }
  if (step.number != 0) put_bytes(out, step.number, packed);
  return true;
}

bool RosMessage::write(const Plan& plan, Reader& from, std::string& out, Unjoined& whole) {
  return std::all_of(plan.steps.begin(), plan.steps.end(), [&](const Step& step) {
    return step.field.many == Many::one ? write_one(step, from, out, whole)
                                        : write_many(step, from, out, whole);
  });
}

std::optional<Unjoined> RosMessage::convert(const Buffer& message) const {
  std::size_t start = 0;
  std::size_t align = 8;
  if (wire_ == Wire::cdr) {
    // The identifiers of CDR and of plain CDR2, little endian. Two bytes of options follow.
    if (message.size() < 4 || message.text()[0] != 0) return std::nullopt;
    const char kind = message.text()[1];
    if (kind != 1 && kind != 7) return std::nullopt;
    if (kind == 7) align = 4;
    start = 4;
  }
  Unjoined out;
  std::string head;
  Reader reader(message, start, wire_, align);
  if (!write(*top_, reader, head, out)) return std::nullopt;
  out.head = Buffer::copy_of(head);
  return out;
}

}  // namespace hyphos::view::ros
