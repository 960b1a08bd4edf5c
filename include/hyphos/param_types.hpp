#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "hyphos/export.hpp"
#include "hyphos/result.hpp"

/// The parts of a parameter as plans, nodes, tools and the wire use them: values, descriptions and
/// whole sets. Plain data. Any number of threads may read one object.
namespace hyphos {

/// A value of type `bytes`.
using ParamBytes = std::vector<std::byte>;

/// Any value of a parameter, in the order of ParamType.
using ParamVariant =
    std::variant<bool, std::int64_t, double, std::string, ParamBytes, std::vector<bool>,
                 std::vector<std::int64_t>, std::vector<double>, std::vector<std::string>>;

/// The type of a parameter. It never changes after the declaration.
enum class ParamType : std::uint8_t {
  boolean,
  integer,   ///< 64 bits, signed
  real,      ///< double precision, never NaN
  text,      ///< UTF-8 without control characters except tab and line ends
  bytes,     ///< in YAML and on the command line: two hexadecimal digits per byte
  booleans,  ///< lists: at most kMaxParamItems
  integers,
  reals,
  texts,
};

// Each change publishes all values of its node, so its cost grows with their size.
inline constexpr std::size_t kMaxParams = 1000;            ///< of one node
inline constexpr std::size_t kMaxParamBytes = 1 << 16;     ///< of one value
inline constexpr std::size_t kMaxParamItems = 4096;        ///< of one list
inline constexpr std::size_t kMaxParamSetBytes = 1 << 20;  ///< values and descriptions of one node

[[nodiscard]] inline ParamType type_of(const ParamVariant& value) {
  return static_cast<ParamType>(value.index());
}
/// "boolean", "list of integer".
[[nodiscard]] HYPHOS_EXPORT std::string_view to_string(ParamType type);
/// Writes the value in one line of YAML that reads back with the same type: `0.5`, `"odom"`, `[1,
/// 2]`.
[[nodiscard]] HYPHOS_EXPORT std::string to_yaml(const ParamVariant& value);
/// Reads YAML as a value of `type`. An integer is also valid as a real. Text needs no quotes.
[[nodiscard]] HYPHOS_EXPORT Result<ParamVariant> parse_param(ParamType type, std::string_view text);

/// The source of the present value.
enum class ParamOrigin : std::uint8_t {
  standard,  ///< the default in the node's code
  plan,      ///< `nodes.<name>.params`, with its includes and `--set`
  restored,  ///< set before the node was restarted
  set,       ///< set at run time
};
/// "default", "plan", "restored", "set".
[[nodiscard]] HYPHOS_EXPORT std::string_view to_string(ParamOrigin origin);

/// A place in a file, or a `--set` option.
struct SourceLine {
  std::string file;
  int line = 0;    ///< from 1, or 0 if given by an option or by default
  int column = 0;  ///< from 1, in bytes

  /// "robot.yaml:12:5", or only the file if there is no line.
  [[nodiscard]] HYPHOS_EXPORT std::string to_string() const;
};

struct ParamEntry;

/// A value as written in YAML, under `nodes.<name>.params` or in the tree that all nodes share: a
/// scalar, a list or a map.
struct HYPHOS_EXPORT ParamValue {
  enum class Kind : std::uint8_t { null, scalar, list, map };

  Kind kind = Kind::null;
  bool quoted = false;  ///< a quoted scalar is always text
  std::string text;     ///< of a scalar
  std::vector<ParamValue> items;
  std::vector<ParamEntry> entries;  ///< of a map, in order
  SourceLine source;

  /// The value under a key, or under "a.b.c" inside nested maps. Null if there is none.
  [[nodiscard]] const ParamValue* find(std::string_view path) const;
  /// Conversions. Errors: invalid_config, with file and line, if the value has another type. An
  /// integer is also valid as a real, and every scalar as text.
  [[nodiscard]] Result<std::int64_t> as_integer() const;
  [[nodiscard]] Result<double> as_real() const;
  [[nodiscard]] Result<bool> as_boolean() const;
  [[nodiscard]] Result<std::string> as_text() const;
};

/// One key of a map under `params`.
struct ParamEntry {
  std::string key;
  ParamValue value;
};

// Limits of the tree that all nodes share. Each change of a value publishes all that were set.
inline constexpr std::size_t kMaxSharedParams = 4096;         ///< values of one tree
inline constexpr std::size_t kMaxSharedPath = 256;            ///< bytes of a path
inline constexpr std::size_t kMaxSharedValueBytes = 1 << 16;  ///< of one value as YAML
inline constexpr std::size_t kMaxSharedBytes = 1 << 20;       ///< of all paths and values as YAML

/// Writes a tree as YAML, in lines. It reads back as the same tree.
[[nodiscard]] HYPHOS_EXPORT std::string to_yaml(const ParamValue& tree);

/// From least to most, inclusive. For lists it applies to each item. With a step, valid values are
/// least plus a whole number of steps.
template <typename T>
struct ParamRange {
  T least = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                 : std::numeric_limits<T>::lowest();
  T most = std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                : std::numeric_limits<T>::max();
  T step = 0;  ///< 0: every value in the range

  [[nodiscard]] bool bounded() const { return *this != ParamRange{}; }
  bool operator==(const ParamRange&) const = default;
};

/// One parameter as visible to all processes: its present value and its declaration.
struct ParamInfo {
  std::string name;  ///< words of letters, digits, '_' and '-', joined by '.', at most 128 bytes
  ParamVariant value;
  ParamVariant standard;  ///< the default, of the same type as `value`
  std::string unit;       ///< e.g. "m/s", empty for none
  std::string description;
  std::variant<std::monostate, ParamRange<std::int64_t>, ParamRange<double>> range;
  std::vector<std::string> choices;  ///< for text: the valid values, empty if any is valid
  bool read_only = false;            ///< cannot change once the node has declared it
  ParamOrigin origin = ParamOrigin::standard;

  [[nodiscard]] ParamType type() const { return type_of(value); }
  /// "0 to 2", "0 to 10 in steps of 0.5", "slow, fast", or "".
  [[nodiscard]] HYPHOS_EXPORT std::string allowed() const;
  bool operator==(const ParamInfo&) const = default;
};

/// A new value for one parameter.
struct ParamAssignment {
  std::string name;
  ParamVariant value;
};

namespace detail {

/// How a C++ type is stored. Stored is an alternative of ParamVariant, Item the type that ranges
/// apply to.
template <typename T>
struct ParamTraits;

template <typename S>
struct DirectParam {
  using Stored = S;
  static ParamVariant store(const S& value) { return value; }
  static S load(const S& value) { return value; }
};
template <>
struct ParamTraits<bool> : DirectParam<bool> {};
template <>
struct ParamTraits<std::string> : DirectParam<std::string> {};
template <>
struct ParamTraits<ParamBytes> : DirectParam<ParamBytes> {};
template <>
struct ParamTraits<std::vector<bool>> : DirectParam<std::vector<bool>> {};
template <>
struct ParamTraits<std::vector<std::int64_t>> : DirectParam<std::vector<std::int64_t>> {};
template <>
struct ParamTraits<std::vector<double>> : DirectParam<std::vector<double>> {};
template <>
struct ParamTraits<std::vector<std::string>> : DirectParam<std::vector<std::string>> {};
// Other widths of numbers are stored in the wide type, and declare() narrows the range.
template <typename T>
  requires(std::is_arithmetic_v<T>)
struct ParamTraits<T> {
  using Stored = std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>;
  static_assert(sizeof(T) <= sizeof(Stored) && !std::is_same_v<T, std::uint64_t>,
                "a parameter's number must fit in an int64 or a double");
  static ParamVariant store(T value) { return static_cast<Stored>(value); }
  static T load(Stored value) { return static_cast<T>(value); }
};

template <typename T>
concept ParamScalar = std::is_arithmetic_v<T>;
template <typename T>
concept ParamEnum = std::is_enum_v<T>;

}  // namespace detail

/// All parameters of one node at one instant: an immutable snapshot, cheap to copy.
class HYPHOS_EXPORT ParamSet {
 public:
  using Infos = std::vector<std::shared_ptr<const ParamInfo>>;

  ParamSet() = default;
  /// `infos` must be sorted by name.
  ParamSet(Infos infos, std::uint64_t version, std::vector<std::string> changed)
      : infos_(std::make_shared<const Infos>(std::move(infos))),
        version_(version),
        changed_(std::move(changed)) {}

  [[nodiscard]] const Infos& infos() const { return *infos_; }
  [[nodiscard]] std::size_t size() const { return infos_->size(); }
  /// Null if there is no such parameter. Cost: a binary search.
  [[nodiscard]] const ParamInfo* find(std::string_view name) const;
  /// The value. Throws not_found or type_mismatch with the existing names or type.
  template <typename T>
  [[nodiscard]] T get(std::string_view name) const {
    using Traits = detail::ParamTraits<T>;
    const ParamInfo* info = find(name);
    const auto* stored =
        info == nullptr ? nullptr : std::get_if<typename Traits::Stored>(&info->value);
    if (stored == nullptr) refuse(name, info);
    return Traits::load(*stored);
  }
  /// Grows with every change by the node.
  [[nodiscard]] std::uint64_t version() const { return version_; }
  /// Sorted names. In a check: the parameters about to change. In a watch: the parameters changed
  /// since the watch's last call.
  [[nodiscard]] const std::vector<std::string>& changed() const { return changed_; }
  [[nodiscard]] bool changed(std::string_view name) const;
  /// The same values with another list of changed names.
  [[nodiscard]] ParamSet with_changed(std::vector<std::string> changed) const;
  /// "; did you mean 'x'?", or "; parameters are: a, b".
  [[nodiscard]] std::string suggestion(std::string_view name) const;

 private:
  [[noreturn]] void refuse(std::string_view name, const ParamInfo* there) const;

  std::shared_ptr<const Infos> infos_ = std::make_shared<const Infos>();
  std::uint64_t version_ = 0;
  std::vector<std::string> changed_;
};

}  // namespace hyphos
