#include "gateway/ros1/header.hpp"

#include <cstring>

namespace hyphos::gateway::ros1 {
namespace {

Error malformed_header(std::string message) {
  return {Code::corrupt, std::move(message), "TCPROS header"};
}

}  // namespace

std::string_view field(const Header& header, std::string_view name) {
  const auto found = header.find(name);
  return found == header.end() ? std::string_view() : std::string_view(found->second);
}

bool is_set(const Header& header, std::string_view name) {
  const std::string_view value = field(header, name);
  return value == "1" || value == "True" || value == "true";
}

std::uint32_t read_length(std::span<const std::byte> bytes) {
  std::uint32_t length = 0;
  for (std::size_t at = 0; at < 4; ++at) {
    length |= std::to_integer<std::uint32_t>(bytes[at]) << (8 * at);
  }
  return length;
}

void write_length(std::span<std::byte> out, std::uint32_t length) {
  for (std::size_t at = 0; at < 4; ++at) out[at] = static_cast<std::byte>(length >> (8 * at));
}

Result<Header> parse_header(std::span<const std::byte> bytes) {
  Header header;
  while (!bytes.empty()) {
    if (bytes.size() < 4)
      return malformed_header("the last field is shorter than its 4-byte length");
    const std::uint32_t length = read_length(bytes);
    bytes = bytes.subspan(4);
    if (length > bytes.size()) {
      return malformed_header("a field has " + std::to_string(length) +
                              " bytes, but the header has only " + std::to_string(bytes.size()));
    }
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), length);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return malformed_header("the field '" + std::string(text.substr(0, 40)) +
                              "' is not name=value");
    }
    header.insert_or_assign(std::string(text.substr(0, equals)),
                            std::string(text.substr(equals + 1)));
    bytes = bytes.subspan(length);
  }
  return header;
}

std::vector<std::byte> write_header(const Header& header) {
  std::size_t size = 4;
  for (const auto& [name, value] : header) size += 4 + name.size() + 1 + value.size();
  std::vector<std::byte> bytes(size);
  write_length(bytes, static_cast<std::uint32_t>(size - 4));
  std::size_t at = 4;
  const auto append = [&](std::string_view text) {
    std::memcpy(bytes.data() + at, text.data(), text.size());
    at += text.size();
  };
  for (const auto& [name, value] : header) {
    write_length(std::span(bytes).subspan(at),
                 static_cast<std::uint32_t>(name.size() + 1 + value.size()));
    at += 4;
    append(name);
    append("=");
    append(value);
  }
  return bytes;
}

std::string mismatch(const Header& theirs, std::string_view type, std::string_view md5) {
  const std::string_view their_md5 = field(theirs, "md5sum");
  if (their_md5.empty()) return "the header has no md5sum";
  const std::string_view their_type = field(theirs, "type");
  // As in roscpp, the md5sum decides: the name of a type may differ or be missing.
  if (their_md5 == "*" || md5 == "*" || their_md5 == md5) return {};
  return "the subscriber expects " + std::string(their_type.empty() ? "a type" : their_type) +
         " with md5sum " + std::string(their_md5) + ", but the gateway has " + std::string(type) +
         " with " + std::string(md5);
}

}  // namespace hyphos::gateway::ros1
