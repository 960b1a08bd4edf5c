#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hyphos/result.hpp"
#include "view/core/sample.hpp"
#include "view/core/types.hpp"

namespace hyphos::view {

/// A field that a plot can show.
struct NumericField {
  /// "pose.position.x". "ranges[]" and "transforms[].transform.translation.x" need an index in each
  /// pair of brackets before FieldPath::compile() accepts them.
  std::string path;
  std::string type;  ///< "double", "uint32", "bool", "Level" (an enum)
};

/// All numeric fields of a type in the order of their declaration, at most `most`. A type inside
/// itself is listed once.
[[nodiscard]] std::vector<NumericField> numeric_fields(const google::protobuf::Descriptor& type,
                                                       std::size_t most = 2'000);

/// A compiled path to one number in messages of one type.
///
/// A value. Reading is thread-safe. read() scans the encoded bytes without making a message and
/// without an allocation: about 10 ns per skipped field.
class FieldPath {
 public:
  /// `path`: names joined by '.', an index in brackets after a repeated field. A path that ends at
  /// a repeated field with ".length" is its number of elements. Errors: not_found (no such field,
  /// with the similar name), invalid_config (an index is missing or needless, not a number).
  static Result<FieldPath> compile(const google::protobuf::Descriptor& type, std::string_view path);

  /// The number in an encoded message. As in protobuf, a field that is absent is 0. None: an
  /// element that the message does not have, an absent `optional` or `oneof` field, or corrupt
  /// bytes. int64 values beyond 2^53 are rounded.
  [[nodiscard]] std::optional<double> read(std::span<const std::byte> message) const;
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  struct Step {
    std::uint32_t number = 0;  // of the field
    std::uint8_t type = 0;     // google::protobuf::FieldDescriptor::Type
    bool repeated = false;     // `index` selects an element
    bool optional = false;     // absent: no value
    bool length = false;       // the number of elements
    std::uint32_t index = 0;
  };
  struct Found;
  [[nodiscard]] static bool take(const Step& step, std::uint64_t key,
                                 std::span<const std::byte>& left, Found& found);
  [[nodiscard]] static bool take_packed(const Step& step, std::span<const std::byte> packed,
                                        Found& found);
  [[nodiscard]] std::optional<double> absent(std::size_t step) const;
  [[nodiscard]] std::optional<double> read(std::span<const std::byte> message,
                                           std::size_t at) const;
  std::string text_;
  std::vector<Step> steps_;
};

/// A field of a message as text, for the panel of raw messages.
struct FieldNode {
  std::string name;          ///< "position", "[3]"
  std::string path;          ///< as FieldPath takes it: "pose.position", "ranges[3]"
  std::string type;          ///< "double", "Point", "float[720]", "bytes"
  std::string value;         ///< one line, empty for a message or an array
  bool numeric = false;      ///< `path` can be plotted
  std::uint64_t hidden = 0;  ///< children that the limits left out
  std::vector<FieldNode> children;
};

struct TreeLimits {
  std::size_t nodes = 4'096;
  std::size_t elements = 64;  ///< of one array
  std::size_t text = 256;     ///< bytes of one value
  std::size_t depth = 16;
};

/// The fields of a sample and their values. A sample without a definition (struct, bytes, custom,
/// an unknown type) has one node with its size and the first bytes in hexadecimal. Attached buffers
/// are nodes "buffer 0", … Never fails: a message that is corrupt is a node that states so.
[[nodiscard]] FieldNode field_tree(const Channel& channel, const Sample& sample, Decoder& decoder,
                                   const TreeLimits& limits = {});

}  // namespace hyphos::view
