#include "cosim/scenario/exceeded.hpp"

#include <array>
#include <cstdio>

namespace hyphos::cosim {
namespace {

std::string number(const char* format, double value) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

/// "packet 12 from scout to base at 1.234 s"
std::string packet_of(const Scenario& scenario, const Exceeded::Case& one) {
  return "packet " + std::to_string(one.packet) + " from " + scenario.robots[one.from] + " to " +
         scenario.robots[one.to] + " at " + number("%.3f s", static_cast<double>(one.at.ns) * 1e-9);
}

std::string line_of(const Scenario& scenario, const Exceeded& exceeded, const std::string& head,
                    const std::string& counted) {
  std::string line = head + ": first by " + packet_of(scenario, exceeded.first);
  if (exceeded.worst.packet != exceeded.first.packet || exceeded.worst.at != exceeded.first.at) {
    line += ", most by " + packet_of(scenario, exceeded.worst);
  }
  return line + ", in " + std::to_string(exceeded.count) + " " + counted;
}

}  // namespace

std::vector<std::string> exceeded_lines(const Scenario& scenario, const Report& report) {
  std::vector<std::string> lines;
  if (const auto& latency = report.latency_exceeded) {
    const std::string head = "latency " + number("%.3f ms", latency->worst.value * 1e-6) +
                             " instead of the requested " +
                             number("%g ms", report.requested.latency->ms());
    lines.push_back(line_of(scenario, *latency, head, "packets. Shorten method.window_ms"));
  }
  if (const auto& power = report.power_exceeded) {
    const Exceeded::Case& worst = power->worst;
    const std::string head = "power " + number("%.4f dB", worst.value) +
                             " instead of the requested " +
                             number("%g dB", *report.requested.power_db);
    const bool edge = worst.sight > worst.value / 2;
    lines.push_back(line_of(
        scenario, *power, head,
        edge ? "steps of physics. The path met the edge of an obstacle inside a step, so no "
               "method avoids " +
                   number("%.4f dB", worst.sight)
             : std::string("steps of physics. Use the method adaptive, or raise "
                           "physics.rate_hz")));
  }
  return lines;
}

}  // namespace hyphos::cosim
