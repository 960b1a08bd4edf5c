#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace hyphos::gateway::ros1 {

/// Statistics of a connection, for `rosnode info`. Thread-safe.
struct Traffic {
  std::atomic<std::uint64_t> messages{0};
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::uint64_t> dropped{0};

  void add(std::size_t size) {
    messages.fetch_add(1, std::memory_order_relaxed);
    bytes.fetch_add(size, std::memory_order_relaxed);
  }
};

/// A connection, as other nodes see it.
struct ConnectionInfo {
  std::int32_t id = 0;
  std::string topic;
  std::string peer;      ///< for a publication the subscriber's name, otherwise the publisher's URI
  std::string address;   ///< "127.0.0.1:41552"
  bool inbound = false;  ///< messages arrive on it
  bool connected = false;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t dropped = 0;
  std::string protocol = "TCPROS";
};

}  // namespace hyphos::gateway::ros1
