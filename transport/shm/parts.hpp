#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/brief_mutex.hpp"
#include "base/call_gate.hpp"
#include "base/latched_cache.hpp"
#include "base/log.hpp"
#include "base/mutex.hpp"
#include "shm/descriptor_ring.hpp"
#include "shm/participant.hpp"
#include "transport/shm/peer.hpp"
#include "transport/transport.hpp"

/// The data of the shared-memory transport that its sender, receiver and directory share.
namespace hyphos::transport::shm_detail {

inline constexpr std::string_view kName = "shm";

/// A fixed number of zeroed items. A page takes memory only after its first write.
template <typename T>
class Sparse {
  static_assert(std::is_trivially_destructible_v<T>);

 public:
  explicit Sparse(std::size_t size)
      : items_(static_cast<T*>(std::calloc(size, sizeof(T)))), size_(size) {
    if (items_ == nullptr) std::abort();
  }
  [[nodiscard]] T& operator[](std::size_t i) { return items_[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return items_[i]; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(T* items) const { std::free(items); }
  };
  std::unique_ptr<T[], Free> items_;
  std::size_t size_;
};

/// Leaks the handle. In a forked child, the thread does not exist, and the destructor of the handle
/// would touch it.
inline void leak(std::thread& thread) {
  static_cast<void>(std::make_unique<std::thread>(std::move(thread)).release());
}

/// A complete message in shared memory.
struct Prepared {
  struct External {
    shm::Segment* segment = nullptr;
    const std::shared_ptr<shm::Segment>* shared = nullptr;  ///< set if it is held, not owned
    std::uint32_t slot = 0;
  };

  Buffer primary;  ///< holds the slot with the header
  shm::Segment* segment = nullptr;
  std::uint32_t slot = 0;
  std::array<External, shm::kMaxParts> external;
  std::size_t externals = 0;

  /// True if a part is in the memory of another participant, which may die.
  [[nodiscard]] bool forwards() const {
    return std::any_of(external.begin(), external.begin() + externals,
                       [](const External& one) { return one.shared != nullptr; });
  }
};

/// The last message of one publisher of a latched channel. From the first receiver on, it is in
/// shared memory once, for any number of late receivers. The receivers and this process hold the
/// same slot.
struct KeptMessage {
  Envelope message;  ///< holds the memory that `prepared.external` points to
  Prepared prepared;
  static std::uint64_t sender_of(const KeptMessage& kept) { return kept.message.meta.sender; }
};

/// A descriptor ring from this process to a peer.
struct TxRing {
  std::shared_ptr<Peer> peer;
  shm::DescriptorRing ring;
  shm::ControlHeader* doorbell = nullptr;  ///< in the peer's control file
  std::uint64_t serial = 0;
  BriefMutex producer;  ///< L2: one thread at a time
  std::atomic<bool> gone{false};
  bool tool = false;  ///< from a process of a plan to one without a plan
  // For latched channels. A new ring first receives the last value of each publisher, independent
  // of its depth. The `spare` cells are for these values and for notices.
  std::uint32_t spare = 0;
  std::atomic<std::uint64_t> replays{0};

  /// True if there is no room for a message.
  [[nodiscard]] bool full() const {
    return spare == 0 ? ring.full() : ring.full(spare, replays.load(std::memory_order_relaxed));
  }
};
using TxRings = std::vector<std::shared_ptr<TxRing>>;

/// An open channel.
struct Port {
  ChannelSpec spec;
  ReceiveSink* sink = nullptr;
  SendEvents* send_events = nullptr;
  std::uint64_t serial = 0;
  std::uint32_t endpoint = 0;  ///< index of `record` in our table
  shm::EndpointRecord record{};
  CallGate gate;                 ///< around every call into the receive sink and the send events
  log::OncePerSecond limit_log;  ///< for messages that cannot be sent

  // Sending.
  BriefMutex rings_mutex;
  std::shared_ptr<const TxRings> rings HYPHOS_GUARDED_BY(rings_mutex) = std::make_shared<TxRings>();
  /// A late receiver gets the cached message or the next one, not both.
  BriefMutex latch HYPHOS_ACQUIRED_BEFORE(rings_mutex);
  LatchedCache<KeptMessage, KeptMessage::sender_of> kept HYPHOS_GUARDED_BY(latch);

  // Receiving: see Receiver::visit.
  std::atomic<std::uint64_t> space_epoch{0};
  std::atomic<std::uint32_t> paused{0};

  [[nodiscard]] std::shared_ptr<const TxRings> tx_rings() {
    const MutexLock lock(rings_mutex);
    return rings;
  }
  [[nodiscard]] bool blocks() const { return spec.policy.overflow == Overflow::block; }
};

/// A segment of a third participant, as one receiving ring caches it.
struct KnownRelay {
  std::uint64_t owner = 0;
  std::uint32_t number = 0;
  std::shared_ptr<const shm::SegmentHold> segment_hold;
};

/// A descriptor ring from a peer to this process.
struct RxRing {
  std::shared_ptr<Peer> peer;
  std::shared_ptr<Port> port;
  shm::DescriptorRing ring;
  std::uint64_t serial = 0;
  std::uint64_t publication = 0;
  std::uint32_t spare = 0;  ///< the same number as the sender's
  std::atomic<bool> sender_gone{false};
  std::atomic<bool> finished{false};  ///< the sender has left and all its messages were taken

  enum class Reply : std::uint8_t { none, attached, refused };
  Reply reported = Reply::none;  ///< to the receive sink. For the directory
  /// The reply of the sender. After the reply `attached`, it loses no message.
  [[nodiscard]] Reply reply() const {
    const shm::RingHeader& header = ring.header();
    const std::uint32_t refused = header.refused.load();
    if (refused == 0) return Reply::attached;
    if (refused != shm::kNoReply) return Reply::refused;
    // It may have pushed cached messages and died before its reply.
    return sender_gone.load() && header.tail.load() != 0 ? Reply::attached : Reply::none;
  }

  // For the receiving thread.
  std::vector<std::shared_ptr<const shm::SegmentHold>> segments;  ///< the sender's, by number
  std::vector<KnownRelay> forwards;
  std::optional<Envelope> kept;  ///< deliver() returned false for it
  std::uint64_t kept_epoch = 0;

  [[nodiscard]] bool has_hold(std::uint32_t segment) const {
    return segment < segments.size() && segments[segment] != nullptr;
  }
};

}  // namespace hyphos::transport::shm_detail
