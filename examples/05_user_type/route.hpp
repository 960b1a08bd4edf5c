#pragma once

#include <cstring>

#include <hyphos/hyphos.hpp>

/// A type with its own encoding: the way points, one after another, as little-endian floats.
struct Route {
  static constexpr std::string_view hyphos_type = "example.Route";
  std::vector<float> points_m;

  std::size_t serialized_size() const { return points_m.size() * sizeof(float); }
  void serialize(std::span<std::byte> out) const {
    if (!out.empty()) std::memcpy(out.data(), points_m.data(), out.size());
  }
  /// Returns false if the bytes are no route. The message is then dropped and counted.
  static bool parse(std::span<const std::byte> in, Route& route) {
    if (in.size() % sizeof(float) != 0) return false;
    route.points_m.resize(in.size() / sizeof(float));
    if (!in.empty()) std::memcpy(route.points_m.data(), in.data(), in.size());
    return true;
  }
};
