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

/// What opens a connection of TCPROS, each way: fields "name=value" in any order.
namespace hyphos::gateway::ros1 {

/// Of a header that comes in. Definitions of messages are the largest part of one; those of Debian
/// stay below 20 kB.
inline constexpr std::uint32_t kMaxHeader = 1U << 18U;

using Header = std::map<std::string, std::string, std::less<>>;

/// The field, or an empty text if there is none.
[[nodiscard]] std::string_view field(const Header& header, std::string_view name);
/// "1", "True" and "true" are.
[[nodiscard]] bool is_set(const Header& header, std::string_view name);

/// Of the bytes after the length in front. Of a field that comes twice the last one holds. Errors:
/// corrupt, which says what is wrong.
Result<Header> parse_header(std::span<const std::byte> bytes);

/// With the length in front, as it is sent.
std::vector<std::byte> write_header(const Header& header);

/// The four bytes in front of headers and messages.
[[nodiscard]] std::uint32_t read_length(std::span<const std::byte> bytes);
void write_length(std::span<std::byte> out, std::uint32_t length);

/// Why a subscriber or client that shows `theirs` must not have what is `type` and `md5`; empty if
/// it may. An asterisk is any.
[[nodiscard]] std::string mismatch(const Header& theirs, std::string_view type,
                                   std::string_view md5);

}  // namespace hyphos::gateway::ros1
