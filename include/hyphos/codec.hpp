#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "hyphos/envelope.hpp"

namespace hyphos {

/// The form in which the values of a type leave the process. Part of the type id.
enum class Encoding : std::uint8_t {
  structure,  ///< the bytes of a trivially copyable struct, native layout, little endian
  bytes,      ///< raw bytes, no structure known to Hyphos
  protobuf,   ///< a serialized protobuf message
  attached,   ///< a serialized protobuf head followed by attached buffers
  custom,     ///< written by the type's own serialize()/parse() pair
  none,       ///< a C++ type without a form outside: its values stay in the process
};
[[nodiscard]] HYPHOS_EXPORT std::string_view to_string(Encoding encoding);

/// Identifies a message type across all processes and languages. Both endpoints of a channel must
/// use the same id.
struct TypeId {
  std::string name;  ///< e.g. "hyphos.msgs.LaserScan"
  Encoding encoding = Encoding::bytes;
  /// FNV-1a 64 of name, encoding and (for structures) size. See docs/reference/wire.md.
  std::uint64_t hash = 0;

  friend bool operator==(const TypeId& a, const TypeId& b) { return a.hash == b.hash; }
};

/// Computes the id. `size` is sizeof(T) for structures and 0 otherwise.
[[nodiscard]] HYPHOS_EXPORT TypeId make_type_id(std::string_view name, Encoding encoding,
                                                std::size_t size = 0);

/// True for the .proto files of Hyphos and of protobuf itself, which every program with Hyphos has.
[[nodiscard]] HYPHOS_EXPORT bool is_standard_file(std::string_view proto_file);

/// Returns the .proto file of a type and its imports, imports first, as a serialized
/// FileDescriptorSet. The files of Hyphos and of protobuf itself are left out. For a struct with
/// `hyphos_fields`: its layout, as a field of such a set (docs/reference/type_definitions.md).
using TypeDefinition = std::string (*)();

/// Converts values of one type to bytes and back. All functions are pure and thread-safe.
struct TypeSupport {
  TypeId id;
  std::size_t size = 0;   ///< sizeof(T)
  std::size_t align = 1;  ///< alignof(T)
  /// True for structures: the value is read in the receive buffer, without a decode or a copy.
  bool in_place = false;
  /// Number of bytes that `encode` writes. Null: the payload is the result of `borrow`.
  std::size_t (*encoded_size)(const void* value) = nullptr;
  /// Writes exactly encoded_size() bytes. Returns false if the value cannot be encoded.
  bool (*encode)(const void* value, std::span<std::byte> out) = nullptr;
  /// Returns the payload without a copy, for types that are a buffer already.
  Buffer (*borrow)(const void* value) = nullptr;
  /// Appends the attached buffers. Null if the type has none.
  void (*attach)(const void* value, BufferList& out) = nullptr;
  /// Constructs a value in `storage` (size, align). Returns false and constructs nothing if the
  /// bytes are corrupt.
  bool (*decode)(const Envelope& envelope, void* storage) = nullptr;
  void (*destroy)(void* value) = nullptr;
  /// A channel of the type has one subscription, which may take the value (Message::take()).
  bool exclusive = false;
  /// Called when a first endpoint of the type opens. Tools decode the channel with the result.
  /// Null: the type has neither a .proto file nor `hyphos_fields`.
  TypeDefinition definition = nullptr;
};

/// Receives the fields of a struct. Tools show the fields of a struct that lists them:
///
///     struct Pose {
///       double x, y;
///       float ranges[8];
///       static void hyphos_fields(auto&& field) {
///         field("x", &Pose::x);
///         field("y", &Pose::y);
///         field("ranges", &Pose::ranges);
///       }
///     };
///
/// Fields are numbers, bool, enums, char arrays (text), arrays of these, and structs with
/// `hyphos_fields`. A member of another type is shown as bytes. A struct in a function cannot have
/// `hyphos_fields`, because C++ allows no templates there. The list is read once, when an endpoint
/// of the type opens.
class HYPHOS_EXPORT FieldList {
 public:
  template <typename Owner, typename Member>
  void operator()(std::string_view name, Member Owner::* member);

  /// The layout of a struct, as TypeDefinition returns it.
  [[nodiscard]] std::string definition(std::string_view type, std::size_t size) const;

 private:
  template <typename T>
  void describe();
  void begin(std::string_view name, std::size_t offset);
  void dimension(std::size_t length);
  void end(char kind, std::size_t bytes);
  void end(const FieldList& inner, std::size_t bytes);

  std::string json_;
  std::string shape_;  // of the field that begin() started
};

/// A protobuf head with attached buffers: images, point clouds, maps. The head is serialized as
/// usual. The buffers (pixels, points) are passed on without a copy.
template <typename Head>
struct Attached {
  Head head;
  BufferList buffers;
};

namespace detail {

template <typename T>
concept ProtobufMessage = requires(T mutable_message, const T message, std::string name) {
  { message.ByteSizeLong() } -> std::convertible_to<std::size_t>;
  { message.SerializeToArray(static_cast<void*>(nullptr), 0) } -> std::same_as<bool>;
  { mutable_message.ParseFromArray(static_cast<const void*>(nullptr), 0) } -> std::same_as<bool>;
  { message.GetTypeName() };
};

/// A user type with its own functions:
///
///     size_t serialized_size() const;
///     void serialize(std::span<std::byte>) const;
///     static bool parse(std::span<const std::byte>, T&);
template <typename T>
concept SelfSerializing =
    requires(const T value, T target, std::span<std::byte> out, std::span<const std::byte> in) {
      { value.serialized_size() } -> std::convertible_to<std::size_t>;
      { value.serialize(out) };
      { T::parse(in, target) } -> std::same_as<bool>;
    };

template <typename T>
struct IsAttached : std::false_type {};
template <typename Head>
struct IsAttached<Attached<Head>> : std::true_type {};

template <typename T>
concept Structure = std::is_trivially_copyable_v<T> && std::is_standard_layout_v<T> &&
                    !std::is_pointer_v<T> && !ProtobufMessage<T> && !SelfSerializing<T>;

template <typename T>
struct IsUnique : std::false_type {};
template <typename T, typename Deleter>
struct IsUnique<std::unique_ptr<T, Deleter>> : std::true_type {};

/// Any other movable type. A pointer is none, because its value could end before the message.
template <typename T>
concept Movable = std::is_object_v<T> && !std::is_pointer_v<T> && std::move_constructible<T>;

template <typename T>
consteval std::string_view compiler_type_name() {
  constexpr std::string_view pretty = __PRETTY_FUNCTION__;  // "... [with T = pkg::Name; ...]"
  constexpr std::size_t from = pretty.find("T = ") + 4;
  constexpr std::size_t to = pretty.find_first_of(";]", from);
  return pretty.substr(from, to - from);
}

/// A type may declare `static constexpr std::string_view hyphos_type = "pkg.Name";`. That name
/// replaces the compiler's name and keeps the id stable if the type moves to another namespace.
template <typename T>
constexpr std::string_view type_name() {
  if constexpr (requires { T::hyphos_type; }) {
    return T::hyphos_type;
  } else {
    return compiler_type_name<T>();
  }
}

template <typename T>
void destroy(void* value) {
  static_cast<T*>(value)->~T();
}

template <ProtobufMessage T>
std::size_t protobuf_size(const T& message) {
  return message.ByteSizeLong();
}
inline constexpr std::size_t kMaxProtobufBytes = 0x7fffffff;

template <ProtobufMessage T>
bool protobuf_encode(const T& message, std::span<std::byte> out) {
  return out.size() <= kMaxProtobufBytes &&
         message.SerializeToArray(out.data(), static_cast<int>(out.size()));
}
template <ProtobufMessage T>
bool protobuf_decode(std::span<const std::byte> in, T& message) {
  return in.size() <= kMaxProtobufBytes &&
         message.ParseFromArray(in.data(), static_cast<int>(in.size()));
}

/// Copies a file into a FileDescriptorProto. The generated headers only declare that class, and its
/// first base is Message.
template <typename File, typename Proto, typename Message>
void copy_file(const File& file, void (File::*copy)(Proto*) const, Message& to) {
  (file.*copy)(reinterpret_cast<Proto*>(&to));
}

/// Appends a file after its imports, as a field `file` of a FileDescriptorSet.
template <typename File, typename Factory>
void append_definition(const File& file, Factory& factory, std::vector<const void*>& seen,
                       std::string& out) {
  if (is_standard_file(std::string(file.name()))) return;
  for (const void* one : seen) {
    if (one == &file) return;
  }
  seen.push_back(&file);
  for (int i = 0; i < file.dependency_count(); ++i) {
    append_definition(*file.dependency(i), factory, seen, out);
  }
  const auto* type = file.pool()->FindMessageTypeByName("google.protobuf.FileDescriptorProto");
  if (type == nullptr) return;
  auto* const made = factory.GetPrototype(type)->New();
  const std::unique_ptr<std::remove_pointer_t<decltype(made)>> proto(made);
  copy_file(file, &File::CopyTo, *proto);
  const std::string bytes = proto->SerializeAsString();
  out += '\x0a';  // field 1, with a length
  std::size_t rest = bytes.size();
  for (; rest > 0x7f; rest >>= 7) out += static_cast<char>((rest & 0x7f) | 0x80);
  out += static_cast<char>(rest);
  out += bytes;
}

template <ProtobufMessage T>
TypeDefinition definition_of() {
  if constexpr (requires { T::descriptor()->file()->pool(); }) {
    return [] {
      std::string files;
      std::vector<const void*> seen;
      append_definition(*T::descriptor()->file(), *T().GetReflection()->GetMessageFactory(), seen,
                        files);
      return files;
    };
  } else {
    return nullptr;  // a message of the lite runtime
  }
}

template <typename T>
concept ListsFields = requires(FieldList& fields) { T::hyphos_fields(fields); };

template <typename T>
TypeDefinition layout_of() {
  if constexpr (ListsFields<T>) {
    return [] {
      FieldList fields;
      T::hyphos_fields(fields);
      return fields.definition(type_name<T>(), sizeof(T));
    };
  } else {
    return nullptr;
  }
}

template <typename T>
TypeSupport make_support() {
  TypeSupport s;
  s.size = sizeof(T);
  s.align = alignof(T);
  s.destroy = &destroy<T>;
  if constexpr (std::same_as<T, Buffer>) {
    s.id = make_type_id("bytes", Encoding::bytes);
    s.borrow = [](const void* v) { return *static_cast<const Buffer*>(v); };
    s.decode = [](const Envelope& e, void* at) { return ::new (at) Buffer(e.payload), true; };
  } else if constexpr (ProtobufMessage<T>) {
    s.id = make_type_id(T().GetTypeName(), Encoding::protobuf);
    s.encoded_size = [](const void* v) { return protobuf_size(*static_cast<const T*>(v)); };
    s.encode = [](const void* v, std::span<std::byte> out) {
      return protobuf_encode(*static_cast<const T*>(v), out);
    };
    s.decode = [](const Envelope& e, void* at) {
      auto* value = ::new (at) T();
      if (protobuf_decode(e.payload.bytes(), *value)) return true;
      value->~T();
      return false;
    };
    s.definition = definition_of<T>();
  } else if constexpr (IsAttached<T>::value) {
    using Head = decltype(T::head);
    static_assert(ProtobufMessage<Head>, "Attached<Head> needs a protobuf head");
    s.id = make_type_id(Head().GetTypeName(), Encoding::attached);
    s.encoded_size = [](const void* v) { return protobuf_size(static_cast<const T*>(v)->head); };
    s.encode = [](const void* v, std::span<std::byte> out) {
      return protobuf_encode(static_cast<const T*>(v)->head, out);
    };
    s.attach = [](const void* v, BufferList& out) { out = static_cast<const T*>(v)->buffers; };
    s.decode = [](const Envelope& e, void* at) {
      auto* value = ::new (at) T();
      value->buffers = e.buffers;
      if (protobuf_decode(e.payload.bytes(), value->head)) return true;
      value->~T();
      return false;
    };
    s.definition = definition_of<Head>();
  } else if constexpr (SelfSerializing<T>) {
    s.id = make_type_id(type_name<T>(), Encoding::custom);
    s.encoded_size = [](const void* v) -> std::size_t {
      return static_cast<const T*>(v)->serialized_size();
    };
    s.encode = [](const void* v, std::span<std::byte> out) {
      return static_cast<const T*>(v)->serialize(out), true;
    };
    s.decode = [](const Envelope& e, void* at) {
      auto* value = ::new (at) T();
      if (T::parse(e.payload.bytes(), *value)) return true;
      value->~T();
      return false;
    };
  } else if constexpr (!Structure<T>) {
    static_assert(Movable<T>,
                  "a message is a protobuf message, a trivially copyable struct, hyphos::Buffer, "
                  "hyphos::Attached<Head>, a type with serialized_size/serialize/parse or, within "
                  "one process, any other movable type. A raw pointer and a reference are none");
    s.id = make_type_id(type_name<T>(), Encoding::none);
    s.exclusive = IsUnique<T>::value;
  } else {
    s.id = make_type_id(type_name<T>(), Encoding::structure, sizeof(T));
    s.in_place = true;
    s.encoded_size = [](const void*) { return sizeof(T); };
    s.encode = [](const void* v, std::span<std::byte> out) {
      return std::memcpy(out.data(), v, sizeof(T)), true;
    };
    s.decode = [](const Envelope& e, void* at) {
      if (e.payload.size() != sizeof(T)) return false;
      return std::memcpy(at, e.payload.data(), sizeof(T)), true;
    };
    s.definition = layout_of<T>();
  }
  return s;
}

}  // namespace detail

template <typename Owner, typename Member>
void FieldList::operator()(std::string_view name, Member Owner::* member) {
  static_assert(std::is_standard_layout_v<Owner>, "the fields of a struct that a channel carries");
  // In the Itanium C++ ABI, a pointer to a data member is the offset of the member.
  begin(name, std::bit_cast<std::size_t>(member));
  describe<std::remove_cv_t<Member>>();
}

template <typename T>
void FieldList::describe() {
  if constexpr (std::is_same_v<T, char[sizeof(T)]>) {
    end('S', sizeof(T));
  } else if constexpr (std::is_array_v<T>) {
    dimension(std::extent_v<T>);
    describe<std::remove_cv_t<std::remove_extent_t<T>>>();
  } else if constexpr (requires { std::tuple_size<T>::value + sizeof(typename T::value_type); }) {
    using Item = typename T::value_type;  // of a std::array
    describe<Item[std::tuple_size<T>::value]>();
  } else if constexpr (std::is_enum_v<T>) {
    describe<std::underlying_type_t<T>>();
  } else if constexpr (std::is_same_v<T, bool>) {
    end('?', sizeof(T));
  } else if constexpr (std::is_floating_point_v<T>) {
    end('f', sizeof(T));
  } else if constexpr (std::is_integral_v<T>) {
    end(std::is_signed_v<T> ? 'i' : 'u', sizeof(T));
  } else if constexpr (detail::ListsFields<T>) {
    FieldList inner;
    T::hyphos_fields(inner);
    end(inner, sizeof(T));
  } else {
    end('V', sizeof(T));
  }
}

/// The only TypeSupport of T in this program.
template <typename T>
const TypeSupport& type_support() {
  static const TypeSupport support = detail::make_support<T>();
  return support;
}

}  // namespace hyphos
