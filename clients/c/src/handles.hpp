#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "guard.hpp"
#include "hyphos/hyphos.hpp"
#include "hyphos_c.h"
#include "pump.hpp"

namespace hyphos::c {

/// Lets calls in until it is closed, and closes once those that are in have left.
class Gate {
 public:
  [[nodiscard]] bool enter();
  void leave();
  /// False if somebody is still in after a second: one who publishes where nobody makes room.
  bool close();

 private:
  std::atomic<std::uint32_t> inside_{0};
  std::atomic<bool> closing_{false};
  std::mutex mutex_;
  std::condition_variable left_;
};

/// What a node's ends have in common. The handle owns it; ends only look at it, so that none of
/// them keeps a process's graph alive.
struct NodeState {
  explicit NodeState(Node opened) : node(std::move(opened)) {}
  Node node;
  Gate gate;
  const std::shared_ptr<Pump> pump = std::make_shared<Pump>();
};
using WeakNode = std::weak_ptr<NodeState>;

/// The node of an end, which is not closed as long as this lives. Ends call into the graph with one
/// in their hands, since that is gone with its node.
class NodeRef {
 public:
  explicit NodeRef(std::shared_ptr<NodeState> entered) : state_(std::move(entered)) {}
  NodeRef(NodeRef&& other) noexcept = default;
  NodeRef(const NodeRef&) = delete;
  NodeRef& operator=(const NodeRef&) = delete;
  ~NodeRef() {
    if (state_) state_->gate.leave();
  }
  NodeState* operator->() const { return state_.get(); }

 private:
  std::shared_ptr<NodeState> state_;
};

/// Error if it has been closed.
[[nodiscard]] Result<NodeRef> alive(const WeakNode& node);

[[nodiscard]] Result<TypeId> read_type(const hyphos_type* type);
[[nodiscard]] Result<std::optional<Policy>> read_policy(const hyphos_policy* policy);
[[nodiscard]] Result<Mode> read_mode(std::int32_t mode);

/// A view of a message, which lives as long as its block.
[[nodiscard]] hyphos_message view(detail::Block& block, const Buffer& payload,
                                  const BufferList& buffers, std::int64_t arrived_ns,
                                  bool replayed);
/// That of a message of a call; corrupt if it has no bytes.
[[nodiscard]] Result<hyphos_message> view(const detail::Delivery& delivery);
/// Holds what it shows.
void hold(const hyphos_message& message, hyphos_message& held);

/// Memory of the caller as a payload and its buffers, copied to what `lend` gives.
struct Parts {
  Buffer payload;
  BufferList buffers;
};
using Lend = std::function<WritableBuffer(std::size_t)>;
[[nodiscard]] Result<Parts> copy_parts(const void* payload, std::size_t size,
                                       const hyphos_bytes* buffers, std::size_t count,
                                       const Lend& lend);
/// A block of a call with such bytes.
[[nodiscard]] Result<detail::BlockRef> make_block(detail::PublisherCore& core, bool travels,
                                                  const void* payload, std::size_t size,
                                                  const hyphos_bytes* buffers, std::size_t count);
[[nodiscard]] TypeSupport raw_support(const TypeId& id);

/// The sum of a counter over the node's ends of a channel.
[[nodiscard]] std::uint64_t count_of(const Node& node, const std::string& channel,
                                     bool is_publisher, const std::string& counter);

/// A subscription and the callback, or the taker, that its messages are for.
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
  std::atomic<bool> open_{false};  // `core_` is set
  Subscription core_;

  std::mutex taking_;              // held by the one who takes
  hyphos_message* out_ = nullptr;  // under `taking_`
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stirred_ = false;  // under `mutex_`: something came since a taker looked
  bool closed_ = false;   // under `mutex_`
};

}  // namespace hyphos::c

struct hyphos_node {
  std::shared_ptr<hyphos::c::NodeState> state;
};
struct hyphos_publisher {
  hyphos::c::WeakNode node;
  hyphos::RawPublisher core;
  hyphos::TypeId type;
  std::uint64_t bytes;  // of a structure; else 0
};
struct hyphos_subscription {
  hyphos::c::WeakNode node;
  std::shared_ptr<hyphos::c::Subscriber> core;
};
struct hyphos_service {
  hyphos::c::WeakNode node;
  std::shared_ptr<hyphos::detail::CallServer> core;
};
struct hyphos_request {
  hyphos::c::WeakNode node;
  hyphos::detail::ExchangeRef exchange;
};
struct hyphos_client {
  hyphos::c::WeakNode node;
  std::shared_ptr<hyphos::detail::CallClient> core;
};
