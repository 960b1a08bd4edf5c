#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace hyphos::gateway::ros1 {

/// What went over a connection of TCPROS: for `rosnode info`. Thread-safe.
struct Traffic {
  std::atomic<std::uint64_t> messages{0};
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::uint64_t> dropped{0};

  void add(std::size_t size) {
    messages.fetch_add(1, std::memory_order_relaxed);
    bytes.fetch_add(size, std::memory_order_relaxed);
  }
};

/// A connection as others see it.
struct ConnectionInfo {
  std::int32_t id = 0;
  std::string topic;
  std::string peer;      ///< of a publication the subscriber's name, else the publisher's URI
  std::string address;   ///< "127.0.0.1:41552"
  bool inbound = false;  ///< messages come in
  bool connected = false;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t dropped = 0;
};

}  // namespace hyphos::gateway::ros1
