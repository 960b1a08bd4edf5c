#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "gateway/facade/graph_facade.hpp"
#include "gateway/types/rules.hpp"

namespace hyphos::gateway {

/// What one client uses: messages a second, and ends in the graph. Thread-safe.
class Quota {
 public:
  explicit Quota(double rate_hz) : rate_hz_(rate_hz), limit_(rate_hz) {}
  /// One message, call or goal. False: more than the rules allow.
  bool take(std::int64_t now_ns);

 private:
  friend class Quotas;
  const double rate_hz_;
  std::mutex mutex_;
  RateLimit limit_;            // under mutex_
  std::int64_t taken_ns_ = 0;  // under mutex_
  std::size_t ends_ = 0;       // under Quotas::mutex_
};

/// The accounts of all clients, by their names and tokens, and what they use together. Thread-safe.
///
/// A process has a limited number of ends of channels in shared memory, also for its own: no client
/// may exhaust the share of the others, nor all of them the process (Rules::limits).
class Quotas : public std::enable_shared_from_this<Quotas> {
 public:
  explicit Quotas(Rules rules) : rules_(std::move(rules)) {}

  /// It outlives what the client has open, so that opening anew gains nothing.
  std::shared_ptr<Quota> of(const Client& client);
  /// Takes one of the client's topics and services, which needs these ports, until what is returned
  /// is dropped. Errors: overloaded.
  Result<std::shared_ptr<void>> take(const Client& client,
                                     std::initializer_list<std::string> ports);

 private:
  void release(Quota& quota, const std::vector<std::string>& ports);
  /// Under mutex_.
  void forget_idle();

  const Rules rules_;
  std::mutex mutex_;  // guards what follows
  std::map<std::pair<std::string, std::string>, std::shared_ptr<Quota>> quotas_;
  std::size_t forget_at_ = 64;                // so many accounts
  std::map<std::string, std::size_t> ports_;  // how often each is taken
};

}  // namespace hyphos::gateway
