#pragma once

#include <memory>
#include <optional>
#include <string>

#include "hyphos/message.hpp"
#include "hyphos/result.hpp"
#include "hyphos/time.hpp"

namespace hyphos {

/// The result of one publish(): the number of queues that accepted and that dropped the message.
struct Published {
  std::uint64_t sequence = 0;
  std::uint32_t accepted =
      0;  ///< queues (local subscriptions and remote receivers) that accepted it
  /// Queues that dropped a message: this one, or with `drop_oldest` the oldest one, to accept this
  /// one. So a burst beyond the depth is visible here. Each drop is counted under its reason.
  std::uint32_t dropped = 0;
  /// Set when a guarantee was broken: `block` timed out, a reliable receiver is gone, the value
  /// cannot be encoded, no memory is left, the message is too large for every remote receiver, or
  /// the channel is closed.
  std::optional<Code> failure;

  explicit operator bool() const { return !failure.has_value(); }
};

namespace detail {

/// The type-erased half of a Publisher, implemented in graph/.
class HYPHOS_EXPORT PublisherCore {
 public:
  virtual ~PublisherCore() = default;
  /// An empty block with room for one value of the channel's type. Pooled: allocates only to grow.
  virtual BlockRef block() = 0;
  virtual Published publish(const BlockRef& block) = 0;
  /// As publish(), but never waits.
  virtual Published try_publish(const BlockRef& block) = 0;
  virtual Result<void> wait_for(std::uint32_t subscribers, Duration timeout) = 0;
  /// True if there is a subscriber outside the process. In-place values are then built in the
  /// memory from which they are sent.
  [[nodiscard]] virtual bool has_remote() const = 0;
  [[nodiscard]] virtual std::uint32_t listeners() const = 0;
  /// False if publish() of `size` bytes would block now, or make a full queue drop.
  [[nodiscard]] virtual bool has_room(std::size_t size) const = 0;
  /// Memory from which a message is sent without a further copy: a shared-memory slot where
  /// possible, else empty.
  virtual WritableBuffer loan(std::size_t size) = 0;
  [[nodiscard]] virtual const std::string& channel() const = 0;
  /// The Message::sender() of all messages of this publisher.
  [[nodiscard]] virtual std::uint64_t sender() const = 0;
  [[nodiscard]] virtual std::optional<Error> ended() const { return std::nullopt; }
  /// The result of publish() for `size` encoded bytes if no remote receiver can ever accept them.
  /// Counted and logged. Saves the caller a copy of the bytes. None: the size is acceptable, so
  /// publish.
  [[nodiscard]] virtual std::optional<Published> too_large(std::size_t) { return std::nullopt; }
};

/// The common part of the typed and the raw publisher.
class PublisherHandle {
 public:
  /// `size` uninitialised bytes in memory that receivers read directly. For Buffer channels, and
  /// for the attached buffers of images and clouds. Allocates on the heap if shared memory cannot
  /// be used.
  [[nodiscard]] WritableBuffer loan_bytes(std::size_t size) const {
    WritableBuffer memory = core_->loan(size);
    return memory.empty() ? WritableBuffer::on_heap(size) : std::move(memory);
  }
  /// False if publish() of `size` encoded bytes would block now (`overflow: block`), or make a full
  /// queue drop. For publishers that must not block. The room can only be taken by publishers of
  /// this channel in this process. Checks the queues of subscribers in this process and the queue
  /// to each other process, but not the queues of subscribers within other processes. Cost: several
  /// locks. Do not call it for every message of a fast channel.
  [[nodiscard]] bool has_room(std::size_t size) const { return core_->has_room(size); }
  /// Number of subscriptions in this process plus remote receivers.
  [[nodiscard]] std::uint32_t listeners() const { return core_->listeners(); }
  /// Blocks until at least `subscribers` of them would get a message that is published now: they
  /// are connected, their type fits and the channel is open. A process counts once per channel,
  /// however many subscriptions it has. May be called from a callback on the pool: another thread
  /// replaces the blocked one meanwhile. Errors: timeout (with the present number), type_mismatch
  /// (a subscriber was refused), disconnected (the publisher is closed), unsupported (in an
  /// `inline_` callback), overloaded (too many callbacks wait).
  [[nodiscard]] Result<void> wait_for(std::uint32_t subscribers,
                                      Duration timeout = Duration::from_ms(10'000)) const {
    return core_->wait_for(subscribers, timeout);
  }
  [[nodiscard]] const std::string& channel() const { return core_->channel(); }
  /// The Message::sender() of all messages of this publisher.
  [[nodiscard]] std::uint64_t sender() const { return core_->sender(); }
  /// The reason why every publish() fails from now on: the node is closed, or this process is a
  /// forked child of the opening process. Absent: publish() works.
  [[nodiscard]] std::optional<Error> ended() const { return core_->ended(); }
  /// The result of publish() for `size` encoded bytes if no remote receiver can ever accept them.
  /// Counted and logged. None: the size is acceptable, so publish. Saves a useless copy.
  [[nodiscard]] std::optional<Published> too_large(std::size_t size) const {
    return core_->too_large(size);
  }

 protected:
  PublisherHandle() = default;
  explicit PublisherHandle(std::shared_ptr<PublisherCore> core) : core_(std::move(core)) {}
  std::shared_ptr<PublisherCore> core_;
};

}  // namespace detail

/// A struct on loan, in memory that receivers read directly. Publish it with
/// Publisher::publish(std::move(loan)).
template <typename T>
class Loan {
 public:
  explicit Loan(WritableBuffer memory) : memory_(std::move(memory)) {}
  /// False once it was published.
  explicit operator bool() const { return !memory_.empty(); }
  T& operator*() const { return *get(); }
  T* operator->() const { return get(); }
  [[nodiscard]] T* get() const { return std::launder(reinterpret_cast<T*>(memory_.data())); }
  [[nodiscard]] WritableBuffer take() && { return std::move(memory_); }

 private:
  WritableBuffer memory_;
};

/// The publisher of a channel. Cheap to copy and thread-safe. Keeps the channel alive.
///
/// No string is hashed per message and, for structs and bytes, no heap memory is allocated.
/// publish() does not block unless the channel's overflow rule is `block`. A message is encoded
/// only if there are subscribers outside the process, and then once for all of them.
///
/// Each publish() has a try_publish() that never waits. If the overflow rule is `block` and some
/// queue is full, it sends nothing and fails with Code::overloaded. The caller keeps its value and
/// may try again. Such a message counts neither as sent nor as dropped. With another overflow rule
/// try_publish() is publish(). Cost: that of publish() plus, under `block`, that of has_room() and
/// one copy of an encoded value.
template <typename T>
class Publisher : public detail::PublisherHandle {
 public:
  Publisher() = default;
  explicit Publisher(std::shared_ptr<detail::PublisherCore> core)
      : PublisherHandle(std::move(core)) {}

  /// Publishes a value. Local subscribers get a pointer to it. Structs for other processes are
  /// written straight into shared memory.
  Published publish(T value) const {
    detail::BlockRef block = core_->block();
    if constexpr (detail::Structure<T>) {
      if (core_->has_remote()) {
        if (WritableBuffer memory = core_->loan(sizeof(T)); !memory.empty()) {
          std::memcpy(memory.data(), &value, sizeof(T));
          set_in_place(block, std::move(memory));
          return core_->publish(block);
        }
      }
    }
    set_value(block, std::move(value));
    return core_->publish(block);
  }
  Published try_publish(T value) const {
    detail::BlockRef block = core_->block();
    set_value(block, std::move(value));
    return core_->try_publish(block);
  }
  /// Publishes a shared value. Within the process the pointer itself is passed.
  template <typename P>
    requires std::convertible_to<P, std::shared_ptr<const T>>
  Published publish(P value) const {
    return core_->publish(shared(std::move(value)));
  }
  template <typename P>
    requires std::convertible_to<P, std::shared_ptr<const T>>
  Published try_publish(P value) const {
    return core_->try_publish(shared(std::move(value)));
  }
  /// Publishes a received message again, without a copy of its value or its bytes.
  template <std::same_as<Message<T>> M>
  Published publish(const M& message) const {
    return core_->publish(forwarded(message));
  }
  template <std::same_as<Message<T>> M>
  Published try_publish(const M& message) const {
    return core_->try_publish(forwarded(message));
  }
  /// Publishes a loaned struct without a copy. The loan ends, unless publishing failed and nothing
  /// else refers to its memory: then the caller has the loan as before and may publish it again. A
  /// latched channel and a receiver that got the message refer to the memory.
  template <std::same_as<Loan<T>> L>
    requires detail::Structure<T>
  Published publish(L&& loan) const {
    return publish_loan(loan, [this](const auto& block) { return core_->publish(block); });
  }
  template <std::same_as<Loan<T>> L>
    requires detail::Structure<T>
  Published try_publish(L&& loan) const {
    return publish_loan(loan, [this](const auto& block) { return core_->try_publish(block); });
  }

  /// A value-initialised struct in memory that receivers read directly. Destroying it unpublished
  /// returns the memory. On a `block` channel, waits for memory as publish() does.
  [[nodiscard]] Loan<T> loan() const
    requires detail::Structure<T>
  {
    WritableBuffer memory = loan_bytes(sizeof(T));
    ::new (memory.data()) T();
    return Loan<T>(std::move(memory));
  }

 private:
  static void set_value(const detail::BlockRef& block, T&& value) {
    if constexpr (std::same_as<T, Buffer>) block->set_encoded(value, {});
    ::new (block->storage()) T(std::move(value));
    block->set_stored(type_support<T>());
  }
  static void set_in_place(const detail::BlockRef& block, WritableBuffer memory) {
    block->set_encoded(std::move(memory).freeze(), {});
    block->set_in_place(type_support<T>());
  }
  [[nodiscard]] detail::BlockRef shared(std::shared_ptr<const T> value) const {
    detail::BlockRef block = core_->block();
    block->set_shared(type_support<T>(), std::move(value));
    return block;
  }
  [[nodiscard]] detail::BlockRef forwarded(const Message<T>& message) const {
    detail::BlockRef block = core_->block();
    if (message.block()->has_encoded()) {
      const Envelope* encoded = message.block()->encoded();
      block->set_encoded(encoded->payload, encoded->buffers);
    }
    block->set_forwarded(type_support<T>(), message.get(), *message.block());
    return block;
  }
  template <typename Publish>
  Published publish_loan(Loan<T>& loan, Publish publish) const {
    detail::BlockRef block = core_->block();
    set_in_place(block, std::move(loan).take());
    const Published result = publish(block);
    if (!result) loan = Loan<T>(block->take_back());
    return result;
  }
};

/// The publisher of a channel whose type is known only by name.
class RawPublisher : public detail::PublisherHandle {
 public:
  RawPublisher() = default;
  explicit RawPublisher(std::shared_ptr<detail::PublisherCore> core)
      : PublisherHandle(std::move(core)) {}

  /// Publishes encoded bytes without a copy. The payload must be a value of the channel's type,
  /// which is not checked.
  Published publish(const Buffer& payload, const BufferList& buffers = {}) const {
    detail::BlockRef block = core_->block();
    block->set_encoded(payload, buffers);
    return core_->publish(block);
  }
  /// As Publisher::try_publish().
  Published try_publish(const Buffer& payload, const BufferList& buffers = {}) const {
    detail::BlockRef block = core_->block();
    block->set_encoded(payload, buffers);
    return core_->try_publish(block);
  }
  /// Injects a message from another graph. Message::sender() and sequence() are copied from
  /// `message.meta`, which must have a sender. For bridges between graphs.
  Published bring(const Envelope& message) const {
    detail::BlockRef block = core_->block();
    block->meta().sender = message.meta.sender;
    block->meta().sequence = message.meta.sequence;
    block->meta().replayed = message.meta.replayed;
    block->set_encoded(message.payload, message.buffers);
    return core_->publish(block);
  }
};

}  // namespace hyphos
