#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hyphos/result.hpp"

/// Names of ROS 1's graph, and where its nodes are.
namespace hyphos::gateway::ros1 {

/// "/camera/image": a slash, then letters, digits, '_' and '/', each part beginning with a letter
/// or '_'.
[[nodiscard]] bool is_global_name(std::string_view name);

/// The namespace a name is in, with a slash at its end: "/a/" of "/a/b", "/" of "/a".
[[nodiscard]] std::string_view namespace_of(std::string_view name);

/// What `name` means to the node `node`: "/x" itself, "~x" below the node, "x" beside it. Slashes
/// in a row are one, and none is left at the end.
[[nodiscard]] std::string resolve_name(std::string_view name, std::string_view node);

/// "http://host:11311/" or "rosrpc://host:40123".
struct Uri {
  std::string scheme;
  std::string host;
  std::uint16_t port = 0;

  /// Errors: corrupt, which says what is missing.
  static Result<Uri> parse(std::string_view text);
};

/// With brackets around an IPv6 address.
[[nodiscard]] std::string make_uri(std::string_view scheme, std::string_view host,
                                   std::uint16_t port);

/// Only this machine finds it there.
[[nodiscard]] bool is_loopback(std::string_view host);

}  // namespace hyphos::gateway::ros1
