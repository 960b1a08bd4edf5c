#pragma once

#include <cstddef>

namespace hyphos::gateway {

/// The limits for the clients of one gateway. Each is an option of `hyphos gateway` and a key of
/// the gateway in a plan. docs/reference/limits.md lists them.
struct Limits {
  /// `--max-topics`: topics of all clients together. Each counts once per direction (a service
  /// counts as two), however many clients use it. A process has 8,192 endpoints in shared memory.
  std::size_t topics = 4096;
  /// `--max-topics-per-client`: topics, services and actions of one client. A ROS graph stands for
  /// many clients and has no such bound.
  std::size_t client_topics = 256;
  /// `--max-services`: services and actions that clients call at once. Each takes two endpoints.
  std::size_t services = 1024;
  /// `--max-unserved`: the part of them without a server.
  std::size_t unserved = 512;
  /// `--max-unserved-per-client`: the same for one client.
  std::size_t client_unserved = 16;
  /// `--max-calls`: calls or goals in flight to one service or action, of all clients.
  std::size_t calls = 1024;
};

}  // namespace hyphos::gateway
