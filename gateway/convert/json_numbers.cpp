#include "gateway/convert/json_numbers.hpp"

#include <algorithm>
#include <cstddef>

#include "gateway/convert/long_texts.hpp"

namespace hyphos::gateway {
namespace {

/// True if `number` is an integer of more than 64 bits.
bool is_large(std::string_view number) {
  if (number.find_first_of(".eE") != number.npos) return false;
  const bool negative = number.starts_with('-');
  const std::string_view most = negative ? "9223372036854775808" : "18446744073709551615";
  const std::string_view digits = number.substr(negative ? 1 : 0);
  return digits.size() != most.size() ? digits.size() > most.size() : digits > most;
}

}  // namespace

std::optional<std::string> with_large_numbers(std::string_view json) {
  std::string out;
  std::size_t copied = 0;
  std::size_t at = 0;
  while ((at = json.find_first_of("\"-0123456789", at)) != json.npos) {
    if (json[at] == '"') {
      at = end_of_string(json, at);
      continue;
    }
    const std::size_t end = std::min(json.find_first_not_of("+-.0123456789eE", at), json.size());
    if (is_large(json.substr(at, end - at))) {
      out.append(json, copied, end - copied).append(".0");
      copied = end;
    }
    at = end;
  }
  if (copied == 0) return std::nullopt;
  return out.append(json, copied);
}

}  // namespace hyphos::gateway
