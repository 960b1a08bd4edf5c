#include "gateway/rosbridge/origin.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <string>

namespace hyphos::gateway::rosbridge {
namespace {

/// "127.0.0.1" from "127.0.0.1:9090", "::1" from "[::1]:9090".
std::string_view without_port(std::string_view authority) {
  if (authority.starts_with('[')) {
    const std::size_t end = authority.find(']');
    return end == std::string_view::npos ? std::string_view() : authority.substr(1, end - 1);
  }
  return authority.substr(0, authority.find(':'));
}

/// "localhost" from "http://localhost:8080". Empty if the origin has no host.
std::string_view host_of(std::string_view origin) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme)) return without_port(origin.substr(scheme.size()));
  }
  return {};
}

bool is_address(std::string_view host) {
  const std::string text(host);
  in6_addr bytes{};
  return ::inet_pton(AF_INET, text.c_str(), &bytes) == 1 ||
         ::inet_pton(AF_INET6, text.c_str(), &bytes) == 1;
}

bool is_this_machine(std::string_view host) {
  return host == "localhost" || host.ends_with(".localhost") || host == "::1" ||
         (host.starts_with("127.") && is_address(host));
}

}  // namespace

bool may_enter(std::string_view origin, std::string_view host, const Patterns& origins) {
  if (origin.empty() || origin == "file://") return true;
  const std::string_view page = host_of(origin);
  if (is_this_machine(page)) return true;
  if (!page.empty() && is_address(page) && page == without_port(host)) return true;
  return origins.match(origin);
}

}  // namespace hyphos::gateway::rosbridge
