#include <algorithm>
#include <charconv>
#include <cmath>

#include "cosim/programs/recording.hpp"

namespace hyphos::cosim {
namespace {

constexpr std::size_t kMostBytes = 65'507;  // of a datagram
constexpr double kMostSeconds = 1e7;

bool parse_message(std::string_view line, Recorded& to) {
  const auto comma = line.find(',');
  if (comma == std::string_view::npos) return false;
  const std::string_view hex = line.substr(comma + 1);
  double after = 0;
  const auto end = line.data() + comma;
  const auto [at, error] = std::from_chars(line.data(), end, after);
  if (error != std::errc{} || at != end || !(after >= 0) || after > kMostSeconds) return false;
  to.after = Duration{std::llround(after * 1e9)};
  if (hex.size() % 2 != 0 || hex.size() / 2 + kHeaderBytes > kMostBytes) return false;
  to.bytes.reserve(hex.size() / 2);
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    std::uint8_t byte = 0;
    const char* two = hex.data() + i;
    const auto [read, wrong] = std::from_chars(two, two + 2, byte, 16);
    if (wrong != std::errc{} || read != two + 2) return false;
    to.bytes.push_back(static_cast<std::byte>(byte));
  }
  return true;
}

}  // namespace

Result<std::vector<Recorded>> parse_recording(std::string_view text, const std::string& name) {
  std::vector<Recorded> recorded;
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with('#')) continue;
    Recorded& message = recorded.emplace_back();
    if (!parse_message(line, message) ||
        (recorded.size() > 1 && message.after < recorded[recorded.size() - 2].after)) {
      return Error{
          Code::invalid_config,
          "expected SECONDS,HEXADECIMAL with at most 65,483 bytes, not before the previous "
          "message, but found '" +
              std::string(line.substr(0, 40)) + "'",
          name + ":" + std::to_string(number)};
    }
  }
  return recorded;
}

}  // namespace hyphos::cosim
