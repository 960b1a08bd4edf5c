#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/call_gate.hpp"
#include "base/mutex.hpp"
#include "transport/shm/parts.hpp"

namespace hyphos::transport::shm_detail {

/// The error of a process with too many endpoints.
[[nodiscard]] Error too_many_endpoints(const std::string& channel);

/// The open channels of this process, and whether calls for them are accepted. Thread-safe.
///
/// A call enters the gate before it looks up a port. So if no call is inside after a port was
/// removed, no call uses the port.
class Ports {
 public:
  [[nodiscard]] CallGate& gate() { return gate_; }
  /// Null if there is no such port. Inside the gate, the pointer is valid. Lock-free.
  [[nodiscard]] Port* find(PortId id) const {
    return id - 1 < by_id_.size() ? by_id_[id - 1].load(std::memory_order_seq_cst) : nullptr;
  }

  void start() { started_.store(true); }
  [[nodiscard]] bool started() const { return started_.load(std::memory_order_acquire); }
  /// False if another thread stops the transport, or has stopped it.
  [[nodiscard]] bool begin_stop() { return !stopping_.exchange(true); }
  [[nodiscard]] const std::atomic<bool>& stopping() const { return stopping_; }

  /// An error if a port of this kind is not permitted beside the present ports.
  [[nodiscard]] Result<void> check(const ChannelSpec& spec, bool publishes) const;
  [[nodiscard]] Result<PortId> add(std::shared_ptr<Port> port);
  /// Null if there is no such port. The port lives until free_retired() finds it unused.
  [[nodiscard]] std::shared_ptr<Port> remove(PortId id);
  [[nodiscard]] std::vector<std::shared_ptr<Port>> remove_all();
  void free_retired();
  [[nodiscard]] std::vector<std::shared_ptr<Port>> all() const;

 private:
  CallGate gate_;
  std::atomic<bool> started_{false};
  std::atomic<bool> stopping_{false};
  Sparse<std::atomic<Port*>> by_id_{shm::kMaxEndpoints};

  mutable SharedMutex mutex_;
  std::vector<std::shared_ptr<Port>> ports_ HYPHOS_GUARDED_BY(mutex_);
  /// Until no call can use them.
  std::vector<std::shared_ptr<Port>> retired_ HYPHOS_GUARDED_BY(mutex_);
};

}  // namespace hyphos::transport::shm_detail
