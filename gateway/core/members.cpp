#include "gateway/core/members.hpp"

#include <algorithm>

namespace hyphos::gateway {

void Members::add_publisher(std::uint64_t sender, const std::string& channel,
                            const Client& client) {
  const std::lock_guard lock(mutex_);
  publishers_[channel].insert(client.name);
  groups_[sender] = client.group;
}

void Members::remove_publisher(std::uint64_t sender, const std::string& channel,
                               const Client& client) {
  const std::lock_guard lock(mutex_);
  remove(publishers_, channel, client.name);
  if (!groups_.contains(sender)) return;
  ended_.push_back(sender);
  if (ended_.size() <= kMaxEnded) return;
  groups_.erase(ended_.front());
  ended_.pop_front();
}

void Members::add_subscriber(const std::string& channel, const Client& client) {
  const std::lock_guard lock(mutex_);
  subscribers_[channel].insert(client.name);
}

void Members::remove_subscriber(const std::string& channel, const Client& client) {
  const std::lock_guard lock(mutex_);
  remove(subscribers_, channel, client.name);
}

std::optional<std::string> Members::group_of(std::uint64_t sender) const {
  const std::lock_guard lock(mutex_);
  const auto found = groups_.find(sender);
  return found == groups_.end() ? std::nullopt : std::optional(found->second);
}

bool Members::has_ended(std::uint64_t sender) const {
  const std::lock_guard lock(mutex_);
  return std::find(ended_.begin(), ended_.end(), sender) != ended_.end();
}

std::set<std::string> Members::publishers(const std::string& channel) const {
  const std::lock_guard lock(mutex_);
  return of(publishers_, channel);
}

std::set<std::string> Members::subscribers(const std::string& channel) const {
  const std::lock_guard lock(mutex_);
  return of(subscribers_, channel);
}

void Members::remove(Names& names, const std::string& channel, const std::string& name) {
  const auto found = names.find(channel);
  if (found == names.end()) return;
  if (const auto one = found->second.find(name); one != found->second.end()) {
    found->second.erase(one);
  }
  if (found->second.empty()) names.erase(found);
}

std::set<std::string> Members::of(const Names& names, const std::string& channel) {
  const auto found = names.find(channel);
  if (found == names.end()) return {};
  return {found->second.begin(), found->second.end()};
}

}  // namespace hyphos::gateway
