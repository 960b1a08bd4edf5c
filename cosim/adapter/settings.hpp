#pragma once

#include <charconv>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cosim/core/geometry.hpp"
#include "hyphos/result.hpp"

/// Options of the built-in adapters, written as one text. A setting is a key and its values,
/// separated by blanks. A line break or a ';' ends a setting.
///
///     rate_mbit 6; box 0 0 0 1 10 3 20
namespace hyphos::cosim {

struct Setting {
  std::string_view key;
  std::vector<std::string_view> values;
};

/// Returns the settings in the order of the text. They point into `text`.
[[nodiscard]] std::vector<Setting> read_settings(std::string_view text);

/// The values of a setting as numbers. Errors: invalid_config, if the values are not `count` finite
/// numbers.
[[nodiscard]] Result<std::vector<double>> numbers(const Setting& setting, std::size_t count);
/// The only value of a setting, as a number in [least, most]. `whole` requires an integer. Errors:
/// invalid_config.
[[nodiscard]] Result<double> number(const Setting& setting, double least, double most,
                                    bool whole = false);
/// Reads "box x y z x y z loss_db": the low corner, the high corner and the loss. Errors:
/// invalid_config.
[[nodiscard]] Result<Box> box(const Setting& setting);
[[nodiscard]] Error unknown(const Setting& setting);

/// Appends "key 1 2.5\n". The digits suffice to read back the same numbers.
void write_setting(std::string& text, std::string_view key, std::span<const double> values);
void write_box(std::string& text, const Box& box);

}  // namespace hyphos::cosim
