#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "base/call_gate.hpp"
#include "base/mutex.hpp"
#include "guard.hpp"
#include "hyphos/hyphos.hpp"
#include "hyphos_c.h"
#include "pump.hpp"

namespace hyphos::c {

/// The shared state of a node and its endpoints. The node handle owns it. Endpoints hold weak
/// references, so no endpoint keeps the graph of a process alive.
struct NodeState {
  explicit NodeState(Node opened) : node(std::move(opened)) {}
  Node node;
  CallGate gate;
  const std::shared_ptr<Pump> pump = std::make_shared<Pump>();
};
using WeakNode = std::weak_ptr<NodeState>;

/// A reference that keeps the node of an endpoint open. Endpoints hold one during each call into
/// the graph, because the graph ends with its node.
class NodeRef {
 public:
  NodeRef(std::shared_ptr<NodeState> state, CallGate::Entry entry)
      : state_(std::move(state)), entry_(std::move(entry)) {}
  NodeState* operator->() const { return state_.get(); }

 private:
  std::shared_ptr<NodeState> state_;  // outlives the entry
  CallGate::Entry entry_;
};

/// Errors: `disconnected` if the node is closed.
[[nodiscard]] Result<NodeRef> alive(const WeakNode& node);

[[nodiscard]] Result<TypeId> read_type(const hyphos_type* type);
[[nodiscard]] Result<std::optional<Policy>> read_policy(const hyphos_policy* policy);
[[nodiscard]] Result<Mode> read_mode(std::int32_t mode);

/// A view of a message, valid as long as a reference to the message.
[[nodiscard]] hyphos_message view(const Message<RawMessage>& message);
/// The same for the message of a service call. Errors: `corrupt` if it has no bytes.
[[nodiscard]] Result<hyphos_message> view(const MessageRef& message);
/// Copies `message` to `held` and adds a reference to the message.
void hold(const hyphos_message& message, hyphos_message& held);

/// kCallTimeout for 0 or less.
[[nodiscard]] inline Duration timeout_of(std::int64_t timeout_ns) {
  return timeout_ns > 0 ? Duration{timeout_ns} : kCallTimeout;
}

using Lend = std::function<WritableBuffer(std::size_t)>;
/// A payload and its buffers, copied from memory of the caller to memory from `lend`.
[[nodiscard]] Result<RawMessage> copy_parts(const void* payload, std::size_t size,
                                            const hyphos_bytes* buffers, std::size_t count,
                                            const Lend& lend);
/// The same for a service call.
[[nodiscard]] Result<RawMessage> copy_parts(const void* payload, std::size_t size,
                                            const hyphos_bytes* buffers, std::size_t count,
                                            const CallMemory& memory);

/// The sum of a counter over the endpoints of this node on a channel.
[[nodiscard]] std::uint64_t count_of(const Node& node, const std::string& channel,
                                     bool is_publisher, const std::string& counter);

/// A subscription with the callback, or the waiting hyphos_take(), that receives its messages.
class Subscriber final : public Source, public std::enable_shared_from_this<Subscriber> {
 public:
  Subscriber(std::shared_ptr<Pump> pump, hyphos_message_callback callback, void* user)
      : pump_(std::move(pump)), callback_(callback), user_(user) {}

  Result<void> open(const NodeState& node, const std::string& channel, const TypeId& type,
                    SubscriptionOptions options, bool polled);
  std::uint32_t run(std::uint32_t most) override;
  Result<void> take(const WeakNode& node, std::int64_t timeout_ns, hyphos_message& out);
  void close();
  [[nodiscard]] const Subscription& core() const { return core_; }

 private:
  void ready();
  void heard(const Message<RawMessage>& message);

  const std::shared_ptr<Pump> pump_;
  const hyphos_message_callback callback_;
  void* const user_;
  std::atomic<bool> open_{false};  // true once `core_` is set
  Subscription core_;

  Mutex taking_;  // locked during take()
  hyphos_message* out_ HYPHOS_GUARDED_BY(taking_) = nullptr;
  Mutex mutex_;
  Condition changed_;
  bool stirred_ HYPHOS_GUARDED_BY(mutex_) = false;  // a message arrived since take() last looked
  bool closed_ HYPHOS_GUARDED_BY(mutex_) = false;
};

}  // namespace hyphos::c

struct hyphos_node {
  std::shared_ptr<hyphos::c::NodeState> state;
};
struct hyphos_publisher {
  hyphos::c::WeakNode node;
  hyphos::RawPublisher core;
  hyphos::TypeId type;
  std::uint64_t bytes;  // the size of a structure, else 0
};
struct hyphos_subscription {
  hyphos::c::WeakNode node;
  std::shared_ptr<hyphos::c::Subscriber> core;
};
struct hyphos_service {
  hyphos::c::WeakNode node;
  hyphos::Service core;
};
struct hyphos_request {
  hyphos::c::WeakNode node;
  hyphos::RawRequest core;
};
struct hyphos_client {
  hyphos::c::WeakNode node;
  hyphos::RawClient core;
};
