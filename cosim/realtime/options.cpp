#include "cosim/realtime/options.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "base/config_reader.hpp"

namespace hyphos::cosim {
namespace {

using config::Section;

constexpr const char* kSubnet = "10.231.77.0/24";

Duration from_ms(double ms) { return {std::llround(ms * 1e6)}; }

constexpr const char* kSubnet6 = "fd48:5900:77::/64";
constexpr std::size_t kMostProbes = 64;
constexpr unsigned kLeastMtu6 = 1280;  // of IPv6 (RFC 8200)

/// Parses the number after the slash of a network.
bool parse_prefix(std::string_view text, unsigned& to) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view digits = text.substr(slash + 1);
  const char* last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, to);
  return error == std::errc{} && end == last;
}

/// Parses "10.231.77.0/24". Returns false if the text is invalid or has bits set beyond its prefix.
bool parse_subnet(std::string_view text, RealTimeOptions& to) {
  in_addr address{};
  const std::string host(text.substr(0, text.find('/')));
  if (::inet_pton(AF_INET, host.c_str(), &address) != 1) return false;
  if (!parse_prefix(text, to.prefix) || to.prefix < 8 || to.prefix > 30) return false;
  to.first_address = ntohl(address.s_addr);
  return (to.first_address & (~std::uint32_t{0} >> to.prefix)) == 0;
}

/// Parses "fd48:5900:77::/64", or "none". The last 32 bits must be free for the robots.
bool parse_subnet6(std::string_view text, RealTimeOptions& to) {
  to.prefix6 = 0;
  if (text == "none") return true;
  const std::string host(text.substr(0, text.find('/')));
  if (::inet_pton(AF_INET6, host.c_str(), to.first_address6.data()) != 1) return false;
  unsigned prefix = 0;
  if (!parse_prefix(text, prefix) || prefix < 16 || prefix > 96) return false;
  const bool special = to.first_address6[0] >= 0xfe || to.first_address6[0] == 0;
  for (unsigned bit = prefix; bit < 128; ++bit) {
    if ((to.first_address6[bit / 8] >> (7 - bit % 8) & 1) != 0) return false;
  }
  to.prefix6 = prefix;
  return !special;
}

/// Reads "[[husky1, husky4], [husky2, husky4]]".
void read_probes(const Section& section, const std::vector<std::string>& robots,
                 RealTimeOptions& to) {
  to.probe_interval = from_ms(section.real("probe_ms", to.probe_interval.ms(), 1, 60'000));
  const config::Value* const probes = section.find("probes");
  if (probes == nullptr) {
    if (section.has("probe_ms")) section.error("probe_ms", "only valid with `probes`");
    return;
  }
  const auto wrong = [&] {
    section.error("probes",
                  "expected at most 64 pairs of different robots, such as [[husky1, husky4]]");
  };
  const auto robot = [&](const config::Value& name) {
    const auto found = std::ranges::find(robots, name.text);
    return static_cast<std::size_t>(found - robots.begin());
  };
  using config::Value;
  if (!probes->is(Value::Kind::list) || probes->items.size() > kMostProbes) return wrong();
  for (const Value& pair : probes->items) {
    if (!pair.is(Value::Kind::list) || pair.items.size() != 2) return wrong();
    const std::pair made{robot(pair.items[0]), robot(pair.items[1])};
    if (std::max(made.first, made.second) >= robots.size() || made.first == made.second) {
      return wrong();
    }
    to.probes.push_back(made);
  }
}

}  // namespace

std::string RealTimeOptions::address(std::size_t robot) const {
  const std::uint32_t ip = first_address + 1 + static_cast<std::uint32_t>(robot);
  return std::to_string(ip >> 24) + '.' + std::to_string(ip >> 16 & 255) + '.' +
         std::to_string(ip >> 8 & 255) + '.' + std::to_string(ip & 255);
}

std::string RealTimeOptions::address6(std::size_t robot) const {
  if (prefix6 == 0) return {};
  auto bytes = first_address6;
  for (std::size_t i = 0; i < 4; ++i) {
    bytes[15 - i] = static_cast<std::uint8_t>((robot + 1) >> (8 * i));
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(AF_INET6, bytes.data(), text.data(), text.size());
  return text.data();
}

std::array<std::uint8_t, 6> RealTimeOptions::mac(std::size_t robot) {
  const std::size_t number = robot + 1;
  return {0x02,
          0x48,
          0x59,
          static_cast<std::uint8_t>(number >> 16),
          static_cast<std::uint8_t>(number >> 8),
          static_cast<std::uint8_t>(number)};
}

RealTimeOptions read_realtime(const Section& root, Duration step,
                              const std::vector<std::string>& robots, config::Problems& problems) {
  const Section section(root.find("realtime"), "realtime", problems,
                        {"lag_p99_ms", "lag_longest_ms", "subnet", "subnet6", "mtu", "spin_us",
                         "priority", "hold_senders", "probes", "probe_ms"});
  RealTimeOptions to;
  to.limits.p99 = from_ms(section.real("lag_p99_ms", step.ms(), 1e-3, 1e6));
  to.limits.longest = from_ms(section.real("lag_longest_ms", to.limits.longest.ms(), 1e-3, 1e6));
  to.spin = {std::llround(section.real("spin_us", to.spin.us(), 0, 1e4) * 1e3)};
  to.priority = static_cast<int>(section.integer("priority", to.priority, 0, 99));
  if (!parse_subnet(section.text("subnet", kSubnet), to)) {
    section.error("subnet", std::string("expected an IPv4 network with a prefix of 8 to 30 bits, "
                                        "such as ") +
                                kSubnet);
  } else if ((std::uint64_t{1} << (32 - to.prefix)) - 2 < robots.size()) {
    section.error("subnet", "the network has too few addresses for " +
                                std::to_string(robots.size()) + " robots");
  }
  if (!parse_subnet6(section.text("subnet6", kSubnet6), to)) {
    section.error("subnet6", std::string("expected an IPv6 network with a prefix of 16 to 96 bits, "
                                         "such as ") +
                                 kSubnet6 + ", or `none`");
  }
  to.mtu = static_cast<unsigned>(section.integer("mtu", to.mtu, 68, 1500));
  if (to.mtu < kLeastMtu6 && to.prefix6 != 0) {
    section.error("mtu", "IPv6 needs at least 1280 bytes: raise it, or set `subnet6: none`");
  }
  to.hold_senders = section.boolean("hold_senders", to.hold_senders);
  read_probes(section, robots, to);
  return to;
}

std::vector<std::string> read_command(const Section& robot) {
  std::vector<std::string> command;
  for (config::Word& word : robot.words("run")) command.push_back(std::move(word.text));
  if (command.size() == 1 && command.front().find(' ') != std::string::npos) {
    robot.error("run", "expected the words of a command as a list, such as [hyphos, run, x.yaml]");
  }
  return command;
}

}  // namespace hyphos::cosim
