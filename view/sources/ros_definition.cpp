#include "view/sources/ros_definition.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <utility>

namespace hyphos::view::ros {
namespace {

constexpr std::size_t kMaxText = 4U << 20U;
constexpr std::size_t kMaxFields = 20'000;  // of all types together
constexpr int kMaxDepth = 32;
constexpr std::uint32_t kMaxFixed = 1U << 24U;  // elements of a fixed array

constexpr std::array<std::pair<std::string_view, Kind>, 16> kBase{{
    {"bool", Kind::boolean},
    {"int8", Kind::i8},
    {"uint8", Kind::u8},
    {"byte", Kind::u8},
    {"char", Kind::u8},
    {"int16", Kind::i16},
    {"uint16", Kind::u16},
    {"int32", Kind::i32},
    {"uint32", Kind::u32},
    {"int64", Kind::i64},
    {"uint64", Kind::u64},
    {"float32", Kind::f32},
    {"float64", Kind::f64},
    {"string", Kind::text},
    {"time", Kind::time},
    {"duration", Kind::time},
}};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view next_word(std::string_view& text) {
  text = trim(text);
  const auto end = std::find_if(text.begin(), text.end(), is_blank);
  const std::string_view word = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(word.size());
  return word;
}

std::string_view next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

bool is_separator(std::string_view line) {
  return line.size() >= 20 && line.find_first_not_of('=') == std::string_view::npos;
}

/// Reads "[]", "[3]" or "[<=3]" at the end of a type.
bool parse_array(std::string_view brackets, Field& field) {
  if (brackets.size() < 2 || brackets.back() != ']') return false;
  brackets = brackets.substr(1, brackets.size() - 2);
  field.many = Many::sequence;
  if (brackets.empty() || brackets.starts_with("<=")) return true;
  field.many = Many::fixed;
  const char* const end = brackets.data() + brackets.size();
  const auto read = std::from_chars(brackets.data(), end, field.count);
  return read.ec == std::errc() && read.ptr == end && field.count <= kMaxFixed;
}

/// The type of a field in a message of `package`.
bool parse_type(std::string_view word, std::string_view package, Field& field) {
  if (const std::size_t at = word.find('['); at != std::string_view::npos) {
    if (!parse_array(word.substr(at), field)) return false;
    word = word.substr(0, at);
  }
  word = word.substr(0, word.find("<="));  // the bound of a string
  for (const auto& [name, kind] : kBase) {
    if (word == name) {
      field.kind = kind;
      return true;
    }
  }
  if (word.empty() || word == "wstring") return false;
  field.type = short_name(word);
  if (field.type == "Header") {
    field.type = "std_msgs/Header";
  } else if (field.type.find('/') == std::string::npos) {
    field.type = std::string(package) + "/" + field.type;
  }
  if (field.type == "builtin_interfaces/Time" || field.type == "builtin_interfaces/Duration") {
    field.type.clear();
    field.kind = Kind::time;
  }
  return true;
}

Error wrong_line(std::string_view line, std::string_view type) {
  return {Code::corrupt,
          "this line of its definition cannot be read: '" + std::string(line.substr(0, 80)) + "'",
          std::string(type)};
}

Result<void> parse_line(std::string_view line, std::string_view package, std::string_view type,
                        Fields& fields) {
  const std::string_view whole = line;
  line = trim(line.substr(0, line.find('#')));
  if (line.empty()) return success();
  const std::string_view word = next_word(line);
  const std::string_view name = next_word(line);
  line = trim(line);
  if (name.find('=') != std::string_view::npos || line.starts_with('='))
    return success();  // constant
  Field field;
  field.name = name;
  if (word.starts_with("wstring")) {
    return Error{Code::unsupported, "wide strings (wstring) are not shown", std::string(type)};
  }
  if (name.empty() || !parse_type(word, package, field)) return wrong_line(trim(whole), type);
  fields.push_back(std::move(field));
  return success();
}

Result<void> check(const Definitions& all, const std::string& name, int depth,
                   std::set<std::string>& done) {
  if (depth > kMaxDepth) {
    return Error{Code::corrupt, "its definition contains itself, or is nested too deep", name};
  }
  if (done.contains(name)) return success();
  const auto found = all.find(name);
  if (found == all.end()) {
    return Error{Code::not_found, "its definition lacks a type that it contains", name};
  }
  for (const Field& field : found->second) {
    if (field.kind != Kind::message) continue;
    if (auto below = check(all, field.type, depth + 1, done); !below) return below;
  }
  done.insert(name);
  return success();
}

}  // namespace

std::string short_name(std::string_view name) {
  const std::size_t at = name.find("/msg/");
  if (at == std::string_view::npos) return std::string(name);
  return std::string(name.substr(0, at)) + std::string(name.substr(at + 4));
}

Result<Definitions> parse_definition(std::string_view name, std::string_view text) {
  Definitions all;
  std::string type = short_name(name);
  if (text.size() > kMaxText) return Error{Code::too_large, "its definition is too long", type};
  Fields* fields = &all[type];
  std::size_t count = 0;
  bool starts = false;
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    if (is_separator(trim(line))) {
      starts = true;
      continue;
    }
    if (starts && trim(line).empty()) continue;
    if (std::exchange(starts, false)) {
      std::string_view rest = trim(line);
      if (next_word(rest) != "MSG:") return wrong_line(line, type);
      type = short_name(trim(rest));
      fields = &all[type];
      fields->clear();
      continue;
    }
    const std::string_view package = std::string_view(type).substr(0, type.find('/'));
    if (auto read = parse_line(line, package, type, *fields); !read) return read.error();
    if (++count > kMaxFields) {
      return Error{Code::too_large, "its definition has too many lines", type};
    }
  }
  std::set<std::string> done;
  if (auto complete = check(all, short_name(name), 0, done); !complete) return complete.error();
  return all;
}

}  // namespace hyphos::view::ros
