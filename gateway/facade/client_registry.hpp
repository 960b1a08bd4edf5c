#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/mutex.hpp"
#include "gateway/types/client.hpp"

namespace hyphos::gateway {

/// Records the channels of each client. So the graph can be shown with client names, and no client
/// receives messages of its own group. Thread-safe.
class ClientRegistry {
 public:
  static constexpr std::size_t kMaxEnded = 4096;

  void add_publisher(std::uint64_t sender, const std::string& channel, const Client& client);
  void remove_publisher(std::uint64_t sender, const std::string& channel, const Client& client);
  void add_subscriber(const std::string& channel, const Client& client);
  void remove_subscriber(const std::string& channel, const Client& client);

  /// An empty name: the client has no group. nullopt: the sender is no client.
  [[nodiscard]] std::optional<std::string> group_of(std::uint64_t sender) const;
  /// May return false for a sender that ended long ago.
  [[nodiscard]] bool has_ended(std::uint64_t sender) const;
  [[nodiscard]] std::set<std::string> publishers(const std::string& channel) const;
  [[nodiscard]] std::set<std::string> subscribers(const std::string& channel) const;

 private:
  using Names = std::map<std::string, std::multiset<std::string>>;  // by channel
  static void remove(Names& names, const std::string& channel, const std::string& name);
  static std::set<std::string> of(const Names& names, const std::string& channel);

  mutable Mutex mutex_;
  std::map<std::uint64_t, std::string> groups_ HYPHOS_GUARDED_BY(mutex_);
  // still in groups_, because their messages may be in flight
  std::deque<std::uint64_t> ended_ HYPHOS_GUARDED_BY(mutex_);
  Names publishers_ HYPHOS_GUARDED_BY(mutex_);
  Names subscribers_ HYPHOS_GUARDED_BY(mutex_);
};

}  // namespace hyphos::gateway
