#include "netem/address.hpp"

#include <arpa/inet.h>

#include <charconv>

namespace hyphos::lab {

Result<Host> parse_host(std::string_view text) {
  const auto wrong = [&](const char* what) {
    return Error{Code::invalid_config, std::string(what) + ", such as robot=10.77.0.1/24",
                 "--host " + std::string(text)};
  };
  const std::size_t equals = text.find('=');
  const std::size_t slash = text.find('/', equals);
  if (equals == std::string_view::npos || equals == 0 || slash == std::string_view::npos) {
    return wrong("a host has the form NAMESPACE=ADDRESS/PREFIX");
  }
  Host host;
  host.name_space = text.substr(0, equals);
  if (host.name_space.find('/') != std::string::npos)
    return wrong("a namespace is a name without '/'");
  host.address = text.substr(equals + 1, slash - equals - 1);
  in_addr address{};
  if (inet_pton(AF_INET, host.address.c_str(), &address) != 1) {
    return wrong("the address is not an IPv4 address");
  }
  host.ip = ntohl(address.s_addr);
  const std::string_view digits = text.substr(slash + 1);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), host.prefix);
  if (error != std::errc{} || end != digits.data() + digits.size() || host.prefix < 1 ||
      host.prefix > 30) {
    return wrong("a prefix is a number from 1 to 30");
  }
  return host;
}

Book::Book(const std::vector<Host>& hosts) {
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    stations_.emplace(hosts[i].ip, static_cast<Station>(i));
    stations_.emplace(hosts[i].ip | ~hosts[i].netmask(), kEveryone);
  }
}

std::optional<Station> Book::find(std::span<const std::byte> bytes) const {
  constexpr std::size_t kHeader = 20;
  constexpr std::size_t kDestination = 16;
  if (bytes.size() < kHeader || std::to_integer<unsigned>(bytes[0] >> 4) != 4) return std::nullopt;
  std::uint32_t ip = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    ip = ip << 8 | std::to_integer<std::uint32_t>(bytes[kDestination + i]);
  }
  if (ip >> 28 == 0xe || ip == 0xffffffff) return kEveryone;
  const auto found = stations_.find(ip);
  return found == stations_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace hyphos::lab
