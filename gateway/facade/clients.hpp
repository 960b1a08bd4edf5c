#pragma once

#include <string_view>

#include "gateway/types/client.hpp"

namespace hyphos::gateway {

/// The permissions of the gateway's clients, and the counters and log lines about them.
/// Thread-safe.
class Clients {
 public:
  virtual ~Clients() = default;

  /// True if the rules allow the use of `name` ("/camera/image") by this client.
  [[nodiscard]] virtual bool lets(const Client& client, Use use, std::string_view name) const = 0;
  /// Counts a loss or a refusal as `drop.gateway.<why>`, and logs it at most once per second.
  virtual void count(const Client& client, std::string_view why, std::string_view detail) = 0;
  /// The same for an event that the caller reports once: each call is logged.
  virtual void note(const Client& client, std::string_view why, std::string_view detail) = 0;
};

}  // namespace hyphos::gateway
