#pragma once

#include <atomic>
#include <cstddef>

#include "base/brief_mutex.hpp"
#include "hyphos/message.hpp"

namespace hyphos::detail {

/// A pool of recycled blocks for one publisher or channel. Publishing allocates only until the pool
/// has as many blocks as there are messages in flight. Thread-safe. The pool lives until its owner
/// has closed it and its last block is gone.
///
/// A dropped block is pushed onto `returned_` without a lock. take() uses a list of its own and
/// collects the returned blocks only when that list is empty. So in the steady state the two sides
/// share a cache line once per batch, not once per message.
class BlockPool {
 public:
  /// Blocks with room for one value of `type`.
  static BlockPool* create(const TypeSupport& type);
  /// The owner's last call. Blocks in use stay valid, and the last of them destroys the pool.
  void close();

  BlockRef take();

 private:
  friend class Block;
  BlockPool(std::size_t size, std::size_t align) : size_(size), align_(align) {}
  ~BlockPool() = default;
  Block* grow() HYPHOS_REQUIRES(mutex_);
  void give(Block* block);
  void destroy(Block* block) const;
  [[nodiscard]] std::int64_t destroy_all(Block* list) const;
  void left(std::int64_t count);

  // `remaining_` stays above 0 until close() replaces kOpen by the number of blocks in use.
  static constexpr std::int64_t kOpen = std::int64_t{1} << 48;

  const std::size_t size_;
  const std::size_t align_;
  BriefMutex mutex_;
  Block* free_ HYPHOS_GUARDED_BY(mutex_) = nullptr;
  std::int64_t total_ HYPHOS_GUARDED_BY(mutex_) = 0;
  alignas(64) std::atomic<Block*> returned_{nullptr};
  std::atomic<std::int64_t> remaining_{kOpen};
};

}  // namespace hyphos::detail
