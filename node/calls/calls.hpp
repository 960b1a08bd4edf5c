#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/mutex.hpp"
#include "graph/channel.hpp"
#include "graph/graph.hpp"
#include "hyphos/plan.hpp"
#include "hyphos/service.hpp"

/// The parts that clients and servers of services and actions share. Protocol:
/// docs/reference/services.md.
namespace hyphos {

struct detail::WaitPlace {
  UniqueLock<Mutex>& lock;
  Condition& changed;
};

namespace calls {

/// The two channels of one service in this process.
struct Channels {
  std::string service;
  std::shared_ptr<graph::Channel> request;  // from clients to the server
  std::shared_ptr<graph::Channel> reply;    // from the server, each message to one client
};

/// Opens both channels. Errors: invalid_config (the name), type_mismatch (other types in this
/// process).
Result<Channels> open_channels(graph::Graph& graph, const std::string& service,
                               const detail::CallTypes& types);

/// "service 'add'", for error texts.
[[nodiscard]] std::string describe(const std::string& service, bool action);

/// An error as the payload of a message: three lines, code, where and message.
[[nodiscard]] Buffer encode_error(const Error& error);
/// Decodes the output of encode_error(). Any other payload becomes an error that reports the bad
/// payload.
[[nodiscard]] Error decode_error(const Buffer& payload, const std::string& service);

/// Runs `work` on the pool. Exceptions are logged with the name.
void post(graph::Executor& executor, const std::string& service, std::function<void()> work);

/// PoolWait for the threads of one executor.
[[nodiscard]] Result<void> wait_on_pool(graph::Executor& executor, const std::string& service,
                                        UniqueLock<Mutex>& lock, Condition& changed,
                                        std::int64_t deadline_ns,
                                        const std::function<bool()>& ready) HYPHOS_REQUIRES(lock);
/// The same through the interface.
[[nodiscard]] inline Result<void> wait_by(detail::PoolWait& pool, UniqueLock<Mutex>& lock,
                                          Condition& changed, std::int64_t deadline_ns,
                                          const std::function<bool()>& ready)
    HYPHOS_REQUIRES(lock) {
  return pool.wait({lock, changed}, deadline_ns, ready);
}

}  // namespace calls
}  // namespace hyphos
