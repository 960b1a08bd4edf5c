#include "base/config_reader.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>

namespace hyphos::config {
namespace {

std::string join(const std::vector<std::string_view>& words) {
  constexpr std::size_t kMost = 24;
  std::string out;
  for (std::size_t i = 0; i < words.size() && i < kMost; ++i) {
    if (i > 0) out += ", ";
    out += words[i];
  }
  if (words.size() > kMost) out += ", and " + std::to_string(words.size() - kMost) + " more";
  return out;
}

}  // namespace

std::string suggestion(const Problems& problems, std::string_view word, std::string_view what,
                       const std::vector<std::string_view>& candidates) {
  if (problems.full()) return {};  // it would not be shown, and the search is expensive
  if (const std::string_view near = nearest(word, candidates); !near.empty()) {
    return " (did you mean '" + std::string(near) + "'?)";
  }
  if (candidates.empty()) return " (there are no " + std::string(what) + ")";
  return " (" + std::string(what) + " are: " + join(candidates) + ")";
}

std::string describe(const Value& value) {
  constexpr std::size_t kMost = 60;
  switch (value.kind) {
    case Value::Kind::null:
      return "nothing";
    case Value::Kind::list:
      return "a list";
    case Value::Kind::map:
      return "a map";
    case Value::Kind::scalar:
      break;
  }
  if (value.text.size() <= kMost) return "'" + value.text + "'";
  std::size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(value.text[end]) & 0xc0U) == 0x80U) --end;
  return "'" + value.text.substr(0, end) + "...'";
}

namespace {

bool read_hexadecimal(std::string_view digits, bool negative, std::int64_t& out) {
  constexpr int kBase = 16;
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  std::uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, kBase);
  if (error != std::errc() || end != digits.data() + digits.size()) return false;
  if (number > kMost + (negative ? 1 : 0)) return false;
  // Unsigned, because the minimum has no positive counterpart.
  out = static_cast<std::int64_t>(negative ? 0 - number : number);
  return true;
}

}  // namespace

bool read_integer(const Value& value, std::int64_t& out) {
  if (!value.is(Value::Kind::scalar) || !value.plain) return false;
  std::string_view text = value.text;
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text.starts_with("-") && value.text.starts_with('+')) return false;
  const bool negative = text.starts_with('-');
  const std::string_view digits = text.substr(negative ? 1 : 0);
  if (digits.starts_with("0x") || digits.starts_with("0X")) {
    return read_hexadecimal(digits.substr(2), negative, out);
  }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  out = number;
  return true;
}

RealText parse_real(std::string_view text, double& out) {
  const bool plus = text.starts_with('+');
  if (plus) text.remove_prefix(1);
  if (plus && text.starts_with('-')) return RealText::other;
  const bool negative = text.starts_with('-');
  for (const std::string_view word : {".inf", ".Inf", ".INF", "inf", "Inf", "INF", "Infinity"}) {
    if (text.substr(negative ? 1 : 0) != word) continue;
    out = negative ? -HUGE_VAL : HUGE_VAL;
    return RealText::number;
  }
  double real = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), real);
  if (error == std::errc() && end == text.data() + text.size() && std::isfinite(real)) {
    out = real;
    return RealText::number;
  }
  if (error != std::errc::result_out_of_range) return RealText::other;
  if (text.find("e-") == text.npos && text.find("E-") == text.npos) return RealText::too_large;
  out = 0;
  return RealText::number;
}

bool read_real(const Value& value, double& out) {
  return value.is(Value::Kind::scalar) && value.plain &&
         parse_real(value.text, out) == RealText::number;
}

bool read_boolean(const Value& value, bool& out) {
  if (!value.is(Value::Kind::scalar) || !value.plain) return false;
  for (const std::string_view yes :
       {"true", "yes", "on", "True", "Yes", "On", "TRUE", "YES", "ON"}) {
    if (value.text == yes) return out = true, true;
  }
  for (const std::string_view no :
       {"false", "no", "off", "False", "No", "Off", "FALSE", "NO", "OFF"}) {
    if (value.text == no) return out = false, true;
  }
  return false;
}

Section::Section(const Value* value, std::string path, Problems& problems,
                 std::initializer_list<std::string_view> keys)
    : value_(nullptr), path_(std::move(path)), problems_(problems) {
  if (value == nullptr) return;
  source_ = value->source;
  if (value->is(Value::Kind::null)) return;
  const std::vector<std::string_view> allowed(keys);
  if (!value->is(Value::Kind::map)) {
    problems.error(source_, (path_.empty() ? std::string("the file") : path_) +
                                ": expected a map with keys " + join(allowed) + ", found " +
                                describe(*value));
    return;
  }
  value_ = value;
  for (const Entry& entry : value->entries) {
    if (std::find(allowed.begin(), allowed.end(), entry.key) == allowed.end()) {
      problems.error(entry.source, this->path(entry.key) + ": unknown key" +
                                       suggestion(problems, entry.key, "keys here", allowed));
    }
  }
}

const Value* Section::find(std::string_view key) const {
  return value_ == nullptr ? nullptr : value_->find(key);
}

Source Section::at(std::string_view key) const {
  const Value* value = find(key);
  return value == nullptr ? source_ : value->source;
}

std::string Section::path(std::string_view key) const {
  return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
}

void Section::error(std::string_view key, const std::string& text) const {
  problems_.error(at(key), path(key) + ": " + text);
}

std::string Section::text(std::string_view key, std::string fallback) const {
  const Value* value = find(key);
  if (value == nullptr || value->is(Value::Kind::null)) return fallback;
  if (value->is(Value::Kind::scalar)) return value->text;
  error(key, "expected text, found " + describe(*value));
  return fallback;
}

std::int64_t Section::integer(std::string_view key, std::int64_t fallback, std::int64_t least,
                              std::int64_t most) const {
  const Value* value = find(key);
  if (value == nullptr || value->is(Value::Kind::null)) return fallback;
  std::int64_t number = 0;
  if (read_integer(*value, number) && number >= least && number <= most) return number;
  const bool quoted = value->is(Value::Kind::scalar) && !value->plain;
  error(key, "expected a whole number from " + std::to_string(least) + " to " +
                 std::to_string(most) + ", found " + describe(*value) +
                 (quoted ? ". Numbers must not be quoted" : ""));
  return fallback;
}

double Section::real(std::string_view key, double fallback, double least, double most) const {
  const Value* value = find(key);
  if (value == nullptr || value->is(Value::Kind::null)) return fallback;
  if (double found = 0; read_real(*value, found) && found >= least && found <= most) return found;
  std::array<char, 80> range{};
  std::snprintf(range.data(), range.size(), "expected a number from %g to %g, found ", least, most);
  error(key, range.data() + describe(*value));
  return fallback;
}

bool Section::boolean(std::string_view key, bool fallback) const {
  const Value* value = find(key);
  if (value == nullptr || value->is(Value::Kind::null)) return fallback;
  bool flag = fallback;
  if (!read_boolean(*value, flag)) error(key, "expected true or false, found " + describe(*value));
  return flag;
}

std::vector<Word> Section::words(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr || value->is(Value::Kind::null)) return {};
  if (value->is(Value::Kind::scalar)) return {{value->text, value->source}};
  if (!value->is(Value::Kind::list)) {
    error(key, "expected a list, found " + describe(*value));
    return {};
  }
  std::vector<Word> out;
  for (const Value& item : value->items) {
    if (item.is(Value::Kind::scalar)) {
      out.push_back({item.text, item.source});
    } else {
      problems_.error(item.source,
                      path(key) + ": expected a list of words, found " + describe(item) + " in it");
    }
  }
  return out;
}

std::size_t Section::choose(std::string_view key,
                            const std::vector<std::string_view>& allowed) const {
  const Value* value = find(key);
  if (value == nullptr || value->is(Value::Kind::null)) return allowed.size();
  if (value->is(Value::Kind::scalar)) {
    for (std::size_t i = 0; i < allowed.size(); ++i) {
      if (value->text == allowed[i]) return i;
    }
  }
  std::string near;
  if (value->is(Value::Kind::scalar)) near = nearest(value->text, allowed);
  error(key, "expected one of " + join(allowed) + ", found " + describe(*value) +
                 (near.empty() ? "" : " (did you mean '" + near + "'?)"));
  return allowed.size();
}

}  // namespace hyphos::config
