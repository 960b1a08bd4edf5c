#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "gateway/facade/clients.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway {

/// The permissions and counters of a FakeGraph. Thread-safe.
class FakeClients final : public Clients {
 public:
  /// Denies this topic or service to all clients.
  void deny(const std::string& name) {
    const std::lock_guard lock(mutex_);
    denied_.insert(name);
  }
  /// Sets further rules on the topics and services that a client may see.
  void let(std::function<bool(const Client&, Use, std::string_view)> rules) {
    const std::lock_guard lock(mutex_);
    rules_ = std::move(rules);
  }
  /// Error: permission, if the name is denied to all clients.
  [[nodiscard]] Result<void> admit(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    if (!denied_.contains(name)) return success();
    return Error{Code::permission, name + " is not allowed", name};
  }
  /// The count of `why`.
  [[nodiscard]] std::uint64_t counted(std::string_view why) const {
    const std::lock_guard lock(mutex_);
    const auto found = counts_.find(why);
    return found == counts_.end() ? 0 : found->second;
  }
  /// The detail of the last count of `why`.
  [[nodiscard]] std::string last(std::string_view why) const {
    const std::lock_guard lock(mutex_);
    const auto found = details_.find(why);
    return found == details_.end() ? "" : found->second;
  }

  [[nodiscard]] bool lets(const Client& client, Use use, std::string_view name) const override {
    const std::lock_guard lock(mutex_);
    return !denied_.contains(std::string(name)) && (!rules_ || rules_(client, use, name));
  }
  void count(const Client&, std::string_view why, std::string_view detail) override {
    const std::lock_guard lock(mutex_);
    ++counts_[std::string(why)];
    details_[std::string(why)] = detail;
  }
  void note(const Client& client, std::string_view why, std::string_view detail) override {
    count(client, why, detail);
  }

 private:
  mutable std::mutex mutex_;  // guards the members below
  std::set<std::string> denied_;
  std::function<bool(const Client&, Use, std::string_view)> rules_;
  std::map<std::string, std::uint64_t, std::less<>> counts_;
  std::map<std::string, std::string, std::less<>> details_;
};

}  // namespace hyphos::gateway
