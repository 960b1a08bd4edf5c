#pragma once

#include <atomic>
#include <cstddef>

#include "base/brief_mutex.hpp"
#include "hyphos/message.hpp"

namespace hyphos::detail {

/// Blocks of one publisher or channel, recycled: publishing allocates only until the pool has grown
/// to the number of messages in flight. Thread-safe. Lives until its owner has closed it and its
/// last block is gone.
///
/// Whoever drops a block pushes it onto `returned_`, without a lock; take() goes through a list of
/// its own and collects the returned ones only when that is empty. So in the steady state the two
/// sides share a cache line once per batch, not once per message.
class BlockPool {
 public:
  /// Blocks with room for one value of `type`.
  static BlockPool* create(const TypeSupport& type);
  /// The owner's last call. Blocks that are out stay valid; the last of them ends the pool.
  void close();

  BlockRef take();

 private:
  friend class Block;
  BlockPool(std::size_t size, std::size_t align) : size_(size), align_(align) {}
  ~BlockPool() = default;
  Block* grow();
  void give(Block* block);
  void destroy(Block* block) const;
  [[nodiscard]] std::int64_t destroy_all(Block* list) const;
  void left(std::int64_t count);

  // `remaining_` stays above 0 until close() has put the number of blocks that are out in its
  // place.
  static constexpr std::int64_t kOpen = std::int64_t{1} << 48;

  const std::size_t size_;
  const std::size_t align_;
  BriefMutex mutex_;
  Block* free_ = nullptr;   // under mutex_
  std::int64_t total_ = 0;  // under mutex_
  alignas(64) std::atomic<Block*> returned_{nullptr};
  std::atomic<std::int64_t> remaining_{kOpen};
};

}  // namespace hyphos::detail
