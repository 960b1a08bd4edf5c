#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hyphos::gateway {

/// The limits for the clients of one gateway. Each is an option of `hyphos gateway` and a key of
/// the gateway in a plan. docs/reference/limits.md lists them.
struct Limits {
  /// `--max-topics`: topics of all clients together. Each counts once per direction (a service
  /// counts as two), however many clients use it. A process has 8,192 endpoints in shared memory.
  std::size_t topics = 5120;
  /// `--max-topics-per-client`: topics, services and actions of one client. Each needs memory in
  /// the gateway. A ROS graph stands for many clients and has no such bound.
  std::size_t client_topics = 256;
  /// `--max-services`: services and actions that clients call at once. Each takes two endpoints.
  std::size_t services = 1280;
  /// `--max-unserved`: the part of them without a server, so that wrong names do not use up the
  /// endpoints.
  std::size_t unserved = 512;
  /// `--max-unserved-per-client`: the same for one client.
  std::size_t client_unserved = 16;
  /// `--max-calls`: calls or goals in flight to one service or action, of all clients. Each keeps
  /// its request in memory.
  std::size_t calls = 1024;
  /// `--max-calls-per-client`: calls or goals of one client in flight, in each direction, so that
  /// one client leaves room for others.
  std::size_t client_calls = 256;
};

/// The error text for a limit that is reached: "this client already has 256 calls in flight, the
/// maximum. Start the gateway with a larger --max-calls-per-client".
[[nodiscard]] inline std::string at_limit(std::string_view owner, std::size_t number,
                                          std::string_view things, std::string_view option) {
  return std::string(owner) + " already has " + std::to_string(number) + " " + std::string(things) +
         ", the maximum. Start the gateway with a larger " + std::string(option);
}

}  // namespace hyphos::gateway
