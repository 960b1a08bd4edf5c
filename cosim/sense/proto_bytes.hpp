#pragma once

#include <bit>
#include <cstddef>
#include <initializer_list>
#include <vector>

#include "wire/protobuf.hpp"

/// Messages of protobuf, written field by field.
namespace hyphos::cosim {

/// Writes a message of at most `most` bytes.
template <typename Write>
[[nodiscard]] std::vector<std::byte> proto_bytes(std::size_t most, Write write) {
  std::vector<std::byte> bytes(most);
  wire::ProtoWriter writer(bytes.data());
  write(writer);
  bytes.resize(static_cast<std::size_t>(writer.end() - bytes.data()));
  return bytes;
}

/// A message with the fields 1, 2 and so on of type double, such as a vector.
[[nodiscard]] inline std::vector<std::byte> proto_doubles(std::initializer_list<double> values) {
  return proto_bytes(values.size() * 9, [&](wire::ProtoWriter& writer) {
    std::uint32_t field = 1;
    for (const double value : values) writer.fixed(field++, std::bit_cast<std::uint64_t>(value));
  });
}

}  // namespace hyphos::cosim
