#include "graph/block.hpp"

#include <algorithm>
#include <new>

#include "base/hot.hpp"
#include "hyphos/time.hpp"

namespace hyphos::detail {
namespace {

std::size_t storage_offset(std::size_t align) {
  return (sizeof(Block) + align - 1) / align * align;
}

// Marks `returned_` as closed. No block has the address of its pool.
Block* closed_mark(BlockPool* pool) { return reinterpret_cast<Block*>(pool); }

}  // namespace

BlockPool* BlockPool::create(const TypeSupport& type) {
  return new BlockPool(type.size, std::max(type.align, alignof(Block)));
}

void BlockPool::destroy(Block* block) const {
  block->~Block();
  ::operator delete(block, std::align_val_t{align_});
}

std::int64_t BlockPool::destroy_all(Block* list) const {
  std::int64_t count = 0;
  for (; list != nullptr; ++count) {
    Block* const next = list->next_;
    destroy(list);
    list = next;
  }
  return count;
}

void BlockPool::left(std::int64_t count) {
  if (remaining_.fetch_sub(count, std::memory_order_acq_rel) == count) delete this;
}

void BlockPool::close() {
  std::int64_t here = 0;
  std::int64_t total = 0;
  {
    const MutexLock lock(mutex_);
    here = destroy_all(std::exchange(free_, nullptr));
    total = total_;  // the owner takes no more blocks
  }
  // From here on, a dropped block is destroyed.
  here += destroy_all(returned_.exchange(closed_mark(this), std::memory_order_acq_rel));
  left(kOpen - (total - here));
}

Block* BlockPool::grow() {
  const std::size_t offset = storage_offset(align_);
  void* memory = ::operator new(offset + size_, std::align_val_t{align_});
  ++total_;
  return ::new (memory) Block(this, static_cast<std::byte*>(memory) + offset);
}

HYPHOS_HOT BlockRef BlockPool::take() {
  const MutexLock lock(mutex_);
  if (free_ == nullptr) free_ = returned_.exchange(nullptr, std::memory_order_acquire);
  Block* const block = free_ != nullptr ? std::exchange(free_, free_->next_) : grow();
  block->refs_.store(1, std::memory_order_relaxed);
  return BlockRef(block);
}

// Blocks are pushed one by one and removed all at once. So a block cannot return unnoticed between
// the load and the exchange (no ABA problem).
HYPHOS_HOT void BlockPool::give(Block* block) {
  Block* seen = returned_.load(std::memory_order_relaxed);
  do {
    if (seen == closed_mark(this)) {
      destroy(block);
      left(1);
      return;
    }
    block->next_ = seen;
  } while (!returned_.compare_exchange_weak(seen, block, std::memory_order_acq_rel,
                                            std::memory_order_acquire));
}

HYPHOS_HOT void Block::recycle() {
  clear();
  pool_->give(this);
}

HYPHOS_HOT void Block::clear() {
  if (stored_) type_->destroy(storage_);
  stored_ = false;
  type_ = nullptr;
  value_ = nullptr;
  decoded_ns_ = 0;
  shared_.reset();
  if (upstream_ != nullptr) std::exchange(upstream_, nullptr)->drop_ref();
  envelope_.meta = {};
  envelope_.payload = {};
  envelope_.buffers.clear();
  decode_state_.store(kNone, std::memory_order_relaxed);
  encode_state_.store(kNone, std::memory_order_relaxed);
}

HYPHOS_HOT void Block::set_stored(const TypeSupport& type) {
  stored_ = true;
  type_ = &type;
  value_ = storage_;
  decode_state_.store(kReady, std::memory_order_release);
}

HYPHOS_HOT void Block::set_shared(const TypeSupport& type, std::shared_ptr<const void> owner) {
  type_ = &type;
  shared_ = std::move(owner);
  value_ = shared_.get();
  decode_state_.store(kReady, std::memory_order_release);
}

HYPHOS_HOT void Block::set_encoded(const Buffer& payload, const BufferList& buffers) {
  envelope_.payload = payload;
  envelope_.buffers = buffers;
  encode_state_.store(kReady, std::memory_order_release);
}

HYPHOS_HOT void Block::set_encoded(Envelope&& envelope) {
  envelope_ = std::move(envelope);
  encode_state_.store(kReady, std::memory_order_release);
}

HYPHOS_HOT void Block::set_in_place(const TypeSupport& type) {
  type_ = &type;
  value_ = envelope_.payload.data();
  decode_state_.store(kReady, std::memory_order_release);
}

WritableBuffer Block::take_back() {
  Buffer& payload = envelope_.payload;
  BufferOwner* const owner = payload.owner();
  if (refs_.load(std::memory_order_acquire) != 1 || owner == nullptr || !owner->unique()) return {};
  // The caller was the writer of this memory, and no reader has it.
  auto* const data = const_cast<std::byte*>(payload.data());
  const std::size_t size = payload.size();
  owner->add_ref();  // for the result. The payload keeps its own until the next line
  payload = {};
  encode_state_.store(kNone, std::memory_order_relaxed);
  decode_state_.store(kNone, std::memory_order_relaxed);
  value_ = nullptr;
  return {data, size, owner};
}

HYPHOS_HOT void Block::set_forwarded(const TypeSupport& type, const void* value, Block& upstream) {
  upstream.add_ref();
  upstream_ = &upstream;
  type_ = &type;
  value_ = value;
  decode_state_.store(kReady, std::memory_order_release);
}

HYPHOS_HOT bool Block::decode_now(const TypeSupport& type) {
  const auto address = reinterpret_cast<std::uintptr_t>(envelope_.payload.data());
  if (type.in_place && envelope_.payload.size() == type.size && address % type.align == 0) {
    type_ = &type;
    value_ = envelope_.payload.data();
    return true;
  }
  if (type.size <= pool_->size_ && type.align <= pool_->align_) {
    if (!type.decode(envelope_, storage_)) return false;
    stored_ = true;
    type_ = &type;
    value_ = storage_;
  } else {
    // The channel was first opened by an endpoint that knows the type only by name, so the block
    // has no room for a value.
    const std::align_val_t align{type.align};
    void* memory = ::operator new(type.size, align);
    if (!type.decode(envelope_, memory)) return ::operator delete(memory, align), false;
    shared_ = std::shared_ptr<const void>(memory, [&type, align](void* value) {
      type.destroy(value);
      ::operator delete(value, align);
    });
    type_ = &type;
    value_ = memory;
  }
  decoded_ns_ = monotonic_now().ns;
  return true;
}

HYPHOS_HOT const void* Block::value(const TypeSupport& type) {
  std::uint8_t state = decode_state_.load(std::memory_order_acquire);
  while (state != kReady) {
    if (state == kFailed) return nullptr;
    if (state == kNone && decode_state_.compare_exchange_strong(state, kBusy)) {
      const bool good = decode_now(type);
      decode_state_.store(good ? kReady : kFailed, std::memory_order_release);
      decode_state_.notify_all();
      return good ? value_ : nullptr;
    }
    decode_state_.wait(kBusy, std::memory_order_acquire);
    state = decode_state_.load(std::memory_order_acquire);
  }
  return value_;
}

HYPHOS_HOT std::size_t Block::encoded_size() const {
  return type_ != nullptr && type_->encoded_size != nullptr ? type_->encoded_size(value_) : 0;
}

HYPHOS_HOT bool Block::encode_now(WritableBuffer memory) {
  if (type_ == nullptr) return false;
  if (type_->borrow != nullptr) {
    envelope_.payload = type_->borrow(value_);
  } else {
    const std::size_t size = encoded_size();
    if (type_->encode == nullptr) return false;  // Encoding::none
    if (memory.size() < size) memory = WritableBuffer::on_heap(size);
    if (!type_->encode(value_, memory.bytes().first(size))) return false;
    envelope_.payload = std::move(memory).freeze(size);
  }
  if (type_->attach != nullptr) type_->attach(value_, envelope_.buffers);
  return true;
}

HYPHOS_HOT const Envelope* Block::encoded(WritableBuffer memory) {
  std::uint8_t state = encode_state_.load(std::memory_order_acquire);
  while (state != kReady) {
    if (state == kFailed) return nullptr;
    if (state == kNone && encode_state_.compare_exchange_strong(state, kBusy)) {
      const bool good = encode_now(std::move(memory));
      encode_state_.store(good ? kReady : kFailed, std::memory_order_release);
      encode_state_.notify_all();
      return good ? &envelope_ : nullptr;
    }
    encode_state_.wait(kBusy, std::memory_order_acquire);
    state = encode_state_.load(std::memory_order_acquire);
  }
  return &envelope_;
}

}  // namespace hyphos::detail
