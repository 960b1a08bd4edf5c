#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The grammars of what a plan names. All pure; "" or nullopt means as the function says.
namespace hyphos::plan {

/// A ZeroMQ endpoint taken apart.
struct Endpoint {
  bool ipc = false;
  std::string host;  ///< tcp: address, host name, "*" or IPv6 without brackets; ipc: the path
  int port = 0;      ///< tcp only

  [[nodiscard]] bool wildcard() const {
    return !ipc && (host == "*" || host == "0.0.0.0" || host == "::");
  }
  [[nodiscard]] std::string to_string() const;
};

/// "tcp://*:5553", "*:5553" and "ipc:///path"; nullopt with `why` if it is none of them.
[[nodiscard]] std::optional<Endpoint> parse_endpoint(std::string_view text, std::string& why);

/// Both could not be bound on one machine at once.
[[nodiscard]] bool collide(const Endpoint& a, const Endpoint& b);

[[nodiscard]] bool is_ipv4(std::string_view text);
[[nodiscard]] bool is_ipv6(std::string_view text);
[[nodiscard]] bool is_loopback(std::string_view address);
[[nodiscard]] bool is_multicast_ipv4(std::string_view text);

/// What is wrong with it, or "".
[[nodiscard]] std::string address_problem(std::string_view text);
/// Threads of a process.
inline constexpr int kMaxThreads = 1024;
[[nodiscard]] std::string domain_problem(std::string_view text);
[[nodiscard]] std::string type_problem(std::string_view text);
/// The full names of the messages in proto/hyphos/msgs.
[[nodiscard]] const std::vector<std::string_view>& standard_types();
/// Whether a type claims to be a standard message but is not one.
[[nodiscard]] bool is_unknown_standard_type(std::string_view text);
[[nodiscard]] std::string env_name_problem(std::string_view text);
[[nodiscard]] std::string python_problem(std::string_view text);
[[nodiscard]] std::string file_name_problem(std::string_view text);

}  // namespace hyphos::plan
