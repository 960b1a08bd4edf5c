#pragma once

#include <cstdint>
#include <string_view>

struct Sum {
  static constexpr std::string_view hyphos_type = "example.Sum";
  std::int64_t a = 0;
  std::int64_t b = 0;
};

struct Total {
  static constexpr std::string_view hyphos_type = "example.Total";
  std::int64_t value = 0;
};
