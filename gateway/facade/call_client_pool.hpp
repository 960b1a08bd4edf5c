#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "gateway/facade/graph_facade.hpp"
#include "gateway/types/limits.hpp"
#include "hyphos/service.hpp"

namespace hyphos::gateway {

/// The clients of services and actions of the graph, each shared by all clients of the gateway that
/// ask there. Thread-safe.
///
/// Each takes two ends of channels, so there is a bound, and names that nobody serves cannot fill
/// it: such an asker is there only as long as something waits for its server, and there are few of
/// them, of one client and of all. An idle asker makes room for another.
class CallClientPool : public std::enable_shared_from_this<CallClientPool> {
 public:
  explicit CallClientPool(const Limits& limits) : limits_(limits) {}

  using CallClient = std::shared_ptr<detail::CallClient>;
  struct Use {
    CallClient core;
    std::shared_ptr<void> until;  ///< to be kept until the call or the goal has ended
  };
  /// `key` names a service with its types; `served`: somebody serves it now. Errors: overloaded,
  /// and those of `open`.
  Result<Use> ask(const Client& client, const std::string& key, bool served,
                  const std::function<Result<CallClient>()>& open);

 private:
  struct PooledCallClient {
    CallClient core;
    std::map<std::string, std::size_t> under_way;  ///< by client
    bool served = false;                           ///< when it was asked last
    std::uint64_t asked = 0;                       ///< when, as a number that grows
  };
  /// All under mutex_.
  [[nodiscard]] Result<void> check_unserved(const std::string& client, const std::string& key);
  /// The idle one that was asked longest ago; null: there is none.
  [[nodiscard]] CallClient take_idle();
  void ended(const std::string& key, const CallClient& core, const std::string& client);

  const Limits limits_;
  std::mutex mutex_;  // guards what follows
  std::map<std::string, PooledCallClient> call_clients_;
  std::uint64_t asked_ = 0;
};

}  // namespace hyphos::gateway
