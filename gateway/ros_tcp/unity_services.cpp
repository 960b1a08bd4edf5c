#include "gateway/ros_tcp/unity_services.hpp"

#include <algorithm>
#include <utility>

namespace hyphos::gateway::ros_tcp {

Result<void> UnityServices::take(const void* owner, const std::string& name,
                                 const std::string& type, std::function<void()> displaced,
                                 Open open) {
  std::function<void()> told;
  {
    // Held while the service is opened, so that two simultaneous registrations are ordered.
    const MutexLock lock(mutex_);
    const auto found = entries_.find(name);
    if (found == entries_.end()) {
      auto opened = open();
      if (!opened) return opened.error();
      entries_.emplace(
          name, Entry{owner, type, std::move(displaced), std::move(open), std::move(*opened)});
      return success();
    }
    Entry& entry = found->second;
    if (entry.owner == owner && entry.type == type) return success();
    entry.server.reset();  // the graph allows one server per service
    auto opened = open();
    if (!opened) {
      auto again = entry.open();
      if (again) {
        entry.server = std::move(*again);
      } else {
        entries_.erase(found);
      }
      return opened.error();
    }
    if (entry.owner != owner) told = std::move(entry.displaced);
    entry = Entry{owner, type, std::move(displaced), std::move(open), std::move(*opened)};
  }
  if (told) told();
  return success();
}

bool UnityServices::drop(const void* owner, const std::string& name) {
  const MutexLock lock(mutex_);
  const auto found = entries_.find(name);
  if (found == entries_.end() || found->second.owner != owner) return false;
  entries_.erase(found);
  return true;
}

void UnityServices::drop_all(const void* owner) {
  const MutexLock lock(mutex_);
  std::erase_if(entries_, [&](const auto& entry) { return entry.second.owner == owner; });
}

std::size_t UnityServices::count(const void* owner) const {
  const MutexLock lock(mutex_);
  return static_cast<std::size_t>(std::ranges::count_if(
      entries_, [&](const auto& entry) { return entry.second.owner == owner; }));
}

}  // namespace hyphos::gateway::ros_tcp
