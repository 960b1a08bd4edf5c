#include "gateway/ros1/settings.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>

#include "gateway/facade/settings.hpp"

namespace hyphos::gateway::ros1 {
namespace {

const Setters<Settings>& setters() {
  static const Setters<Settings> all{
      {"master", flag(&Settings::is_master)},
      {"master_port",
       [](Settings& settings, const std::string& value) -> std::string {
         return read_number(value, settings.master_port) ? "" : "it is a port, 0 to 65535";
       }},
      {"master_uri",
       [](Settings& settings, const std::string& value) -> std::string {
         settings.master_uri = value.ends_with('/') ? value : value + "/";
         const auto uri = Uri::parse(value);
         return uri ? "" : uri.error().message;
       }},
      {"node",
       [](Settings& settings, const std::string& value) -> std::string {
         settings.node = value.starts_with('/') ? value : "/" + value;
         return is_global_name(settings.node) ? "" : "a name is like /hyphos";
       }},
      {"hostname",
       [](Settings& settings, const std::string& value) -> std::string {
         settings.hostname = value;
         return value.find_first_of("/: ") == std::string::npos ? "" : "it is a name or an address";
       }},
      {"topics", patterns(&Settings::topics)},
      {"channels", patterns(&Settings::channels)},
      {"services", patterns(&Settings::services)},
      {"calls", patterns(&Settings::calls)},
      {"params", patterns(&Settings::params)},
      {"rosparams", patterns(&Settings::rosparams)},
      {"call_timeout_s", seconds(&Settings::call_timeout)},
  };
  return all;
}

/// Sets an option as a variable of the environment says; false if that is not there.
Result<bool> set_from(Settings& settings, const char* option, const char* variable) {
  const char* const value = std::getenv(variable);
  if (value == nullptr || *value == '\0') return false;
  const std::string wrong = setters().at(option)(settings, value);
  if (wrong.empty()) return true;
  return Error{Code::invalid_config, std::string(variable) + "='" + value + "': " + wrong, "ros1"};
}

/// What every program of ROS 1 reads, as far as no option says it.
Result<void> read_environment(Settings& settings, const Options& options) {
  if (!settings.is_master && !options.own.contains("master_uri")) {
    if (auto set = set_from(settings, "master_uri", "ROS_MASTER_URI"); !set) return set.error();
  }
  // Who listens for this machine alone is not found at the address that others know it by.
  if (options.own.contains("hostname") || is_loopback(options.host)) return success();
  auto set = set_from(settings, "hostname", "ROS_HOSTNAME");
  if (set && !*set) set = set_from(settings, "hostname", "ROS_IP");
  if (!set) return set.error();
  return success();
}

std::string default_hostname(const std::string& host) {
  if (!host.empty() && host != "0.0.0.0" && host != "::") return host;
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

}  // namespace

Result<Settings> Settings::of(const Options& options) {
  Settings settings;
  if (auto set = set_all(settings, setters(), options, "ros1"); !set) return set.error();
  if (settings.is_master && options.own.contains("master_uri")) {
    return Error{Code::invalid_config,
                 "options master=true and master_uri exclude each other: a graph has one master",
                 "ros1"};
  }
  if (auto read = read_environment(settings, options); !read) return read.error();
  if (settings.is_master && !options.own.contains("master_port") && options.port != 0) {
    settings.master_port = options.port;
  } else {
    settings.node_port = options.port;
  }
  if (options.tls || !options.tokens.empty()) {
    return Error{Code::unsupported, "ROS 1 knows neither TLS nor tokens", "ros1"};
  }
  if (settings.hostname.empty()) settings.hostname = default_hostname(options.host);
  return settings;
}

}  // namespace hyphos::gateway::ros1
