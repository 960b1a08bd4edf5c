#include "gateway/facade/quotas.hpp"

#include <algorithm>
#include <vector>

#include "hyphos/time.hpp"

namespace hyphos::gateway {

bool Quota::take(std::int64_t now_ns) {
  const MutexLock lock(mutex_);
  taken_ns_ = now_ns;
  return limit_.take(now_ns);
}

std::shared_ptr<Quota> Quotas::of(const Client& client) {
  const MutexLock lock(mutex_);
  const std::pair key(client.name, client.token);
  if (const auto known = quotas_.find(key); known != quotas_.end()) return known->second;
  if (quotas_.size() >= forget_at_) forget_idle();
  return quotas_[key] = std::make_shared<Quota>(rules_.of(client).rate_hz);
}

void Quotas::forget_idle() {
  const Time now = monotonic_now();
  std::erase_if(quotas_, [&](const auto& one) {
    // Other owners get the pointer only under the lock, so this count is exact.
    if (one.second.use_count() > 1) return false;
    Quota& quota = *one.second;
    // After this time the limit has refilled, so a new account would be equal.
    const double refill_s = quota.rate_hz_ > 0 ? std::max(1.0, 1.0 / quota.rate_hz_) : 0.0;
    const MutexLock lock(quota.mutex_);
    return quota.taken_ns_ <= (now - Duration::from_seconds(refill_s)).ns;
  });
  forget_at_ = std::max<std::size_t>(64, 2 * quotas_.size());
}

Result<std::shared_ptr<void>> Quotas::take(const Client& client,
                                           std::initializer_list<std::string> ports) {
  auto quota = of(client);
  const MutexLock lock(mutex_);
  const Limits& limits = rules_.limits;
  if (client.group.empty() && quota->ends_ >= limits.client_topics) {
    return Error{Code::overloaded,
                 "the client already has " + std::to_string(quota->ends_) +
                     " topics, services and actions, its maximum. Close "
                     "some, or start the gateway with a larger --max-topics-per-client",
                 client.name};
  }
  const auto more = static_cast<std::size_t>(
      std::ranges::count_if(ports, [&](const std::string& port)
                                       HYPHOS_REQUIRES(mutex_) { return !ports_.contains(port); }));
  if (ports_.size() + more > limits.topics) {
    return Error{Code::overloaded,
                 "the clients of this gateway already have " + std::to_string(ports_.size()) +
                     " of " + std::to_string(limits.topics) +
                     " topics (a service counts as two). Close some, or start the gateway "
                     "with a larger --max-topics",
                 client.name};
  }
  ++quota->ends_;
  for (const std::string& port : ports) ++ports_[port];
  return std::shared_ptr<void>(
      nullptr, [self = shared_from_this(), quota, ports = std::vector<std::string>(ports)](void*) {
        self->release(*quota, ports);
      });
}

void Quotas::release(Quota& quota, const std::vector<std::string>& ports) {
  const MutexLock lock(mutex_);
  --quota.ends_;
  for (const std::string& port : ports) {
    if (const auto taken = ports_.find(port); --taken->second == 0) ports_.erase(taken);
  }
}

}  // namespace hyphos::gateway
