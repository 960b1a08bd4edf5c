#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hyphos/result.hpp"

/// Reads YAML such that every error can name file, line and column.
///
/// The tree is our own, because the YAML library keeps no duplicate keys and does not bound the
/// expansion of aliases. Pure functions apart from read_file(). Thread-safe.
namespace hyphos::config {

/// The place of a value. Lines and columns count from 1, columns in bytes.
struct Source {
  std::shared_ptr<const std::string> file;
  int line = 0;  ///< 0: not a place in a file, `file` then names the source, e.g. an option
  int column = 0;

  [[nodiscard]] std::string to_string() const;  ///< "robot.yaml:12:5"
};

struct Entry;

/// One value of a YAML document, aliases and merge keys already expanded.
struct Value {
  enum class Kind { null, scalar, list, map };

  Kind kind = Kind::null;
  bool plain = true;           ///< a scalar without quotes, may be a number or a boolean
  std::string text;            ///< of a scalar, as written, or the literal of a null, if any
  std::vector<Value> items;    ///< of a list
  std::vector<Entry> entries;  ///< of a map, in order, including repeated keys
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

/// Limits of a document. A document beyond them is refused, so a small file cannot expand without
/// bound.
struct Limits {
  std::size_t bytes = 1 << 20;           ///< of the text
  std::size_t depth = 32;                ///< nested lists and maps
  std::size_t values = 100'000;          ///< after expansion of aliases
  std::size_t expanded_bytes = 8 << 20;  ///< scalars and keys after expansion of aliases
};

/// Collects errors and warnings, so that a user sees all of them at once.
class Problems {
 public:
  void error(const Source& source, std::string text) { add(source, std::move(text), false); }
  void warn(const Source& source, std::string text) { add(source, std::move(text), true); }

  [[nodiscard]] bool failed() const { return errors_ > 0; }
  [[nodiscard]] std::size_t errors() const { return errors_; }
  /// True once further problems are only counted.
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

/// Parses one document. Errors go to `problems`, and the result is then the readable part. An empty
/// document is a null. `name` identifies the text in errors.
[[nodiscard]] Value parse_yaml(std::string_view text, const std::string& name, Problems& problems,
                               const Limits& limits = {});

/// Reports every key that is repeated within one map, in the whole tree.
void report_duplicates(const Value& value, Problems& problems);

/// The most similar candidate to `word`, or "" if none is similar.
[[nodiscard]] std::string_view nearest(std::string_view word,
                                       std::span<const std::string_view> candidates);

}  // namespace hyphos::config
