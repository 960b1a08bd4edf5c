// Any text is either refused, with a reason and a place, or becomes a complete scenario. A robot
// may send any bytes as an IP packet.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/config.hpp"
#include "base/utf8.hpp"
#include "cosim/emulate/json.hpp"
#include "cosim/scenario/scenario.hpp"
#include "netem/address.hpp"

using namespace hyphos;
using namespace hyphos::cosim;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static const std::vector<lab::Host> hosts{{"a", "10.0.0.1", 0x0a000001, 24},
                                            {"b", "10.0.0.2", 0x0a000002, 24}};
  static const lab::Book book(hosts);
  if (const auto to = book.find(std::as_bytes(std::span(data, size)));
      to && *to != lab::kEveryone && *to >= hosts.size()) {
    std::abort();
  }
  const auto scenario = parse_scenario(text, "fuzz.yaml");
  if (!scenario) {
    if (scenario.error().message.empty() || scenario.error().where.empty()) std::abort();
    return 0;
  }
  const std::size_t robots = scenario->robots.size();
  if (robots < 2 || scenario->paths.size() != robots || scenario->kinds.size() != robots ||
      scenario->commands.size() != robots || scenario->duration.ns <= 0 ||
      find_bad_utf8(describe_emulation(*scenario)) != std::string::npos) {
    std::abort();
  }
  return 0;
}
