#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

/// The layout of shared memory, byte for byte. Any process may write to it at any time, and a
/// broken process may write anything. So readers copy a value once and check the copy.
///
/// Files of one domain, in /dev/shm/hyphos-<uid>/<domain>/, where <id> is the participant's id:
/// - <id>.ctl: identity, doorbell, endpoints and the rings to this participant. Locked for life.
/// - <id>.sock: a datagram here means that some participant's tables have changed.
/// - <id>.<n>.pool: slots for messages that this participant sends.
/// - <id>.<n>.lane: one descriptor ring to this participant.
/// - <id>.metrics: counters and histograms, whose layout is defined elsewhere.
namespace hyphos::shm {

inline constexpr std::uint64_t kMagic = 0x314d'4853'4f48'5948;  // "HYHOSHM1"
inline constexpr std::uint32_t kLayoutVersion = 4;

inline constexpr std::size_t kCacheLine = 64;
inline constexpr std::size_t kPage = 4096;
// Files grow on demand: a pool file by groups of holders, a .ctl by chunks of its tables.
inline constexpr std::uint32_t kGroupHolders = 64;  ///< holder entries of one group
inline constexpr std::uint32_t kMaxHolderGroups = 16;
/// (receiver, via) pairs per pool segment.
inline constexpr std::uint32_t kMaxHolders = kGroupHolders * kMaxHolderGroups;
/// Participants that receive from one sender. The other holder entries are for relaying processes.
inline constexpr std::uint32_t kMaxReceivers = 960;
inline constexpr std::uint32_t kChunkRecords = 128;   ///< endpoints, and rings, of one chunk
inline constexpr std::uint32_t kMaxEndpoints = 8192;  ///< per participant
inline constexpr std::uint32_t kMaxToolsOnly = 4096;  ///< ... of which are only for tools
inline constexpr std::uint32_t kMaxRings = 8192;      ///< rings to one participant
inline constexpr std::uint32_t kMaxRefusals = 128;    ///< further records: see RingRecord
inline constexpr std::uint32_t kMaxSegments = 1024;   ///< pool segments of one participant, ever
inline constexpr std::uint32_t kMaxParts = 9;         ///< payload and eight attached buffers
inline constexpr std::uint32_t kMaxDepth = 65536;
inline constexpr std::size_t kNameSize = 192;
inline constexpr std::size_t kShortNameSize = 64;

enum class FileKind : std::uint32_t { control = 1, pool = 2, ring = 3 };

/// The first bytes of every file except the metrics.
struct FileHeader {
  std::uint64_t magic;
  std::uint32_t version;
  FileKind kind;
  std::uint64_t owner;  ///< participant id
  std::uint64_t size;   ///< of the file at its creation

  [[nodiscard]] bool matches(FileKind wanted, std::uint64_t wanted_owner,
                             std::uint64_t actual_size) const {
    return magic == kMagic && version == kLayoutVersion && kind == wanted &&
           owner == wanted_owner && size == actual_size;
  }
};

/// A value that one process writes occasionally and any other process may read at any time (a
/// seqlock). The words are atomics with release and acquire. So a reader that saw one new word also
/// sees the odd counter and tries again.
template <typename T>
class Published {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % 8 == 0);
  static constexpr std::size_t kWords = sizeof(T) / 8;

 public:
  /// One writer at a time.
  void write(const T& value) {
    std::array<std::uint64_t, kWords> words;
    std::memcpy(words.data(), &value, sizeof value);
    const std::uint32_t before = counter_.load(std::memory_order_relaxed);
    counter_.store(before | 1, std::memory_order_relaxed);
    for (std::size_t i = 0; i < kWords; ++i) words_[i].store(words[i], std::memory_order_release);
    counter_.store((before | 1) + 1, std::memory_order_release);
  }

  /// False if the writer is in the middle of a change, or died there. After the change, it sends a
  /// notice.
  [[nodiscard]] bool read(T& value) const {
    std::array<std::uint64_t, kWords> words;
    for (int attempt = 0; attempt < 100; ++attempt) {
      const std::uint32_t before = counter_.load(std::memory_order_acquire);
      if ((before & 1) != 0) continue;
      for (std::size_t i = 0; i < kWords; ++i) words[i] = words_[i].load(std::memory_order_acquire);
      if (counter_.load(std::memory_order_relaxed) != before) continue;
      std::memcpy(&value, words.data(), sizeof value);
      return true;
    }
    return false;
  }

 private:
  std::atomic<std::uint32_t> counter_;
  std::uint32_t reserved_;
  std::array<std::atomic<std::uint64_t>, kWords> words_;
};

template <std::size_t N>
void put_text(std::array<char, N>& to, std::string_view text) {
  to.fill('\0');
  std::memcpy(to.data(), text.data(), std::min(text.size(), N - 1));
}
template <std::size_t N>
[[nodiscard]] std::string get_text(const std::array<char, N>& from) {
  return {from.data(), ::strnlen(from.data(), N)};
}

/// A publication or subscription of one channel.
struct EndpointRecord {
  std::uint64_t serial;  ///< unique within the participant. 0: the record is free
  std::uint64_t type_hash;
  std::uint32_t depth;
  std::uint8_t is_publisher;
  std::uint8_t encoding;
  std::uint16_t flags;         ///< kGuest, kForGuests, kKeepsLast
  std::uint64_t realm;         ///< a hash of this host's name in the plan. 0: any
  std::uint64_t channel_hash;  ///< of the name, for a fast search
  std::array<char, kNameSize> channel;
  std::array<char, kNameSize> type;
};

inline constexpr std::uint16_t kGuest = 1;      ///< from a process without a plan
inline constexpr std::uint16_t kToolsOnly = 2;  ///< the plan's own processes use another transport
inline constexpr std::uint16_t kKeepsLast = 4;  ///< a publication of a latched channel
/// Cells of a ring from such a publication beyond its depth, for the last values of its publishers.
inline constexpr std::uint32_t kLatchedCells = 256;

/// True if two endpoints may be connected, provided that channel and type agree. Tools match all
/// endpoints. Processes of a plan do not match where the plan uses another transport: on a channel
/// that the plan assigns to another one, and between its hosts. Several hosts may share one
/// /dev/shm (network namespaces).
[[nodiscard]] inline bool may_meet(const EndpointRecord& a, const EndpointRecord& b) {
  if (((a.flags | b.flags) & kGuest) != 0) return true;
  if (((a.flags | b.flags) & kToolsOnly) != 0) return false;
  return a.realm == 0 || b.realm == 0 || a.realm == b.realm;
}

/// A descriptor ring to the participant whose table holds this record.
struct RingRecord {
  std::uint64_t serial;  ///< names the file. 0: the record is free
  std::uint64_t sender;
  std::uint64_t publication;   ///< serial of the sender's endpoint
  std::uint64_t subscription;  ///< serial of the receiver's endpoint
  std::uint64_t refused;       ///< not 0: there is no ring, because the receiver had no room for it
};
inline constexpr std::uint64_t kRefusedQueues = 1;  ///< the receiver has kMaxRings rings
inline constexpr std::uint64_t kRefusedMemory = 2;

struct ControlHeader {
  FileHeader file;
  std::int32_t pid;
  std::uint32_t reserved;
  std::uint64_t start;          ///< process_start(pid)
  std::uint64_t pid_namespace;  ///< the namespace in which the pid is valid
  std::array<char, kShortNameSize> process;
  std::array<char, kShortNameSize> host;

  alignas(
      kCacheLine) std::atomic<std::uint64_t> table_version;  ///< +1 after each change of a table
  std::atomic<std::uint32_t> segments;                       ///< pool segments created so far
  std::atomic<std::uint32_t> endpoints;  ///< records beyond this index were never used
  std::atomic<std::uint32_t> rings;
  /// 1 while a thread waits for a slot of this participant's pool. See wake().
  alignas(kCacheLine) std::atomic<std::uint32_t> pool_waiters;
  /// The doorbell of the receiving threads, see wake(). Its flag means that none of them is awake.
  /// The bits above hold a generation number that changes each time the flag is set. It shares a
  /// cache line with the bits of the first rings, because a sender needs both.
  alignas(kCacheLine) std::atomic<std::uint32_t> asleep;
  /// One bit per ring. Senders set it after a push, and the receiving thread clears it before it
  /// reads the ring.
  std::array<std::atomic<std::uint64_t>, kMaxRings / 64> ready;
};

static_assert(sizeof(ControlHeader) <= kPage);

/// A part of the tables. A .ctl is one page with the header, followed by chunks that are added on
/// demand. Record i of a table is in chunk i / kChunkRecords.
struct TableChunk {
  std::array<Published<EndpointRecord>, kChunkRecords> endpoints;
  std::array<Published<RingRecord>, kChunkRecords> rings;
};
static_assert(sizeof(TableChunk) % kPage == 0);
inline constexpr std::uint32_t kMaxChunks = (kMaxRings + kMaxRefusals) / kChunkRecords;
static_assert(kMaxChunks * kChunkRecords >= kMaxEndpoints);

/// The size of a .ctl with this number of chunks.
[[nodiscard]] constexpr std::uint64_t control_size(std::uint64_t chunks) {
  return kPage + chunks * sizeof(TableChunk);
}

/// The location of one part of a message.
struct Part {
  std::uint64_t owner;  ///< participant that owns the pool. 0: the part is in the header's own slot
  std::uint32_t segment;
  std::uint32_t slot;
  std::uint64_t offset;  ///< from the start of the slot's payload
  std::uint64_t size;
};

struct MessageHeader {
  std::uint64_t type_hash;
  std::uint64_t sequence;
  std::uint64_t sender;
  std::int64_t publish;
  std::int64_t encoded;
  std::int64_t submitted;
  std::uint32_t parts;  ///< 1..kMaxParts. The first is the payload
  std::uint32_t flags;
  // Up to here one cache line, which is all that the usual message needs: see kSimple.
  std::uint64_t simple_size;
  std::uint64_t call_client;  ///< these three words: see kCall
  std::uint64_t call_id;
  std::uint64_t call_kind;
  std::array<Part, kMaxParts> part;
};
inline constexpr std::uint32_t kReplayed = 1;
/// The message is one part of `simple_size` bytes at the start of the slot. `part` is not used.
inline constexpr std::uint32_t kSimple = 2;
/// The message is part of a call. Without this flag, its three words are undefined.
inline constexpr std::uint32_t kCall = 4;
inline constexpr std::uint32_t kLatched = 8;         ///< Latch::last
inline constexpr std::uint32_t kPublisherGone = 16;  ///< Latch::gone: a notice, not a message
/// The upper bits of the flags, with kLatched: Meta::latched_depth - 1.
inline constexpr std::uint32_t kLatchedDepthShift = 24;

/// Copies the header out of shared memory, once, and checks everything that does not depend on the
/// segments. False: corrupt.
[[nodiscard]] bool read_message(const MessageHeader& shared, MessageHeader& copy);

/// The holds on one slot. See segment.hpp for the rules.
struct SlotControl {
  alignas(kCacheLine) std::atomic<std::uint64_t> maybe;  ///< for the first group
  std::atomic<std::uint32_t> adds;
  std::atomic<std::uint32_t> more;  ///< bit g - 1: the slot may have a holder in group g
  std::array<std::atomic<std::uint32_t>, kGroupHolders> holds;  // the first in the same cache line
  alignas(kCacheLine) MessageHeader message;
};
/// The same for a further group of holders.
struct SlotHolds {
  alignas(kCacheLine) std::atomic<std::uint64_t> maybe;
  std::array<std::atomic<std::uint32_t>, kGroupHolders> holds;
};

struct HolderEntry {
  std::atomic<std::uint32_t> state;  ///< generation << 16 | HolderState
  std::uint32_t reserved;
  std::atomic<std::uint64_t> receiver;
  std::atomic<std::uint64_t> via;  ///< adds holds for the receiver. 0: the entry is unused
  std::uint64_t reserved2;
};

struct SegmentHeader {
  FileHeader file;  ///< its size excludes further groups
  std::uint32_t number;
  std::uint32_t slots;
  std::uint64_t slot_size;
  std::atomic<std::uint32_t> groups;  ///< further groups of holders, behind the payloads
  std::uint32_t reserved;
  alignas(kCacheLine) std::array<HolderEntry, kGroupHolders> holders;
};

/// The start of a further group of holders. The `SlotHolds` of every slot follow.
struct HolderGroup {
  alignas(kCacheLine) std::array<HolderEntry, kGroupHolders> holders;
};

/// Offsets within a pool file. A pure function of the header fields.
struct SegmentLayout {
  std::uint32_t slots = 0;
  std::uint64_t slot_size = 0;
  std::uint64_t control_offset = 0;
  std::uint64_t payload_offset = 0;
  std::uint64_t size = 0;        ///< without further groups of holders
  std::uint64_t group_size = 0;  ///< of each further group

  /// The offset of further group `group` (from 1).
  [[nodiscard]] std::uint64_t group_offset(std::uint32_t group) const {
    return size + (group - 1) * group_size;
  }
};
/// Empty if no segment can have these numbers.
[[nodiscard]] std::optional<SegmentLayout> segment_layout(std::uint64_t slots,
                                                          std::uint64_t slot_size);
/// Checks a pool file's header against the size of the file.
[[nodiscard]] std::optional<SegmentLayout> check_segment(const SegmentHeader& shared,
                                                         std::uint64_t owner, std::uint32_t number,
                                                         std::uint64_t file_size);

struct RingCell {
  std::atomic<std::uint64_t> where;  ///< segment << 32 | slot, in the sender's pool
  std::atomic<std::uint64_t> flags;
};

inline constexpr std::size_t kRingDropReasons = 16;
inline constexpr std::uint32_t kNoReply = ~0U;  ///< see RingHeader

struct RingHeader {
  FileHeader file;
  std::uint64_t sender;
  std::uint64_t type_hash;
  std::uint32_t depth;
  std::uint32_t index;  ///< the ring's bit in the receiver's ready words
  std::array<char, kNameSize> channel;

  alignas(kCacheLine) std::atomic<std::uint64_t> tail;  ///< total messages pushed
  alignas(kCacheLine) std::atomic<std::uint64_t> head;  ///< total messages taken, by either side
  std::atomic<std::uint32_t> kept;  ///< 1: the receiver took a message but has no room for it yet
  std::atomic<std::uint32_t> space_waiters;  ///< see wake()
  /// The reply of the sender. 0: it sends to this ring. kNoReply: not yet. Else it refused the
  /// ring, at this limit. It sends a notice after a change.
  std::atomic<std::uint32_t> refused;
  /// Messages lost in this ring, by reason (transport::Drop).
  alignas(kCacheLine) std::array<std::atomic<std::uint64_t>, kRingDropReasons> drops;
};

[[nodiscard]] constexpr std::uint64_t ring_size(std::uint32_t depth) {
  return sizeof(RingHeader) + std::uint64_t{depth} * sizeof(RingCell);
}
/// Checks a ring file's header against the size of the file. Returns the depth, or 0.
[[nodiscard]] std::uint32_t check_ring(const RingHeader& shared, std::uint64_t receiver,
                                       std::uint64_t sender, std::uint64_t file_size);

}  // namespace hyphos::shm
