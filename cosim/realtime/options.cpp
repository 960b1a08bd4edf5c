#include "cosim/realtime/options.hpp"

#include <arpa/inet.h>

#include <charconv>
#include <cmath>
#include <string_view>

#include "base/config_reader.hpp"

namespace hyphos::cosim {
namespace {

using config::Section;

constexpr const char* kSubnet = "10.231.77.0/24";

Duration from_ms(double ms) { return {std::llround(ms * 1e6)}; }

/// Parses "10.231.77.0/24". Returns false if the text is invalid or has bits set beyond its prefix.
bool parse_subnet(std::string_view text, RealTimeOptions& to) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  in_addr address{};
  if (::inet_pton(AF_INET, std::string(text.substr(0, slash)).c_str(), &address) != 1) return false;
  const std::string_view digits = text.substr(slash + 1);
  const char* last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, to.prefix);
  if (error != std::errc{} || end != last || to.prefix < 8 || to.prefix > 30) return false;
  to.first_address = ntohl(address.s_addr);
  return (to.first_address & (~std::uint32_t{0} >> to.prefix)) == 0;
}

}  // namespace

std::string RealTimeOptions::address(std::size_t robot) const {
  const std::uint32_t ip = first_address + 1 + static_cast<std::uint32_t>(robot);
  return std::to_string(ip >> 24) + '.' + std::to_string(ip >> 16 & 255) + '.' +
         std::to_string(ip >> 8 & 255) + '.' + std::to_string(ip & 255);
}

RealTimeOptions read_realtime(const Section& root, Duration step, std::size_t robots,
                              config::Problems& problems) {
  const Section section(root.find("realtime"), "realtime", problems,
                        {"lag_p99_ms", "lag_longest_ms", "subnet", "spin_us", "priority"});
  RealTimeOptions to;
  to.limits.p99 = from_ms(section.real("lag_p99_ms", step.ms(), 1e-3, 1e6));
  to.limits.longest = from_ms(section.real("lag_longest_ms", to.limits.longest.ms(), 1e-3, 1e6));
  to.spin = {std::llround(section.real("spin_us", to.spin.us(), 0, 1e4) * 1e3)};
  to.priority = static_cast<int>(section.integer("priority", to.priority, 0, 99));
  if (!parse_subnet(section.text("subnet", kSubnet), to)) {
    section.error("subnet", std::string("expected an IPv4 network with a prefix of 8 to 30 bits, "
                                        "such as ") +
                                kSubnet);
  } else if ((std::uint64_t{1} << (32 - to.prefix)) - 2 < robots) {
    section.error("subnet",
                  "the network has too few addresses for " + std::to_string(robots) + " robots");
  }
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
