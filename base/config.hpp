#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hyphos/result.hpp"

/// Reading YAML so that every complaint can name file, line and column.
///
/// The tree is our own: the YAML library keeps neither duplicate keys nor bounds on what an alias
/// expands to. Pure functions apart from read_file(); thread-safe.
namespace hyphos::config {

/// Where a value was written. Lines and columns count from 1, columns in bytes.
struct Source {
  std::shared_ptr<const std::string> file;
  int line = 0;  ///< 0: not a place in a file; `file` then says what it is, e.g. an option
  int column = 0;

  [[nodiscard]] std::string to_string() const;  ///< "robot.yaml:12:5"
};

struct Entry;

/// One value of a YAML document, aliases and merge keys already expanded.
struct Value {
  enum class Kind { null, scalar, list, map };

  Kind kind = Kind::null;
  bool plain = true;           ///< scalar without quotes: may be a number or a truth value
  std::string text;            ///< of a scalar, as written; of a null, its literal, if any
  std::vector<Value> items;    ///< of a list
  std::vector<Entry> entries;  ///< of a map, in order, repeated keys included
  Source source;

  [[nodiscard]] bool is(Kind k) const { return kind == k; }
  /// The value of the first entry with this key, or null.
  [[nodiscard]] const Value* find(std::string_view key) const;
  [[nodiscard]] Value* find(std::string_view key);
};

struct Entry {
  std::string key;
  Source source;  ///< of the key
  Value value;
};

/// What a document may cost. Beyond it the document is refused, so a small file cannot grow.
struct Limits {
  std::size_t bytes = 1 << 20;           ///< of the text
  std::size_t depth = 32;                ///< nested lists and maps
  std::size_t values = 100'000;          ///< after expansion of aliases
  std::size_t expanded_bytes = 8 << 20;  ///< scalars and keys after expansion of aliases
};

/// Collects complaints, so that a user sees all of them at once.
class Problems {
 public:
  void error(const Source& source, std::string text) { add(source, std::move(text), false); }
  void warn(const Source& source, std::string text) { add(source, std::move(text), true); }

  [[nodiscard]] bool failed() const { return errors_ > 0; }
  [[nodiscard]] std::size_t errors() const { return errors_; }
  /// So many that further ones are only counted.
  [[nodiscard]] bool full() const { return problems_.size() >= kMost; }
  /// All errors, in the order of the files and lines, one line each.
  [[nodiscard]] Error to_error() const;
  /// The same for the warnings.
  [[nodiscard]] std::vector<std::string> warnings() const;

 private:
  struct Problem {
    Source source;
    std::string text;
    bool warning;
    std::size_t file_order;
  };
  void add(const Source& source, std::string text, bool warning);
  [[nodiscard]] std::vector<const Problem*> sorted(bool warnings) const;

  static constexpr std::size_t kMost = 200;

  std::vector<Problem> problems_;
  std::vector<std::string> files_;
  std::size_t errors_ = 0;
};

/// Reads a whole file of at most `limits.bytes`. Errors: not_found, permission, io, invalid_config.
[[nodiscard]] Result<std::string> read_file(const std::string& path, const Limits& limits = {});

/// Parses one document. What is wrong goes to `problems`; the value is then what could be read.
/// An empty document is a null. `name` is what the complaints call the text.
[[nodiscard]] Value parse_yaml(std::string_view text, const std::string& name, Problems& problems,
                               const Limits& limits = {});

/// Complains about every key that stands twice in one map, the whole tree down.
void report_duplicates(const Value& value, Problems& problems);

/// The candidate that `word` was most likely meant to be, or "" if none is near.
[[nodiscard]] std::string_view nearest(std::string_view word,
                                       std::span<const std::string_view> candidates);

/// Length of the UTF-8 sequence at the front of `text`, which is not empty; 0 if it is none
/// (RFC 3629).
[[nodiscard]] std::size_t utf8_length(std::string_view text);

/// Offset of the first byte that is not UTF-8, or is a control character other than tab and line
/// ends; npos if all is well.
[[nodiscard]] std::size_t find_bad_utf8(std::string_view text);

}  // namespace hyphos::config
