#pragma once

#include <string_view>

struct DriveTo {
  static constexpr std::string_view hyphos_type = "example.DriveTo";
  double metres = 0;
};

struct Driven {
  static constexpr std::string_view hyphos_type = "example.Driven";
  double metres = 0;
};
