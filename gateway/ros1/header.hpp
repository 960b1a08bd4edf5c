#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hyphos/result.hpp"

/// The header that opens a TCPROS connection in each direction: fields "name=value" in any order.
namespace hyphos::gateway::ros1 {

/// Maximum size of a received header. Message definitions are its largest part. All definitions in
/// Debian are below 20 kB.
inline constexpr std::uint32_t kMaxHeader = 1U << 18U;

using Header = std::map<std::string, std::string, std::less<>>;

/// The value of the field, or an empty string if it is missing.
[[nodiscard]] std::string_view field(const Header& header, std::string_view name);
/// True for the values "1", "True" and "true".
[[nodiscard]] bool is_set(const Header& header, std::string_view name);

/// Parses the bytes after the length prefix. If a field occurs twice, the last one counts. Errors:
/// corrupt, with the reason.
Result<Header> parse_header(std::span<const std::byte> bytes);

/// The header with its length prefix, as it is sent.
std::vector<std::byte> write_header(const Header& header);

/// The four-byte length prefix of headers and messages.
[[nodiscard]] std::uint32_t read_length(std::span<const std::byte> bytes);
void write_length(std::span<std::byte> out, std::uint32_t length);

/// The reason why a subscriber or client with the header `theirs` must not use `type` with `md5`.
/// Empty if it may. An asterisk matches any.
[[nodiscard]] std::string mismatch(const Header& theirs, std::string_view type,
                                   std::string_view md5);

}  // namespace hyphos::gateway::ros1
