#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The grammars of names and endpoints in a plan. Pure functions.
namespace hyphos::plan {

/// The parts of a ZeroMQ endpoint.
struct Endpoint {
  bool ipc = false;
  std::string host;  ///< tcp: address, host name, "*" or IPv6 without brackets, ipc: the path
  int port = 0;      ///< tcp only

  [[nodiscard]] bool wildcard() const {
    return !ipc && (host == "*" || host == "0.0.0.0" || host == "::");
  }
  [[nodiscard]] std::string to_string() const;
};

/// Parses "tcp://*:5553", "*:5553" and "ipc:///path". Else returns nullopt and sets `why`.
[[nodiscard]] std::optional<Endpoint> parse_endpoint(std::string_view text, std::string& why);

/// True if both cannot be bound on one machine at once.
[[nodiscard]] bool collide(const Endpoint& a, const Endpoint& b);

[[nodiscard]] bool is_ipv4(std::string_view text);
[[nodiscard]] bool is_ipv6(std::string_view text);
[[nodiscard]] bool is_loopback(std::string_view address);
[[nodiscard]] bool is_multicast_ipv4(std::string_view text);

/// These functions return the problem of the text, or "".
[[nodiscard]] std::string address_problem(std::string_view text);
/// Maximum number of threads of a process.
inline constexpr int kMaxThreads = 1024;
[[nodiscard]] std::string domain_problem(std::string_view text);
[[nodiscard]] std::string type_problem(std::string_view text);
/// The full names of the messages in proto/hyphos/msgs.
[[nodiscard]] const std::vector<std::string_view>& standard_types();
/// True if the type has the prefix of the standard messages, but is none of them.
[[nodiscard]] bool is_unknown_standard_type(std::string_view text);
[[nodiscard]] std::string env_name_problem(std::string_view text);
[[nodiscard]] std::string python_problem(std::string_view text);
[[nodiscard]] std::string file_name_problem(std::string_view text);
/// The service that changes the groups of a process. Names of services have fewer characters than
/// names of processes, so it contains a hash.
[[nodiscard]] std::string group_service(std::string_view process);

}  // namespace hyphos::plan
