#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hyphos/result.hpp"

/// Names in the ROS 1 graph, and the addresses of its nodes.
namespace hyphos::gateway::ros1 {

/// True for names such as "/camera/image": a slash, then letters, digits, '_' and '/'. Each part
/// begins with a letter or '_'.
[[nodiscard]] bool is_global_name(std::string_view name);

/// The namespace of a name, with a trailing slash: "/a/" for "/a/b", "/" for "/a".
[[nodiscard]] std::string_view namespace_of(std::string_view name);

/// Resolves `name` as seen by the node `node`: "/x" is absolute, "~x" is below the node, "x" is
/// beside it. Repeated slashes are merged, and a trailing slash is removed.
[[nodiscard]] std::string resolve_name(std::string_view name, std::string_view node);

/// "http://host:11311/" or "rosrpc://host:40123".
struct Uri {
  std::string scheme;
  std::string host;
  std::uint16_t port = 0;

  /// Errors: corrupt, with the missing part.
  static Result<Uri> parse(std::string_view text);
};

/// An IPv6 address is put in brackets.
[[nodiscard]] std::string make_uri(std::string_view scheme, std::string_view host,
                                   std::uint16_t port);

/// True if only this machine can reach the host.
[[nodiscard]] bool is_loopback(std::string_view host);

}  // namespace hyphos::gateway::ros1
