#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/mutex.hpp"
#include "gateway/rosbridge/context.hpp"

namespace hyphos::gateway::rosbridge {

/// The services that one client serves: advertise_service, unadvertise_service, service_response.
/// For use by one thread at a time. Requests arrive on threads of the pool.
class ServedServices {
 public:
  ServedServices(Context& context, std::shared_ptr<ContextGate> gate)
      : context_(context), gate_(std::move(gate)) {}
  /// Ends the services and all waiting calls.
  void end();

  Result<void> advertise(const Request& request);
  Result<void> unadvertise(const Request& request);
  /// The client's reply. Errors: not_found (no call waits for it, or no longer).
  Result<void> respond(const Request& request);

 private:
  struct Call {
    std::string id;  // as JSON
    std::string service;
    Answer answer;
  };
  /// Shared with callbacks, which may run while the session ends.
  struct Pending {
    Mutex mutex;
    std::deque<Call> calls HYPHOS_GUARDED_BY(mutex);  // oldest first
    std::uint64_t next HYPHOS_GUARDED_BY(mutex) = 0;

    /// Adds a call, and removes the oldest if there are more than `most`.
    std::optional<Call> add(Call call, std::size_t most);
    std::deque<Call> take_all(const std::string& service);
  };
  static void take(const std::shared_ptr<ContextGate>& gate,
                   const std::shared_ptr<Pending>& pending, const std::string& service,
                   const Buffer& request, const Answer& answer);
  void fail_all(const std::string& service);

  Context& context_;
  const std::shared_ptr<ContextGate> gate_;
  const std::shared_ptr<Pending> pending_ = std::make_shared<Pending>();
  std::map<std::string, std::unique_ptr<Server>> servers_;
};

}  // namespace hyphos::gateway::rosbridge
