#include "gateway/ros2/settings.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "gateway/facade/settings.hpp"
#include "gateway/ros2/names.hpp"

namespace hyphos::gateway::ros2 {
namespace {

// The ports of DDS for higher domains would exceed 16 bits.
constexpr std::uint32_t kLastDomain = 232;

std::string set_domain(Settings& settings, const std::string& value) {
  return read_number(value, settings.domain_id) && settings.domain_id <= kLastDomain
             ? ""
             : "must be a number from 0 to " + std::to_string(kLastDomain);
}

const Setters<Settings>& setters() {
  constexpr auto kIgnored = Patterns::Slash::ignored;
  static const Setters<Settings> all{
      {"domain_id", set_domain},
      {"node",
       [](Settings& settings, const std::string& value) -> std::string {
         settings.node = value.starts_with('/') ? value : "/" + value;
         return is_name(settings.node) ? "" : "must be a valid ROS name such as /hyphos";
       }},
      {"distro",
       [](Settings& settings, const std::string& value) -> std::string {
         // Iron is the first distribution with 16-byte Gids. Names of distributions are in
         // alphabetical order.
         const bool known = value.size() > 1 && value[0] >= 'f' && value[0] <= 'z';
         settings.gid_size = value < "iron" ? GidSize::humble : GidSize::iron;
         return known ? "" : "must be a ROS 2 distribution: foxy, humble, jazzy, …";
       }},
      {"shared_memory", flag(&Settings::shared_memory)},
      {"pace_mb_s",
       [](Settings& settings, const std::string& value) -> std::string {
         constexpr std::uint32_t kMost = 1'000'000;
         return read_number(value, settings.pace_mb_s) && settings.pace_mb_s <= kMost
                    ? ""
                    : "must be an integer in megabytes per second, at most 1000000, or 0 for no "
                      "limit";
       }},
      {"topics", patterns(&Settings::topics, kIgnored)},
      {"raw", patterns(&Settings::raw, kIgnored)},
      {"channels", patterns(&Settings::channels, kIgnored)},
      {"best_effort", patterns(&Settings::best_effort, kIgnored)},
      {"services", patterns(&Settings::services, kIgnored)},
      {"calls", patterns(&Settings::calls, kIgnored)},
      {"actions", patterns(&Settings::actions, kIgnored)},
      {"goals", patterns(&Settings::goals, kIgnored)},
      {"params", patterns(&Settings::params, kIgnored)},
      {"param_nodes", patterns(&Settings::param_nodes, kIgnored)},
      {"rosparams", patterns(&Settings::rosparams, kIgnored)},
      {"call_timeout_s", seconds(&Settings::call_timeout)},
  };
  return all;
}

Error wrong(Code code, const std::string& what) { return {code, what, "ros2"}; }

}  // namespace

Result<Settings> Settings::of(const Options& options) {
  Settings settings;
  // Every ROS 2 program reads this variable.
  const char* const domain = std::getenv("ROS_DOMAIN_ID");
  if (domain != nullptr && *domain != '\0' && !options.own.contains("domain_id")) {
    const std::string problem = set_domain(settings, domain);
    if (!problem.empty()) {
      return wrong(Code::invalid_config, "ROS_DOMAIN_ID='" + std::string(domain) + "': " + problem);
    }
  }
  if (auto set = set_all(settings, setters(), options, "ros2"); !set) return set.error();
  if (options.port != 0) {
    return wrong(Code::invalid_config,
                 "the ports of DDS follow from the domain. Remove the port, and set domain_id");
  }
  if (options.tls || !options.tokens.empty()) {
    return wrong(Code::unsupported,
                 "DDS without SROS 2 supports neither TLS nor tokens. Remove these options");
  }
  if (options.host != "0.0.0.0") settings.host = options.host;
  settings.max_message =
      std::min<std::size_t>(options.max_message, std::numeric_limits<std::int32_t>::max());
  settings.limits = options.limits;
  settings.depth = static_cast<std::int32_t>(std::clamp(options.queue_depth, 1U, 65'536U));
  return settings;
}

}  // namespace hyphos::gateway::ros2
