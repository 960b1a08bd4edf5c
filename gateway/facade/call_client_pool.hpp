#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/mutex.hpp"
#include "gateway/types/client.hpp"
#include "gateway/types/limits.hpp"
#include "hyphos/service.hpp"

namespace hyphos::gateway {

/// A pool of the graph's call clients for services and actions. All clients of the gateway that
/// call the same service share one. Thread-safe.
///
/// Each call client takes two endpoints, so the pool is bounded. Names without a server cannot fill
/// it: a call client without a server lives only while calls wait for that server, and their number
/// is bounded per client and in total. A full pool replaces the idle call client that was used
/// least recently.
class CallClientPool : public std::enable_shared_from_this<CallClientPool> {
 public:
  explicit CallClientPool(const Limits& limits) : limits_(limits) {}

  using CallClient = RawClient;
  struct Use {
    CallClient core;
    std::shared_ptr<void> until;  ///< keep it until the call or the goal has ended
  };
  /// Returns the call client of a service. `key` names the service and its types. `served`: the
  /// service has a server now. Errors: overloaded, and the errors of `open`.
  Result<Use> ask(const Client& client, const std::string& key, bool served,
                  const std::function<Result<CallClient>()>& open);

 private:
  struct PooledCallClient {
    CallClient core;
    std::map<std::string, std::size_t> under_way;  ///< calls in flight, by client
    bool served = false;                           ///< at the last call
    std::uint64_t asked = 0;                       ///< sequence number of the last call
  };
  [[nodiscard]] Result<void> check_unserved(const std::string& client, const std::string& key)
      HYPHOS_REQUIRES(mutex_);
  /// Removes the idle call client that was used least recently. Null if there is none.
  [[nodiscard]] CallClient take_idle() HYPHOS_REQUIRES(mutex_);
  void ended(const std::string& key, const CallClient& core, const std::string& client);

  const Limits limits_;
  Mutex mutex_;
  std::map<std::string, PooledCallClient> call_clients_ HYPHOS_GUARDED_BY(mutex_);
  std::uint64_t asked_ HYPHOS_GUARDED_BY(mutex_) = 0;
};

}  // namespace hyphos::gateway
