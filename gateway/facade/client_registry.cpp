#include "gateway/facade/client_registry.hpp"

#include <algorithm>

namespace hyphos::gateway {

void ClientRegistry::add_publisher(std::uint64_t sender, const std::string& channel,
                                   const Client& client) {
  const MutexLock lock(mutex_);
  publishers_[channel].insert(client.name);
  groups_[sender] = client.group;
}

void ClientRegistry::remove_publisher(std::uint64_t sender, const std::string& channel,
                                      const Client& client) {
  const MutexLock lock(mutex_);
  remove(publishers_, channel, client.name);
  if (!groups_.contains(sender)) return;
  ended_.push_back(sender);
  if (ended_.size() <= kMaxEnded) return;
  groups_.erase(ended_.front());
  ended_.pop_front();
}

void ClientRegistry::add_subscriber(const std::string& channel, const Client& client) {
  const MutexLock lock(mutex_);
  subscribers_[channel].insert(client.name);
}

void ClientRegistry::remove_subscriber(const std::string& channel, const Client& client) {
  const MutexLock lock(mutex_);
  remove(subscribers_, channel, client.name);
}

std::optional<std::string> ClientRegistry::group_of(std::uint64_t sender) const {
  const MutexLock lock(mutex_);
  const auto found = groups_.find(sender);
  return found == groups_.end() ? std::nullopt : std::optional(found->second);
}

bool ClientRegistry::has_ended(std::uint64_t sender) const {
  const MutexLock lock(mutex_);
  return std::find(ended_.begin(), ended_.end(), sender) != ended_.end();
}

std::set<std::string> ClientRegistry::publishers(const std::string& channel) const {
  const MutexLock lock(mutex_);
  return of(publishers_, channel);
}

std::set<std::string> ClientRegistry::subscribers(const std::string& channel) const {
  const MutexLock lock(mutex_);
  return of(subscribers_, channel);
}

void ClientRegistry::remove(Names& names, const std::string& channel, const std::string& name) {
  const auto found = names.find(channel);
  if (found == names.end()) return;
  if (const auto one = found->second.find(name); one != found->second.end()) {
    found->second.erase(one);
  }
  if (found->second.empty()) names.erase(found);
}

std::set<std::string> ClientRegistry::of(const Names& names, const std::string& channel) {
  const auto found = names.find(channel);
  if (found == names.end()) return {};
  return {found->second.begin(), found->second.end()};
}

}  // namespace hyphos::gateway
