#include "gateway/facade/call_client_pool.hpp"

#include <algorithm>
#include <utility>

namespace hyphos::gateway {

Result<void> CallClientPool::check_unserved(const std::string& client, const std::string& key) {
  std::size_t all = 0;
  std::size_t own = 0;
  for (const auto& [other, call_client] : call_clients_) {
    if (call_client.served || call_client.under_way.empty() || other == key) continue;
    ++all;
    own += call_client.under_way.contains(client) ? 1 : 0;
  }
  if (own < limits_.client_unserved && all < limits_.unserved) return {};
  const bool is_own = own >= limits_.client_unserved;
  return Error{Code::overloaded,
               "it has no server, and " +
                   std::string(is_own ? "this client already waits" : "the clients already wait") +
                   " for " + std::to_string(is_own ? own : all) +
                   " services without a server, the maximum. Start the gateway with a larger " +
                   (is_own ? "--max-unserved-per-client" : "--max-unserved"),
               key.substr(0, key.find(' '))};
}

CallClientPool::CallClient CallClientPool::take_idle() {
  auto oldest = call_clients_.end();
  for (auto at = call_clients_.begin(); at != call_clients_.end(); ++at) {
    if (!at->second.under_way.empty()) continue;
    if (oldest == call_clients_.end() || at->second.asked < oldest->second.asked) oldest = at;
  }
  if (oldest == call_clients_.end()) return {};
  CallClient core = std::move(oldest->second.core);
  call_clients_.erase(oldest);
  return core;
}

Result<CallClientPool::Use> CallClientPool::ask(const Client& client, const std::string& key,
                                                bool served,
                                                const std::function<Result<CallClient>()>& open) {
  CallClient closed;  // destroyed after the lock is released, since its end may take a while
  const MutexLock lock(mutex_);
  if (!served) {
    if (auto let = check_unserved(client.name, key); !let) return let.error();
  }
  auto at = call_clients_.find(key);
  if (at == call_clients_.end()) {
    const bool is_full = call_clients_.size() >= limits_.services;
    if (is_full) closed = take_idle();
    if (is_full && !closed) {
      return Error{Code::overloaded,
                   std::to_string(call_clients_.size()) +
                       " services and actions are already called at once, the maximum. Wait for "
                       "some, or start the gateway with a larger --max-services",
                   key.substr(0, key.find(' '))};
    }
    auto opened = open();
    if (!opened) return opened.error();
    at = call_clients_.emplace(key, PooledCallClient{std::move(*opened), {}, served, 0}).first;
  }
  PooledCallClient& call_client = at->second;
  std::size_t calls = 0;
  for (const auto& [name, count] : call_client.under_way) calls += count;
  if (calls >= limits_.calls) {
    return Error{Code::overloaded,
                 std::to_string(calls) +
                     " calls to it are already in flight, the maximum. Wait for some, or "
                     "start the gateway with a larger --max-calls",
                 key.substr(0, key.find(' '))};
  }
  call_client.served = served;
  call_client.asked = ++asked_;
  ++call_client.under_way[client.name];
  const CallClient core = call_client.core;
  return Use{core, std::shared_ptr<void>(
                       nullptr, [self = shared_from_this(), key, core, name = client.name](void*) {
                         self->ended(key, core, name);
                       })};
}

void CallClientPool::ended(const std::string& key, const CallClient& core,
                           const std::string& client) {
  const bool ready = core.ready();
  CallClient closed;
  const MutexLock lock(mutex_);
  const auto at = call_clients_.find(key);
  PooledCallClient& call_client = at->second;  // stays in the map while a call is in flight
  const auto count = call_client.under_way.find(client);
  if (--count->second == 0) call_client.under_way.erase(count);
  if (!call_client.under_way.empty() || ready) return;
  closed = std::move(call_client.core);
  call_clients_.erase(at);
}

}  // namespace hyphos::gateway
