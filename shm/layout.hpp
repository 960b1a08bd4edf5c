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

/// Everything that lies in shared memory, byte for byte. Another process may write to all of it at
/// any time, a broken one anything: readers copy a value once and check the copy.
///
/// Files of one domain, in /dev/shm/hyphos-<uid>/<domain>/, <id> being the participant's:
///   <id>.ctl          who it is, its doorbell, its endpoints and the lanes towards it; locked for
///   life <id>.sock         a datagram here means "somebody's tables changed, look" <id>.<n>.pool
///   slots for messages that this participant sends <id>.<n>.lane     one queue of descriptors
///   towards this participant <id>.metrics      counters and histograms, laid out by others
namespace hyphos::shm {

inline constexpr std::uint64_t kMagic = 0x314d'4853'4f48'5948;  // "HYHOSHM1"
inline constexpr std::uint32_t kLayoutVersion = 4;

inline constexpr std::size_t kCacheLine = 64;
inline constexpr std::size_t kPage = 4096;
// Tables grow with their use: a pool file by groups of holders, a .ctl by chunks of its tables.
inline constexpr std::uint32_t kGroupHolders = 64;  ///< holder entries of one group
inline constexpr std::uint32_t kMaxHolderGroups = 16;
/// (receiver, via) pairs per pool segment.
inline constexpr std::uint32_t kMaxHolders = kGroupHolders * kMaxHolderGroups;
/// Participants that receive from one other; the other holder entries are for forwarders.
inline constexpr std::uint32_t kMaxReceivers = 960;
inline constexpr std::uint32_t kChunkRecords = 128;   ///< endpoints, and lanes, of one chunk
inline constexpr std::uint32_t kMaxEndpoints = 8192;  ///< per participant
inline constexpr std::uint32_t kMaxToolsOnly = 4096;  ///< ... of which only guests are to meet
inline constexpr std::uint32_t kMaxRings = 8192;      ///< towards one participant
inline constexpr std::uint32_t kMaxRefusals = 128;    ///< lane records beyond them: see RingRecord
inline constexpr std::uint32_t kMaxSegments = 1024;   ///< pool segments of one participant, ever
inline constexpr std::uint32_t kMaxParts = 9;         ///< payload and eight attached buffers
inline constexpr std::uint32_t kMaxDepth = 65536;
inline constexpr std::size_t kNameSize = 192;
inline constexpr std::size_t kShortNameSize = 64;

enum class FileKind : std::uint32_t { control = 1, pool = 2, ring = 3 };

/// The first bytes of every file but the metrics.
struct FileHeader {
  std::uint64_t magic;
  std::uint32_t version;
  FileKind kind;
  std::uint64_t owner;  ///< participant id
  std::uint64_t size;   ///< of the whole file

  [[nodiscard]] bool matches(FileKind wanted, std::uint64_t wanted_owner,
                             std::uint64_t actual_size) const {
    return magic == kMagic && version == kLayoutVersion && kind == wanted &&
           owner == wanted_owner && size == actual_size;
  }
};

/// A value that one process writes now and then and any other may read at any time (a seqlock).
/// The words are atomics, released and acquired one by one: a reader that saw one new word also
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

  /// False if the writer is (or died) in the middle of a change: it will tell when it is done.
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
  std::uint64_t serial;  ///< unique within the participant; 0: the record is free
  std::uint64_t type_hash;
  std::uint32_t depth;
  std::uint8_t is_publisher;
  std::uint8_t encoding;
  std::uint16_t flags;         ///< kGuest, kForGuests, kKeepsLast
  std::uint64_t realm;         ///< a hash of this host's name in the plan; 0: any
  std::uint64_t channel_hash;  ///< of the name, to find it among many
  std::array<char, kNameSize> channel;
  std::array<char, kNameSize> type;
};

inline constexpr std::uint16_t kGuest = 1;      ///< of a process without a plan
inline constexpr std::uint16_t kToolsOnly = 2;  ///< the plan has another way for its own processes
inline constexpr std::uint16_t kKeepsLast = 4;  ///< a publication of a latched channel
/// Cells of a lane of such a publication beyond its depth, for the last values of its publishers.
inline constexpr std::uint32_t kLatchedCells = 256;

/// May these two ends be joined, if channel and type agree? Guests meet everybody. Processes of a
/// plan do not meet where the plan has another way: on a channel that it carries otherwise, and
/// between its hosts, several of which may share one /dev/shm (network namespaces).
[[nodiscard]] inline bool may_meet(const EndpointRecord& a, const EndpointRecord& b) {
  if (((a.flags | b.flags) & kGuest) != 0) return true;
  if (((a.flags | b.flags) & kToolsOnly) != 0) return false;
  return a.realm == 0 || b.realm == 0 || a.realm == b.realm;
}

/// A queue towards the participant in whose table this stands.
struct RingRecord {
  std::uint64_t serial;  ///< names the file; 0: the record is free
  std::uint64_t sender;
  std::uint64_t publication;   ///< serial of the sender's endpoint
  std::uint64_t subscription;  ///< serial of the receiver's endpoint
  std::uint64_t refused;       ///< not 0: no queue exists, as the receiver had no room for it
};
inline constexpr std::uint64_t kRefusedQueues = 1;  ///< it has kMaxRings of them
inline constexpr std::uint64_t kRefusedMemory = 2;

struct ControlHeader {
  FileHeader file;
  std::int32_t pid;
  std::uint32_t reserved;
  std::uint64_t start;          ///< process_start(pid)
  std::uint64_t pid_namespace;  ///< in which the pid means something
  std::array<char, kShortNameSize> process;
  std::array<char, kShortNameSize> host;

  alignas(
      kCacheLine) std::atomic<std::uint64_t> table_version;  ///< +1 after each change of a table
  std::atomic<std::uint32_t> segments;                       ///< pool segments made so far
  std::atomic<std::uint32_t> endpoints;  ///< records beyond this were never used
  std::atomic<std::uint32_t> rings;
  /// 1 while a thread waits for a slot of this participant's pool: see wake().
  alignas(kCacheLine) std::atomic<std::uint32_t> pool_waiters;
  /// The doorbell of those who receive, see wake(): its flag says that none of them is awake.
  /// Beyond its bits is a number that is another each time the flag is put up. In one cache line
  /// with the bits of the first lanes, as a sender needs both.
  alignas(kCacheLine) std::atomic<std::uint32_t> asleep;
  /// One bit per lane: set by senders after a push, taken by the receiving thread before it looks.
  std::array<std::atomic<std::uint64_t>, kMaxRings / 64> ready;
};

static_assert(sizeof(ControlHeader) <= kPage);

/// A part of the tables. A .ctl is one page with the header, then one chunk after another, added on
/// demand: record i of a table is in chunk i / kChunkRecords.
struct TableChunk {
  std::array<Published<EndpointRecord>, kChunkRecords> endpoints;
  std::array<Published<RingRecord>, kChunkRecords> rings;
};
static_assert(sizeof(TableChunk) % kPage == 0);
inline constexpr std::uint32_t kMaxChunks = (kMaxRings + kMaxRefusals) / kChunkRecords;
static_assert(kMaxChunks * kChunkRecords >= kMaxEndpoints);

/// The size of a .ctl with so many chunks.
[[nodiscard]] constexpr std::uint64_t control_size(std::uint64_t chunks) {
  return kPage + chunks * sizeof(TableChunk);
}

/// Where one part of a message lies.
struct Part {
  std::uint64_t owner;  ///< participant whose pool it is; 0: the slot that has this header
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
  std::uint32_t parts;  ///< 1..kMaxParts; the first is the payload
  std::uint32_t flags;
  // To here one cache line, and all there is to the usual message: see kSimple.
  std::uint64_t simple_size;
  std::uint64_t call_client;  ///< this and the next two: see kCall
  std::uint64_t call_id;
  std::uint64_t call_kind;
  std::array<Part, kMaxParts> part;
};
inline constexpr std::uint32_t kReplayed = 1;
/// The message is one part, `simple_size` bytes from the start of the slot; `part` is not used.
inline constexpr std::uint32_t kSimple = 2;
/// The message is a part of a call; without this flag the three words of it mean nothing.
inline constexpr std::uint32_t kCall = 4;
inline constexpr std::uint32_t kLatched = 8;         ///< Latch::last
inline constexpr std::uint32_t kPublisherGone = 16;  ///< Latch::gone: there is no message

/// Copies the header out of shared memory, once, and checks what can be checked without knowing the
/// segments. Empty: corrupt.
[[nodiscard]] bool read_message(const MessageHeader& shared, MessageHeader& copy);

/// Who holds a slot. See segment.hpp for the rules.
struct SlotControl {
  alignas(kCacheLine) std::atomic<std::uint64_t> maybe;  ///< of the first group
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
  std::atomic<std::uint64_t> via;  ///< who adds holds for the receiver; 0: the entry is unused
  std::uint64_t reserved2;
};

struct SegmentHeader {
  FileHeader file;  ///< its size is that without further groups
  std::uint32_t number;
  std::uint32_t slots;
  std::uint64_t slot_size;
  std::atomic<std::uint32_t> groups;  ///< further groups of holders, behind the payloads
  std::uint32_t reserved;
  alignas(kCacheLine) std::array<HolderEntry, kGroupHolders> holders;
};

/// The start of a further group of holders; `SlotHolds` of every slot follow.
struct HolderGroup {
  alignas(kCacheLine) std::array<HolderEntry, kGroupHolders> holders;
};

/// Offsets within a pool file; a pure function of what the header says.
struct SegmentLayout {
  std::uint32_t slots = 0;
  std::uint64_t slot_size = 0;
  std::uint64_t control_offset = 0;
  std::uint64_t payload_offset = 0;
  std::uint64_t size = 0;        ///< without further groups of holders
  std::uint64_t group_size = 0;  ///< of each of these

  /// Where further group `group` (from 1) starts.
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

struct RingHeader {
  FileHeader file;
  std::uint64_t sender;
  std::uint64_t type_hash;
  std::uint32_t depth;
  std::uint32_t index;  ///< the lane's bit in the receiver's ready words
  std::array<char, kNameSize> channel;

  alignas(kCacheLine) std::atomic<std::uint64_t> tail;  ///< messages pushed, ever
  alignas(kCacheLine) std::atomic<std::uint64_t> head;  ///< messages taken, by either side
  std::atomic<std::uint32_t> kept;  ///< 1: the receiver took a message but has no room for it yet
  std::atomic<std::uint32_t> space_waiters;  ///< see wake()
  std::atomic<std::uint32_t> refused;        ///< not 0: lane refused, at this limit of receivers
  /// Messages lost here, by reason (transport::Drop).
  alignas(kCacheLine) std::array<std::atomic<std::uint64_t>, kRingDropReasons> drops;
};

[[nodiscard]] constexpr std::uint64_t ring_size(std::uint32_t depth) {
  return sizeof(RingHeader) + std::uint64_t{depth} * sizeof(RingCell);
}
/// Checks a lane file's header against the size of the file; the depth, or 0.
[[nodiscard]] std::uint32_t check_ring(const RingHeader& shared, std::uint64_t receiver,
                                       std::uint64_t sender, std::uint64_t file_size);

}  // namespace hyphos::shm
