#pragma once

#include <memory>
#include <optional>
#include <string>

#include "hyphos/message.hpp"
#include "hyphos/result.hpp"

namespace hyphos {

/// What became of one publish(): how many queues took the message and how many did not.
struct Published {
  std::uint64_t sequence = 0;
  std::uint32_t accepted = 0;  ///< queues (local subscriptions and remote receivers) that took it
  std::uint32_t dropped = 0;   ///< queues that did not; each is counted under its reason
  /// Set when a promise was broken: `block` timed out, a reliable receiver is gone, the value
  /// cannot be encoded, no memory is left, the message is too large for every receiver outside, or
  /// the channel is closed.
  std::optional<Code> failure;

  explicit operator bool() const { return !failure.has_value(); }
};

namespace detail {

/// The type-erased half of a Publisher; implemented in graph/.
class HYPHOS_EXPORT PublisherCore {
 public:
  virtual ~PublisherCore() = default;
  /// An empty block with room for one value of the channel's type. Pooled: allocates only to grow.
  virtual BlockRef block() = 0;
  virtual Published publish(BlockRef block) = 0;
  /// True if somebody outside the process listens: then in-place values are built where they are
  /// sent.
  [[nodiscard]] virtual bool has_remote() const = 0;
  [[nodiscard]] virtual std::uint32_t listeners() const = 0;
  /// False if publish() of so many bytes would wait now, or make a full queue drop.
  [[nodiscard]] virtual bool has_room(std::size_t size) const = 0;
  /// Memory in which a message needs no further copy: a shared-memory slot if one is of use.
  virtual WritableBuffer loan(std::size_t size) = 0;
  [[nodiscard]] virtual const std::string& channel() const = 0;
  /// Message::sender() of all that it publishes.
  [[nodiscard]] virtual std::uint64_t sender() const = 0;
  [[nodiscard]] virtual std::optional<Error> ended() const { return std::nullopt; }
  /// The result of publish() for so many encoded bytes if no receiver outside can ever take them.
  /// Counted and logged. Spares callers the copy of the bytes. None: publish.
  [[nodiscard]] virtual std::optional<Published> too_large(std::size_t) { return std::nullopt; }
};

/// What the typed and the raw publisher have in common.
class PublisherHandle {
 public:
  /// `size` uninitialised bytes where receivers will read them: for Buffer channels, and for the
  /// attached buffers of images and clouds. Falls back to the heap if no shared memory is of use.
  [[nodiscard]] WritableBuffer loan_bytes(std::size_t size) const {
    WritableBuffer memory = core_->loan(size);
    return memory.empty() ? WritableBuffer::on_heap(size) : std::move(memory);
  }
  /// False if publish() of so many encoded bytes would wait now (`overflow: block`), or make a full
  /// queue drop. For publishers that must not wait. Until they publish, only publishers of this
  /// channel in this process can take the room. Checks the queue towards each other process, but
  /// not the queues of subscribers within it.
  /// Cost: some locks. Do not call it for every message of a fast channel.
  [[nodiscard]] bool has_room(std::size_t size) const { return core_->has_room(size); }
  /// Subscriptions in this process plus receivers outside.
  [[nodiscard]] std::uint32_t listeners() const { return core_->listeners(); }
  [[nodiscard]] const std::string& channel() const { return core_->channel(); }
  /// Message::sender() of all that it publishes.
  [[nodiscard]] std::uint64_t sender() const { return core_->sender(); }
  /// The reason why each publish() fails from now on: its node is closed, or this process is a
  /// forked child of the one that opened it. Absent: publish() works.
  [[nodiscard]] std::optional<Error> ended() const { return core_->ended(); }
  /// The result of publish() for a message of so many encoded bytes if no receiver outside can ever
  /// take it. Counted and logged. None: publish it. Spares a useless copy.
  [[nodiscard]] std::optional<Published> too_large(std::size_t size) const {
    return core_->too_large(size);
  }

 protected:
  PublisherHandle() = default;
  explicit PublisherHandle(std::shared_ptr<PublisherCore> core) : core_(std::move(core)) {}
  std::shared_ptr<PublisherCore> core_;
};

}  // namespace detail

/// A struct on loan, built where it will be read. Publish it with
/// Publisher::publish(std::move(loan)).
template <typename T>
class Loan {
 public:
  explicit Loan(WritableBuffer memory) : memory_(std::move(memory)) {}
  T& operator*() const { return *get(); }
  T* operator->() const { return get(); }
  [[nodiscard]] T* get() const { return std::launder(reinterpret_cast<T*>(memory_.data())); }
  [[nodiscard]] WritableBuffer take() && { return std::move(memory_); }

 private:
  WritableBuffer memory_;
};

/// The sending end of a channel. Cheap to copy; thread-safe; keeps the channel alive.
///
/// No string is hashed and, for structs and bytes, no heap memory is allocated per message.
/// publish() does not block unless the channel's overflow rule is `block`. Nothing is encoded while
/// nobody outside the process listens, and once per message however many do.
template <typename T>
class Publisher : public detail::PublisherHandle {
 public:
  Publisher() = default;
  explicit Publisher(std::shared_ptr<detail::PublisherCore> core)
      : PublisherHandle(std::move(core)) {}

  /// Publishes a value. Local subscribers get a pointer to it; structs for other processes are
  /// written straight into shared memory.
  Published publish(T value) const {
    detail::BlockRef block = core_->block();
    if constexpr (detail::Structure<T>) {
      if (core_->has_remote()) {
        if (WritableBuffer memory = core_->loan(sizeof(T)); !memory.empty()) {
          std::memcpy(memory.data(), &value, sizeof(T));
          return publish_in_place(std::move(block), std::move(memory));
        }
      }
    } else if constexpr (std::same_as<T, Buffer>) {
      block->set_encoded(value, {});
    }
    ::new (block->storage()) T(std::move(value));
    block->set_stored(type_support<T>());
    return core_->publish(std::move(block));
  }
  /// Publishes without moving the value: the pointer itself travels inside the process.
  template <typename P>
    requires std::convertible_to<P, std::shared_ptr<const T>>
  Published publish(P value) const {
    detail::BlockRef block = core_->block();
    block->set_shared(type_support<T>(), std::shared_ptr<const T>(std::move(value)));
    return core_->publish(std::move(block));
  }
  /// Sends a received message onward, without a copy of its value or its bytes.
  template <std::same_as<Message<T>> M>
  Published publish(const M& message) const {
    detail::BlockRef block = core_->block();
    if (message.block()->has_encoded()) {
      const Envelope* encoded = message.block()->encoded();
      block->set_encoded(encoded->payload, encoded->buffers);
    }
    block->set_forwarded(type_support<T>(), message.get(), *message.block());
    return core_->publish(std::move(block));
  }
  template <std::same_as<Loan<T>> L>
    requires detail::Structure<T>
  Published publish(L loan) const {
    return publish_in_place(core_->block(), std::move(loan).take());
  }

  /// A value-initialised struct in the memory where receivers will read it. May be dropped.
  [[nodiscard]] Loan<T> loan() const
    requires detail::Structure<T>
  {
    WritableBuffer memory = loan_bytes(sizeof(T));
    ::new (memory.data()) T();
    return Loan<T>(std::move(memory));
  }

 private:
  Published publish_in_place(detail::BlockRef block, WritableBuffer memory) const {
    block->set_encoded(std::move(memory).freeze(), {});
    block->set_in_place(type_support<T>());
    return core_->publish(std::move(block));
  }
};

/// The sending end of a channel whose type is known only by name.
class RawPublisher : public detail::PublisherHandle {
 public:
  RawPublisher() = default;
  explicit RawPublisher(std::shared_ptr<detail::PublisherCore> core)
      : PublisherHandle(std::move(core)) {}

  Published publish(const Buffer& payload, const BufferList& buffers = {}) const {
    detail::BlockRef block = core_->block();
    block->set_encoded(payload, buffers);
    return core_->publish(std::move(block));
  }
  /// Brings a message of a sender elsewhere into this graph: Message::sender() and sequence() are
  /// those of `message.meta`, which must name a sender. For what carries messages between graphs.
  Published bring(const Envelope& message) const {
    detail::BlockRef block = core_->block();
    block->meta().sender = message.meta.sender;
    block->meta().sequence = message.meta.sequence;
    block->meta().replayed = message.meta.replayed;
    block->set_encoded(message.payload, message.buffers);
    return core_->publish(std::move(block));
  }
};

}  // namespace hyphos
