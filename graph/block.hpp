#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>

#include "hyphos/message.hpp"

namespace hyphos::detail {

/// Blocks of one channel, recycled: publishing allocates only until the pool has grown to the
/// number of messages in flight. Thread-safe. Lives until its channel and its last block are gone.
class BlockPool {
 public:
  /// Blocks with room for one value of `type`; the caller owns one reference.
  static BlockPool* create(const TypeSupport& type);
  void add_ref() { refs_.fetch_add(1, std::memory_order_relaxed); }
  void drop_ref();

  BlockRef take();

 private:
  friend class Block;
  BlockPool(std::size_t size, std::size_t align) : size_(size), align_(align) {}
  ~BlockPool();
  Block* grow();
  void give(Block* block);

  const std::size_t size_;
  const std::size_t align_;
  std::mutex mutex_;
  Block* free_ = nullptr;
  // One reference for the channel and one for every block that is out.
  std::atomic<std::size_t> refs_{1};
};

}  // namespace hyphos::detail
