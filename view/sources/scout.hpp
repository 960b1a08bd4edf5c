#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.hpp"
#include "hyphos/codec.hpp"
#include "hyphos/policy.hpp"

namespace hyphos::view {

/// A channel of the running robot.
struct Offer {
  std::string name;
  TypeId type;
  Policy policy;
  std::uint64_t mean_bytes = 0;  ///< of a message, 0 while unknown

  [[nodiscard]] bool same(const Offer& other) const {
    return name == other.name && type == other.type && policy == other.policy;
  }
};

/// Looks for the channels and types of a domain, twice a second in a thread of its own. Reads
/// shared memory only.
class Scout {
 public:
  /// The channels and the new definitions since the last take().
  struct News {
    bool changed = false;
    std::vector<Offer> offers;             ///< one or more per name: a channel may change its type
    std::vector<std::string> descriptors;  ///< new FileDescriptorSets
    std::size_t processes = 0;             ///< without this one
    std::string problem;
  };

  /// Looks once before it returns. `changed` is called in the thread, without a lock.
  Scout(std::string domain, std::function<void()> changed);
  Scout(const Scout&) = delete;
  Scout& operator=(const Scout&) = delete;
  ~Scout();

  [[nodiscard]] News take();

 private:
  bool look();
  void run();

  const std::string domain_;
  const std::function<void()> changed_;
  Mutex mutex_;
  Condition stop_;
  bool stopping_ HYPHOS_GUARDED_BY(mutex_) = false;
  News news_ HYPHOS_GUARDED_BY(mutex_);
  // Of the thread.
  std::uint64_t signature_ = 0;
  std::set<std::uint64_t> seen_;  // hashes of descriptor sets
  std::thread thread_;
};

}  // namespace hyphos::view
