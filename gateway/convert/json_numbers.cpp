#include "gateway/convert/json_numbers.hpp"

#include <cstddef>

namespace hyphos::gateway {
namespace {

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

bool is_large(std::string_view digits, bool negative) {
  const std::string_view most = negative ? "9223372036854775808" : "18446744073709551615";
  return digits.size() != most.size() ? digits.size() > most.size() : digits > most;
}

/// Behind the string that begins at `at`.
std::size_t end_of_string(std::string_view json, std::size_t at) {
  for (++at; at < json.size() && json[at] != '"'; ++at) {
    if (json[at] == '\\') ++at;
  }
  return at + 1;
}

}  // namespace

std::optional<std::string> with_large_numbers(std::string_view json) {
  std::string out;
  std::size_t copied = 0;
  for (std::size_t at = 0; at < json.size();) {
    if (json[at] == '"') {
      at = end_of_string(json, at);
      continue;
    }
    if (!is_digit(json[at])) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    while (at < json.size() && is_digit(json[at])) ++at;
    const bool negative = begin > 0 && json[begin - 1] == '-';
    const bool whole = at == json.size() || std::string_view(".eE").find(json[at]) == json.npos;
    if (whole && is_large(json.substr(begin, at - begin), negative)) {
      out.append(json, copied, at - copied).append(".0");
      copied = at;
    }
    while (at < json.size() && std::string_view("0123456789.eE+-").find(json[at]) != json.npos)
      ++at;
  }
  if (copied == 0) return std::nullopt;
  return out.append(json, copied);
}

}  // namespace hyphos::gateway
