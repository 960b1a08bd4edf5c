#include "cosim/adapter/settings.hpp"

#include <array>
#include <cmath>

namespace hyphos::cosim {
namespace {

constexpr std::string_view kBlanks = " \t\r";

Error bad(const Setting& setting, std::string what) {
  return {Code::invalid_config, std::move(what), std::string(setting.key)};
}

}  // namespace

std::vector<Setting> read_settings(std::string_view text) {
  std::vector<Setting> settings;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\n;"), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    Setting setting;
    for (;;) {
      line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
      if (line.empty()) break;
      const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
      line.remove_prefix(word.size());
      if (setting.key.empty()) {
        setting.key = word;
      } else {
        setting.values.push_back(word);
      }
    }
    if (!setting.key.empty()) settings.push_back(std::move(setting));
  }
  return settings;
}

Result<std::vector<double>> numbers(const Setting& setting, std::size_t count) {
  if (setting.values.size() != count) {
    return bad(setting, std::to_string(setting.values.size()) + " values, but the option takes " +
                            std::to_string(count));
  }
  std::vector<double> read;
  for (const std::string_view value : setting.values) {
    double parsed = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), parsed);
    if (error != std::errc{} || end != value.data() + value.size() || !std::isfinite(parsed)) {
      return bad(setting, "'" + std::string(value) + "' is not a finite number");
    }
    read.push_back(parsed);
  }
  return read;
}

Result<double> number(const Setting& setting, double least, double most, bool whole) {
  auto read = numbers(setting, 1);
  if (!read) return read.error();
  const double value = read->front();
  if (value < least || value > most || (whole && value != std::floor(value))) {
    return bad(setting, std::string(setting.values.front()) + " is not " +
                            (whole ? "a whole number " : "") + "from " + std::to_string(least) +
                            " to " + std::to_string(most));
  }
  return value;
}

Result<Box> box(const Setting& setting) {
  auto read = numbers(setting, 7);
  if (!read) return read.error();
  const std::vector<double>& v = *read;
  if (v[0] > v[3] || v[1] > v[4] || v[2] > v[5]) {
    return bad(setting, "the low corner must come first: x y z (low) x y z (high) dB");
  }
  return Box{{v[0], v[1], v[2]}, {v[3], v[4], v[5]}, v[6]};
}

Error unknown(const Setting& setting) { return bad(setting, "unknown option"); }

void write_setting(std::string& text, std::string_view key, std::span<const double> values) {
  text += key;
  for (const double value : values) {
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    text += ' ';
    text.append(digits.data(), end);
  }
  text += '\n';
}

void write_box(std::string& text, const Box& box) {
  const std::array values{box.low.x,  box.low.y,  box.low.z,  box.high.x,
                          box.high.y, box.high.z, box.loss_db};
  write_setting(text, "box", values);
}

}  // namespace hyphos::cosim
