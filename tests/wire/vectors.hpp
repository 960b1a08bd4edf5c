#pragma once

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "hyphos/codec.hpp"

/// The golden vectors of all versions: tests/compat/VERSION/wire.json.
namespace hyphos::wire {

inline std::vector<std::byte> from_hex(const std::string& text) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoi(text.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

inline std::string to_hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte b : bytes) {
    text += "0123456789abcdef"[std::to_integer<unsigned>(b) >> 4];
    text += "0123456789abcdef"[std::to_integer<unsigned>(b) & 15];
  }
  return text;
}

inline std::string to_hex(const std::string& bytes) {
  return to_hex(std::as_bytes(std::span(bytes)));
}

inline std::uint64_t hex_number(const YAML::Node& node) {
  return std::stoull(node.as<std::string>(), nullptr, 16);
}

inline Encoding encoding_of(const std::string& name) {
  for (const Encoding encoding : {Encoding::structure, Encoding::bytes, Encoding::protobuf,
                                  Encoding::attached, Encoding::custom}) {
    if (to_string(encoding) == name) return encoding;
  }
  ADD_FAILURE() << "unknown encoding " << name;
  return Encoding::bytes;
}

class WireVectors : public ::testing::Test {
 protected:
  WireVectors() {
    for (const auto& entry : std::filesystem::directory_iterator(HYPHOS_COMPAT)) {
      const auto file = entry.path() / "wire.json";
      if (std::filesystem::exists(file)) versions_.push_back(YAML::LoadFile(file.string()));
    }
  }

  /// The vectors of one kind, of all versions. Fails if a version has none.
  [[nodiscard]] std::vector<YAML::Node> vectors(const char* kind) const {
    std::vector<YAML::Node> found;
    EXPECT_FALSE(versions_.empty());
    for (const YAML::Node& version : versions_) {
      EXPECT_GT(version[kind].size(), 0U) << kind;
      for (const YAML::Node& vector : version[kind]) found.push_back(vector);
    }
    return found;
  }

 private:
  std::vector<YAML::Node> versions_;
};

}  // namespace hyphos::wire
