#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/mutex.hpp"
#include "gateway/facade/clients.hpp"
#include "gateway/facade/quotas.hpp"
#include "gateway/types/rules.hpp"
#include "hyphos/node.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway {

/// The rules and quotas of the gateway's clients, with the counters and the log. Thread-safe.
class GraphClients final : public Clients {
 public:
  GraphClients(Rules rules, Logger log);

  [[nodiscard]] bool lets(const Client& client, Use use, std::string_view name) const override;
  void count(const Client& client, std::string_view why, std::string_view detail) override;
  void note(const Client& client, std::string_view why, std::string_view detail) override;

  [[nodiscard]] const Rules& rules() const { return rules_; }
  [[nodiscard]] std::shared_ptr<Quota> quota_of(const Client& client) {
    return quotas_->of(client);
  }
  /// Counts one message, call or goal of the client. Error: permission, which is counted too.
  Result<void> take(const Client& client, Quota& quota, const std::string& name);
  /// Reserves room for one more topic or service of the client. Error: overloaded, which is
  /// counted.
  Result<std::shared_ptr<void>> reserve(const Client& client,
                                        std::initializer_list<std::string> ports);
  /// Counters by "drop.gateway.<why>", since the start.
  [[nodiscard]] std::map<std::string, std::uint64_t> counters() const;

 private:
  void add_to_counter(std::string_view why);

  const Rules rules_;
  const std::shared_ptr<Quotas> quotas_;
  Logger log_;
  mutable Mutex mutex_;
  std::map<std::string, std::uint64_t> counters_ HYPHOS_GUARDED_BY(mutex_);
};

}  // namespace hyphos::gateway
