#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "gateway/types/client.hpp"
#include "gateway/types/rules.hpp"

namespace hyphos::gateway {

/// The resources of one client: messages per second, and endpoints in the graph. Thread-safe.
class Quota {
 public:
  explicit Quota(double rate_hz) : rate_hz_(rate_hz), limit_(rate_hz) {}
  /// Counts one message, call or goal. Returns false if the rules allow no more now.
  bool take(std::int64_t now_ns);

 private:
  friend class Quotas;
  const double rate_hz_;
  Mutex mutex_;
  RateLimit limit_ HYPHOS_GUARDED_BY(mutex_);
  std::int64_t taken_ns_ HYPHOS_GUARDED_BY(mutex_) = 0;
  std::size_t ends_ = 0;  // under Quotas::mutex_
};

/// The quotas of all clients, by client name and token, and the total over all clients.
/// Thread-safe.
///
/// A process has a limited number of endpoints in shared memory, and it needs some for itself. Two
/// bounds protect them: one per client, and one for all clients together (Rules::limits).
class Quotas : public std::enable_shared_from_this<Quotas> {
 public:
  explicit Quotas(Rules rules) : rules_(std::move(rules)) {}

  /// The account outlives the channels that the client has open, so that a client gains nothing by
  /// closing and reopening them.
  std::shared_ptr<Quota> of(const Client& client);
  /// Reserves one topic or service for the client. It needs these ports. The reservation ends when
  /// the returned handle is dropped. Errors: overloaded.
  Result<std::shared_ptr<void>> take(const Client& client,
                                     std::initializer_list<std::string> ports);

 private:
  void release(Quota& quota, const std::vector<std::string>& ports);
  void forget_idle() HYPHOS_REQUIRES(mutex_);

  const Rules rules_;
  Mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<Quota>> quotas_
      HYPHOS_GUARDED_BY(mutex_);
  std::size_t forget_at_ HYPHOS_GUARDED_BY(mutex_) = 64;  // number of accounts
  // number of users of each port
  std::map<std::string, std::size_t> ports_ HYPHOS_GUARDED_BY(mutex_);
};

}  // namespace hyphos::gateway
