#pragma once

#include <charconv>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cosim/core/geometry.hpp"
#include "hyphos/result.hpp"

/// The options of the adapters that come with the co-simulator, as one text: settings of a key and
/// its values between blanks, each on a line of its own or before a ';'.
///
///     rate_mbit 6; box 0 0 0 1 10 3 20
namespace hyphos::cosim {

struct Setting {
  std::string_view key;
  std::vector<std::string_view> values;
};

/// Settings in their order. They point into `text`.
[[nodiscard]] std::vector<Setting> read_settings(std::string_view text);

/// The setting's values as numbers. Errors: invalid_config, if they are not `count` finite ones.
[[nodiscard]] Result<std::vector<double>> numbers(const Setting& setting, std::size_t count);
/// Its only value as a number in [least, most]; `whole` asks for an integer. Errors:
/// invalid_config.
[[nodiscard]] Result<double> number(const Setting& setting, double least, double most,
                                    bool whole = false);
/// "box x y z x y z loss_db": low and high corner. Errors: invalid_config.
[[nodiscard]] Result<Box> box(const Setting& setting);
[[nodiscard]] Error unknown(const Setting& setting);

/// Appends "key 1 2.5\n", with as many digits as bring the same numbers back.
void write_setting(std::string& text, std::string_view key, std::span<const double> values);
void write_box(std::string& text, const Box& box);

}  // namespace hyphos::cosim
