#pragma once

#include <cstdint>
#include <string_view>

/// Any trivially copyable struct is a message. Its name and its size form the type id.
struct Wheel {
  static constexpr std::string_view hyphos_type = "example.Wheel";
  std::uint32_t id = 0;
  double speed_m_s = 0;
};
