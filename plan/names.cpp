#include "plan/names.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

#include "base/config.hpp"
#include "base/utf8.hpp"
#include "hyphos/plan.hpp"
#include "wire/packet.hpp"

namespace hyphos {
namespace {

constexpr std::size_t kMaxName = 48;
constexpr std::size_t kMaxChannel = 128;

// Not <cctype>, so that a plan means the same in every locale.
constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_word_char(char c) { return is_letter(c) || is_digit(c); }

bool is_word(std::string_view text) {
  return !text.empty() && is_letter(text[0]) && std::all_of(text.begin(), text.end(), is_word_char);
}

/// Words joined by `separator`.
bool is_path_of_words(std::string_view text, char separator) {
  while (true) {
    const std::size_t end = text.find(separator);
    if (!is_word(text.substr(0, end))) return false;
    if (end == std::string_view::npos) return true;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::string channel_name_problem(std::string_view name) {
  if (name.empty()) return "a channel needs a name";
  if (name.size() > kMaxChannel) return "a channel's name has at most 128 bytes";
  if (name.front() == '/') {
    return "a channel's name does not begin with '/', remove the '/'";
  }
  if (!is_path_of_words(name, '/')) {
    return "a channel's name is words of letters, digits and '_', not starting with a digit, "
           "joined "
           "by '/', as in front/scan";
  }
  if (name.substr(0, name.find('/')) == "hyphos") return "channels named hyphos are reserved";
  return {};
}

std::string call_name_problem(std::string_view name) {
  constexpr std::size_t kMaxCall = 96;  // the names of the call's channels are longer
  std::string problem = channel_name_problem(name);
  for (std::size_t at = 0; (at = problem.find("channel", at)) != std::string::npos;) {
    problem.replace(at, 7, "service");
  }
  if (problem.empty() && name.size() > kMaxCall) return "a service's name has at most 96 bytes";
  return problem;
}

std::string call_channel_base(std::string_view service, bool action) {
  return (action ? "hyphos/action/" : "hyphos/service/") + std::string(service);
}

Policy call_policy() {
  // Clients limit the calls in flight, so the queues do not fill. If one does, the sender gets an
  // error.
  Policy policy;
  policy.reliability = Reliability::reliable;
  policy.overflow = Overflow::drop_newest;
  policy.depth = 256;
  return policy;
}

std::string name_problem(std::string_view name) {
  if (name.empty()) return "a name must not be empty";
  if (name.size() > kMaxName) return "a name has at most 48 bytes";
  // The name of a replica ends in its index: "worker.0".
  if (const std::size_t dot = name.rfind('.'); dot != std::string_view::npos) {
    const std::string_view index = name.substr(dot + 1);
    if (!index.empty() && std::all_of(index.begin(), index.end(), is_digit)) {
      name = name.substr(0, dot);
    }
  }
  if (name.empty()) return "a name must not be empty";
  const auto fits = [](char c) { return is_word_char(c) || c == '-'; };
  if (!is_letter(name[0]) || !std::all_of(name.begin(), name.end(), fits)) {
    return "a name is letters, digits, '_' and '-', starting with a letter";
  }
  if (name == "hyphos") return "the name hyphos is reserved";
  return {};
}

namespace plan {

std::string Endpoint::to_string() const {
  if (ipc) return "ipc://" + host;
  const bool v6 = host.find(':') != std::string::npos;
  return "tcp://" + (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::optional<Endpoint> parse_endpoint(std::string_view text, std::string& why) {
  constexpr std::size_t kMaxIpcPath = 107;  // sockaddr_un::sun_path including its NUL
  Endpoint endpoint;
  if (text.starts_with("ipc://")) {
    endpoint.ipc = true;
    endpoint.host = text.substr(6);
    if (!endpoint.host.empty() && endpoint.host != "@" && endpoint.host.size() <= kMaxIpcPath) {
      return endpoint;
    }
    why = "ipc:// needs a path of 1 to 107 bytes";
    return std::nullopt;
  }
  if (text.starts_with("tcp://")) {
    text.remove_prefix(6);
  } else if (text.find("://") != std::string_view::npos) {
    why = "only tcp:// and ipc:// are supported";
    return std::nullopt;
  }
  const std::size_t colon = text.rfind(':');
  why = "expected tcp://ADDRESS:PORT, as in tcp://*:5553";
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), endpoint.port);
  if (error != std::errc() || end != port.data() + port.size() || endpoint.port < 1 ||
      endpoint.port > 65535) {
    why = "the port must be a number from 1 to 65535, as in tcp://*:5553";
    return std::nullopt;
  }
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
    if (!is_ipv6(host)) return std::nullopt;
  } else if (host != "*" && !address_problem(host).empty()) {
    why += ", where " + address_problem(host);
    return std::nullopt;
  } else if (is_ipv6(host)) {
    why = "an IPv6 address needs brackets, as in tcp://[::1]:5553";
    return std::nullopt;
  }
  endpoint.host = host;
  why.clear();
  return endpoint;
}

bool collide(const Endpoint& a, const Endpoint& b) {
  if (a.ipc != b.ipc) return false;
  if (a.ipc) return a.host == b.host;
  return a.port == b.port && (a.host == b.host || a.wildcard() || b.wildcard());
}

bool is_ipv4(std::string_view text) {
  in_addr address{};
  return text.size() < INET_ADDRSTRLEN &&
         inet_pton(AF_INET, std::string(text).c_str(), &address) == 1;
}

bool is_ipv6(std::string_view text) {
  in6_addr address{};
  return text.size() < INET6_ADDRSTRLEN &&
         inet_pton(AF_INET6, std::string(text).c_str(), &address) == 1;
}

bool is_loopback(std::string_view address) {
  return address == "localhost" || address == "::1" ||
         (is_ipv4(address) && address.starts_with("127."));
}

bool is_multicast_ipv4(std::string_view text) {
  in_addr address{};
  return is_ipv4(text) && inet_pton(AF_INET, std::string(text).c_str(), &address) == 1 &&
         (ntohl(address.s_addr) >> 28) == 0xe;
}

std::string address_problem(std::string_view text) {
  if (is_ipv4(text) || is_ipv6(text)) return {};
  const auto fits = [](char c) { return is_word_char(c) || c == '-' || c == '.'; };
  const bool name_like = !text.empty() && text.size() <= 253 && text.front() != '-' &&
                         text.front() != '.' && std::all_of(text.begin(), text.end(), fits);
  const auto dot_or_digit = [](char c) { return is_digit(c) || c == '.'; };
  if (name_like && !std::all_of(text.begin(), text.end(), dot_or_digit)) return {};
  return "an address is IPv4 (10.0.0.1), IPv6 (fd00::1) or a host name";
}

std::string domain_problem(std::string_view text) {
  const auto fits = [](char c) { return is_word_char(c) || c == '-'; };
  if (!text.empty() && text.size() <= 32 && std::all_of(text.begin(), text.end(), fits)) return {};
  return "a domain is 1 to 32 letters, digits, '_' and '-'";
}

std::string type_problem(std::string_view text) {
  const auto fits = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
  if (!text.empty() && text.size() <= 256 && is_letter(text[0]) &&
      std::all_of(text.begin(), text.end(), fits)) {
    return {};
  }
  return "a type is a name as in hyphos.msgs.LaserScan or robot::Wheel, at most 256 bytes";
}

const std::vector<std::string_view>& standard_types() {
  static const std::vector<std::string_view> names = {
#include "plan/standard_types.inc"
  };
  return names;
}

bool is_unknown_standard_type(std::string_view text) {
  constexpr std::string_view kPackage = "hyphos.msgs.";
  if (!text.starts_with(kPackage)) return false;
  const std::string_view top = text.substr(0, text.find('.', kPackage.size()));
  const auto& known = standard_types();
  return std::find(known.begin(), known.end(), top) == known.end();
}

std::string env_name_problem(std::string_view text) {
  if (is_word(text)) return {};
  return "an environment variable's name is letters, digits and '_'";
}

std::string python_problem(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view module = text.substr(0, colon);
  const bool file =
      module.ends_with(".py") && module.size() > 3 && file_name_problem(module).empty();
  const bool named = colon == std::string_view::npos || is_word(text.substr(colon + 1));
  if (named && (file || is_path_of_words(module, '.'))) return {};
  return "expected a module, as in patrol.mapper, or module:Class, or file.py:Class";
}

std::string file_name_problem(std::string_view text) {
  if (text.empty()) return "a file name must not be empty";
  if (text.size() > 4096 || find_bad_utf8(text) != std::string_view::npos ||
      text.find_first_of("\n\r\t") != std::string_view::npos) {
    return "a file name is at most 4096 bytes of UTF-8 without control characters";
  }
  return {};
}

std::string group_service(std::string_view process) {
  std::array<char, 32> name{};
  std::snprintf(name.data(), name.size(), "_group/n%016llx",
                static_cast<unsigned long long>(wire::fnv1a(process)));
  return name.data();
}

}  // namespace plan
}  // namespace hyphos
