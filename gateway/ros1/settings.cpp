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
         return read_number(value, settings.master_port) ? "" : "must be a port from 0 to 65535";
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
         return is_global_name(settings.node) ? "" : "must be a valid ROS name such as /hyphos";
       }},
      {"hostname",
       [](Settings& settings, const std::string& value) -> std::string {
         settings.hostname = value;
         return value.find_first_of("/: ") == std::string::npos
                    ? ""
                    : "must be a host name or an address";
       }},
      {"topics", patterns(&Settings::topics)},
      {"channels", patterns(&Settings::channels)},
      {"services", patterns(&Settings::services)},
      {"calls", patterns(&Settings::calls)},
      {"actions", patterns(&Settings::actions)},
      {"goals", patterns(&Settings::goals)},
      {"params", patterns(&Settings::params)},
      {"rosparams", patterns(&Settings::rosparams)},
      {"call_timeout_s", seconds(&Settings::call_timeout)},
  };
  return all;
}

/// Sets an option from an environment variable. Returns false if the variable is not set.
Result<bool> set_from(Settings& settings, const char* option, const char* variable) {
  const char* const value = std::getenv(variable);
  if (value == nullptr || *value == '\0') return false;
  const std::string wrong = setters().at(option)(settings, value);
  if (wrong.empty()) return true;
  return Error{Code::invalid_config, std::string(variable) + "='" + value + "': " + wrong, "ros1"};
}

/// Reads the variables that every ROS 1 program reads, unless an option overrides them.
Result<void> read_environment(Settings& settings, const Options& options) {
  if (!settings.is_master && !options.own.contains("master_uri")) {
    if (auto set = set_from(settings, "master_uri", "ROS_MASTER_URI"); !set) return set.error();
  }
  // A gateway that listens on a loopback address cannot be reached under the name that others use.
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
                 "options master=true and master_uri exclude each other, because a graph has one "
                 "master. Remove one",
                 "ros1"};
  }
  if (auto read = read_environment(settings, options); !read) return read.error();
  if (settings.is_master && !options.own.contains("master_port") && options.port != 0) {
    settings.master_port = options.port;
  } else {
    settings.node_port = options.port;
  }
  if (options.tls || !options.tokens.empty()) {
    return Error{Code::unsupported, "ROS 1 supports neither TLS nor tokens. Remove these options",
                 "ros1"};
  }
  if (settings.hostname.empty()) settings.hostname = default_hostname(options.host);
  return settings;
}

}  // namespace hyphos::gateway::ros1
