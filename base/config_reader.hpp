#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/config.hpp"

/// Typed access to one map of a configuration file. Every mistake becomes a Problem that names its
/// key.
namespace hyphos::config {

/// A text and its place, for later checks.
struct Word {
  std::string text;
  Source source;
};

/// " (did you mean 'x'?)", or " (nodes are: a, b)" if nothing is near.
[[nodiscard]] std::string suggestion(const Problems& problems, std::string_view word,
                                     std::string_view what,
                                     const std::vector<std::string_view>& candidates);
/// "nothing", "a list", "a map", or "'text'", shortened.
[[nodiscard]] std::string describe(const Value& value);
/// The result of parse_real(). `too_large`: it is a number, but no double is near.
enum class RealText { number, too_large, other };
/// Reads a decimal number, or an infinity as ".inf", "inf" or "Infinity". Underflow is 0. Writes
/// `out` for a number only.
[[nodiscard]] RealText parse_real(std::string_view text, double& out);
/// Reads a plain scalar. Returns false and leaves `out` unchanged if it has another type.
[[nodiscard]] bool read_integer(const Value& value, std::int64_t& out);
[[nodiscard]] bool read_real(const Value& value, double& out);
[[nodiscard]] bool read_boolean(const Value& value, bool& out);

class Section {
 public:
  /// `value` may be null (the section is absent) or a YAML null (present but empty). The
  /// constructor reports unknown keys.
  Section(const Value* value, std::string path, Problems& problems,
          std::initializer_list<std::string_view> keys);

  [[nodiscard]] const Value* find(std::string_view key) const;
  /// The place of the key's value, or of the section itself.
  [[nodiscard]] Source at(std::string_view key) const;
  [[nodiscard]] std::string path(std::string_view key) const;
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }
  void error(std::string_view key, const std::string& text) const;

  [[nodiscard]] std::string text(std::string_view key, std::string fallback) const;
  [[nodiscard]] std::int64_t integer(std::string_view key, std::int64_t fallback,
                                     std::int64_t least, std::int64_t most) const;
  /// The range includes `least`.
  [[nodiscard]] double real(std::string_view key, double fallback, double least, double most) const;
  [[nodiscard]] bool boolean(std::string_view key, bool fallback) const;
  /// A list of scalars. A single scalar counts as a list of one.
  [[nodiscard]] std::vector<Word> words(std::string_view key) const;

  template <typename E>
  using Choices = std::initializer_list<std::pair<std::string_view, E>>;

  template <typename E>
  [[nodiscard]] E choice(std::string_view key, E fallback, Choices<E> choices) const {
    std::vector<std::string_view> allowed;
    for (const auto& [word, value] : choices) allowed.push_back(word);
    const std::size_t index = choose(key, allowed);
    return index < allowed.size() ? (choices.begin() + index)->second : fallback;
  }
  /// The same for a list of words that is known at run time only.
  [[nodiscard]] std::string word_of(std::string_view key, std::string_view fallback,
                                    const std::vector<std::string_view>& allowed) const {
    const std::size_t index = choose(key, allowed);
    return std::string(index < allowed.size() ? allowed[index] : fallback);
  }

 private:
  /// Index of the key's word in `allowed`, or allowed.size() if the word is absent or wrong.
  [[nodiscard]] std::size_t choose(std::string_view key,
                                   const std::vector<std::string_view>& allowed) const;

  const Value* value_;  // a map, or null
  Source source_;
  std::string path_;
  Problems& problems_;
};

}  // namespace hyphos::config
