#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "hyphos/codec.hpp"
#include "hyphos/envelope.hpp"

namespace hyphos {

namespace detail {

class BlockPool;

/// One message in this process, shared by all subscriptions: its value, its encoded message, or
/// both.
///
/// Invariants: (1) a block that is visible to a second thread never changes except by (2). (2) The
/// missing representation is made at most once, by the first thread that needs it (`decode_state_`,
/// `encode_state_`). (3) The last reference returns the block to its pool, whichever thread drops
/// it.
class HYPHOS_EXPORT Block {
 public:
  Meta& meta() { return envelope_.meta; }
  [[nodiscard]] const Meta& meta() const { return envelope_.meta; }
  /// The encoded message of a block that has_encoded(), else incomplete.
  [[nodiscard]] const Envelope& envelope() const { return envelope_; }

  /// The typed value, decoded on first use. Null if the bytes are corrupt. `type` is the caller's
  /// TypeSupport and has the type id of the channel.
  const void* value(const TypeSupport& type);
  /// The encoded message, made on first use. Null if the value cannot be encoded. The encoder
  /// writes to `memory` if that holds encoded_size() bytes.
  const Envelope* encoded(WritableBuffer memory = {});
  [[nodiscard]] std::int64_t decoded_ns() const { return decoded_ns_; }

  void add_ref() { refs_.fetch_add(1, std::memory_order_relaxed); }
  void drop_ref() {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) recycle();
  }

  // The following functions are for the single writer, before the block is published.

  void* storage() { return storage_; }
  /// Marks that a value was constructed in storage().
  void set_stored(const TypeSupport& type);
  /// Refers to a value of the user. `owner` keeps it alive.
  void set_shared(const TypeSupport& type, std::shared_ptr<const void> owner);
  /// Refers to the value of another block, which stays alive as long as this block.
  void set_forwarded(const TypeSupport& type, const void* value, Block& upstream);
  /// Stores the encoded message only. Values of in-place types are read in `payload`.
  void set_encoded(const Buffer& payload, const BufferList& buffers);
  void set_encoded(Envelope&& envelope);
  /// Number of bytes that encoding needs. 0 if the payload exists already.
  [[nodiscard]] std::size_t encoded_size() const;
  [[nodiscard]] bool has_encoded() const {
    return encode_state_.load(std::memory_order_acquire) == kReady;
  }
  /// Uses the encoded payload as the typed value, so that no value is constructed.
  void set_in_place(const TypeSupport& type);
  /// The memory of the payload, if nothing else refers to the block or to the memory. Else empty.
  [[nodiscard]] WritableBuffer take_back();

 private:
  friend class BlockPool;
  enum State : std::uint8_t { kNone, kBusy, kReady, kFailed };

  Block(BlockPool* pool, void* storage) : pool_(pool), storage_(storage) {}
  bool decode_now(const TypeSupport& type);
  void recycle();
  void clear();
  bool encode_now(WritableBuffer memory);

  std::atomic<std::uint32_t> refs_{1};
  std::atomic<std::uint8_t> decode_state_{kNone};
  std::atomic<std::uint8_t> encode_state_{kNone};
  bool stored_ = false;
  const TypeSupport* type_ = nullptr;
  const void* value_ = nullptr;
  std::int64_t decoded_ns_ = 0;
  Envelope envelope_;
  std::shared_ptr<const void> shared_;
  Block* upstream_ = nullptr;
  BlockPool* pool_;
  void* storage_;
  Block* next_ = nullptr;
};

/// A counted pointer to a Block.
class BlockRef {
 public:
  BlockRef() = default;
  explicit BlockRef(Block* adopted) : block_(adopted) {}
  BlockRef(const BlockRef& other) : block_(other.block_) {
    if (block_ != nullptr) block_->add_ref();
  }
  BlockRef(BlockRef&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  BlockRef& operator=(BlockRef other) noexcept { return std::swap(block_, other.block_), *this; }
  ~BlockRef() {
    if (block_ != nullptr) block_->drop_ref();
  }
  Block* operator->() const { return block_; }
  Block& operator*() const { return *block_; }
  explicit operator bool() const { return block_ != nullptr; }
  [[nodiscard]] Block* get() const { return block_; }
  /// Gives up the reference without ending it.
  [[nodiscard]] Block* release() { return std::exchange(block_, nullptr); }

 private:
  Block* block_ = nullptr;
};

/// One message of a subscription's queue, passed to the callback.
struct Delivery {
  BlockRef block;
  std::int64_t arrived_ns = 0;
  std::int64_t scheduled_ns = 0;
  std::int64_t callback_ns = 0;
  bool replayed = false;
};

}  // namespace detail

/// A received message: a counted handle to an immutable value that all subscribers share.
///
/// Copy it to keep the message beyond the callback. A copy of a message in shared memory occupies
/// its slot. Reading is thread-safe. Copying costs one atomic increment and never copies the value.
template <typename T>
class Message {
 public:
  Message() = default;
  Message(const detail::Delivery& delivery, const void* value)
      : block_(delivery.block),
        value_(static_cast<const T*>(value)),
        arrived_ns_(delivery.arrived_ns),
        scheduled_ns_(delivery.scheduled_ns),
        callback_ns_(delivery.callback_ns),
        replayed_(delivery.replayed) {}

  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_; }
  [[nodiscard]] const T* get() const { return value_; }
  explicit operator bool() const { return value_ != nullptr; }

  /// Takes a std::unique_ptr out of the message. Later calls, also on copies of the message, return
  /// null. Call it in one thread. Such a channel has one subscription, so nothing else reads the
  /// value.
  [[nodiscard]] T take() const
    requires(detail::IsUnique<T>::value)
  {
    return std::exchange(*const_cast<T*>(value_), nullptr);  // the value itself is not const
  }

  [[nodiscard]] std::uint64_t sequence() const { return block_->meta().sequence; }
  [[nodiscard]] std::uint64_t sender() const { return block_->meta().sender; }
  /// True for a latched value that was sent to a late subscriber.
  [[nodiscard]] bool replayed() const { return replayed_; }
  /// The times at which the message passed each layer up to this callback.
  [[nodiscard]] Stamps stamps() const {
    Stamps stamps = block_->meta().stamps;
    if (arrived_ns_ != 0) stamps.arrived = arrived_ns_;
    stamps.scheduled = scheduled_ns_;
    stamps.decoded = block_->decoded_ns();
    stamps.callback = callback_ns_;
    return stamps;
  }
  [[nodiscard]] const detail::BlockRef& block() const { return block_; }

 private:
  detail::BlockRef block_;
  const T* value_ = nullptr;
  std::int64_t arrived_ns_ = 0;
  std::int64_t scheduled_ns_ = 0;
  std::int64_t callback_ns_ = 0;
  bool replayed_ = false;
};

/// A message of a type known only by name: its bytes as received. For tools and other languages.
struct RawMessage {
  Buffer payload;
  BufferList buffers = {};
};

/// A counted reference to a received message of any type, as bytes. For requests and replies of
/// types known only by name, and for languages that keep a message behind a pointer.
///
/// Copy it to keep the message beyond the callback. A reference to a message in shared memory
/// occupies its slot. Reading is thread-safe. Copying costs one atomic increment and never copies
/// the bytes.
class MessageRef {
 public:
  MessageRef() = default;
  template <typename T>
  explicit MessageRef(const Message<T>& message)
      : block_(message.block()),
        arrived_ns_(message.stamps().arrived),
        replayed_(message.replayed()) {}
  explicit MessageRef(const detail::Delivery& delivery)
      : block_(delivery.block), arrived_ns_(delivery.arrived_ns), replayed_(delivery.replayed) {}

  explicit operator bool() const { return static_cast<bool>(block_); }
  /// The encoded message, valid as long as a reference to the message. Null if its value cannot be
  /// encoded. Cost: one atomic load. The first read of a value that was sent as a pointer within
  /// the process encodes it, which may allocate.
  [[nodiscard]] const Envelope* encoded() const { return block_->encoded(); }
  [[nodiscard]] const Meta& meta() const { return block_->meta(); }
  /// CLOCK_MONOTONIC, 0 if the message did not leave the process.
  [[nodiscard]] std::int64_t arrived_ns() const { return arrived_ns_; }
  /// True for a latched value that was sent to a late subscriber.
  [[nodiscard]] bool replayed() const { return replayed_; }

  /// The message as an opaque pointer, valid as long as a reference to the message.
  [[nodiscard]] void* handle() const { return block_.get(); }
  template <typename T>
  [[nodiscard]] static void* handle_of(const Message<T>& message) {
    return message.block().get();
  }
  /// A new reference to the message of a valid handle. It has no arrived_ns() and replayed().
  [[nodiscard]] static MessageRef share(void* handle) {
    MessageRef made = adopt(handle);
    if (made) made.block_->add_ref();
    return made;
  }
  /// Gives up the reference without ending it. Exactly one adopt() must follow. Null if empty.
  [[nodiscard]] void* release() { return block_.release(); }
  /// Takes over the reference that release() gave up.
  [[nodiscard]] static MessageRef adopt(void* handle) {
    MessageRef made;
    made.block_ = detail::BlockRef(static_cast<detail::Block*>(handle));
    return made;
  }

 private:
  detail::BlockRef block_;
  std::int64_t arrived_ns_ = 0;
  bool replayed_ = false;
};

}  // namespace hyphos
