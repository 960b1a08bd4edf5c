#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/mutex.hpp"
#include "gateway/facade/client_registry.hpp"
#include "gateway/facade/graph_clients.hpp"
#include "gateway/facade/pace.hpp"
#include "gateway/facade/quotas.hpp"
#include "gateway/facade/topics.hpp"
#include "gateway/types/channel_codec.hpp"
#include "hyphos/node.hpp"
#include "hyphos/policy.hpp"

namespace hyphos::gateway {

/// A client's publisher, as a publisher of the graph.
class GraphPublisher final : public ClientPublisher {
 public:
  struct Setup {
    GraphClients& clients;
    std::shared_ptr<ClientRegistry> registry;
    Client client;
    std::shared_ptr<Quota> quota;
    std::shared_ptr<void> place;  ///< released after the publisher
    Clock clock;
    const ChannelCodec& codec;
    TypeInfo type;
    Form form = Form::ros1;
    bool spread = false;
  };
  /// `policy` is the policy of the channel.
  GraphPublisher(Setup setup, RawPublisher publisher, const Policy& policy);
  ~GraphPublisher() override;
  GraphPublisher(const GraphPublisher&) = delete;
  GraphPublisher& operator=(const GraphPublisher&) = delete;

  Result<void> publish(std::span<const std::byte> message, const DecodeHint& within) override;
  [[nodiscard]] bool keeps() const override;
  Result<bool> flush() override;
  [[nodiscard]] std::uint64_t overruns() const override;
  WritableBuffer loan(std::size_t size) override;
  [[nodiscard]] const TypeInfo& type() const override { return setup_.type; }

 private:
  [[nodiscard]] bool has_room(std::size_t size) const {
    return !waits_ || publisher_.has_room(size);
  }
  Result<void> publish(const RawMessage& message) const;
  /// For a channel that drops: publishes at once, or keeps the message for a moment in a burst.
  Result<void> publish_paced(RawMessage message, std::size_t size, Time arrived);
  [[nodiscard]] Result<bool> flush_paced() HYPHOS_REQUIRES(mutex_);
  /// Publishes, and counts a message that makes a queue drop.
  Result<void> publish_counted(const RawMessage& message, bool room) HYPHOS_REQUIRES(mutex_);

  struct Kept {
    RawMessage message;
    std::size_t size = 0;
    std::int64_t since_ns = 0;
  };

  const Setup setup_;
  const RawPublisher publisher_;
  const bool waits_;  ///< the channel blocks its publishers
  const std::int64_t patience_ns_;
  mutable Mutex mutex_;
  std::optional<Kept> kept_ HYPHOS_GUARDED_BY(mutex_);
  Pace pace_ HYPHOS_GUARDED_BY(mutex_);
  std::uint64_t overruns_ HYPHOS_GUARDED_BY(mutex_) = 0;
};

}  // namespace hyphos::gateway
