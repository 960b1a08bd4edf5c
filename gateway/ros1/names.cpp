#include "gateway/ros1/names.hpp"

#include <algorithm>
#include <charconv>

namespace hyphos::gateway::ros1 {
namespace {

bool is_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
}

}  // namespace

bool is_global_name(std::string_view name) {
  if (name.size() < 2 || name.size() > 1024 || name[0] != '/') return false;
  bool begins = false;
  for (const char letter : name) {
    if (letter == '/') {
      if (begins) return false;
      begins = true;
      continue;
    }
    const bool digit = letter >= '0' && letter <= '9';
    if (!is_letter(letter) && letter != '_' && (!digit || begins)) return false;
    begins = false;
  }
  return !begins;
}

std::string_view namespace_of(std::string_view name) {
  if (name.size() > 1 && name.back() == '/') name.remove_suffix(1);
  const std::size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? std::string_view("/") : name.substr(0, slash + 1);
}

std::string resolve_name(std::string_view name, std::string_view node) {
  std::string whole;
  if (name.starts_with('~')) {
    whole.append(node).append("/").append(name.substr(1));
  } else if (!name.starts_with('/')) {
    whole.append(namespace_of(node)).append(name);
  } else {
    whole = name;
  }
  std::string resolved;
  for (const char letter : whole) {
    if (letter != '/' || !resolved.ends_with('/')) resolved += letter;
  }
  if (resolved.size() > 1 && resolved.ends_with('/')) resolved.pop_back();
  return resolved.starts_with('/') ? resolved : "/" + resolved;
}

Result<Uri> Uri::parse(std::string_view text) {
  const auto wrong = [&](const char* what) {
    return Error{Code::corrupt,
                 std::string("the URI has no ") + what + ": '" + std::string(text.substr(0, 100)) +
                     "'. Write it as http://host:11311/",
                 ""};
  };
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos || colon == 0) return wrong("scheme");
  Uri uri{std::string(text.substr(0, colon)), "", 0};
  std::string_view rest = text.substr(colon + 3);
  rest = rest.substr(0, rest.find('/'));
  if (rest.starts_with('[')) {
    const std::size_t bracket = rest.find(']');
    if (bracket == std::string_view::npos) return wrong("host");
    uri.host = rest.substr(1, bracket - 1);
    rest.remove_prefix(bracket + 1);
  } else {
    uri.host = rest.substr(0, rest.find(':'));
    rest.remove_prefix(uri.host.size());
  }
  if (uri.host.empty()) return wrong("host");
  if (!rest.starts_with(':')) return wrong("port");
  rest.remove_prefix(1);
  const auto [end, problem] = std::from_chars(rest.data(), rest.data() + rest.size(), uri.port);
  if (problem != std::errc() || end != rest.data() + rest.size() || uri.port == 0) {
    return wrong("port");
  }
  return uri;
}

std::string make_uri(std::string_view scheme, std::string_view host, std::uint16_t port) {
  const bool bare_ipv6 = host.find(':') != std::string_view::npos && !host.starts_with('[');
  std::string uri(scheme);
  uri += "://";
  uri += bare_ipv6 ? "[" + std::string(host) + "]" : std::string(host);
  uri += ":" + std::to_string(port);
  if (scheme == "http") uri += "/";
  return uri;
}

bool is_loopback(std::string_view host) {
  return host == "localhost" || host.starts_with("127.") || host == "::1";
}

}  // namespace hyphos::gateway::ros1
