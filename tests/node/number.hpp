#pragma once

#include <cstdint>
#include <string_view>

struct Number {
  static constexpr std::string_view hyphos_type = "test.Number";
  std::int64_t value = 0;
};

struct Words {
  static constexpr std::string_view hyphos_type = "test.Words";
  char text[64] = {};
};
