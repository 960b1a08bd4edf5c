#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "hyphos/envelope.hpp"
#include "record/mcap_format.hpp"

namespace hyphos::record {

/// Counters of the messages of one channel: received = written + drop_queue + drop_disk +
/// drop_convert. `repeated` is not part of this sum.
struct Tally {
  std::uint64_t received = 0;
  std::uint64_t written = 0;
  std::uint64_t bytes = 0;         ///< of the written messages, before compression
  std::uint64_t missing = 0;       ///< gaps in sequence numbers: lost before the recorder
  std::uint64_t drop_queue = 0;    ///< the bounded queue to the disk was full
  std::uint64_t drop_disk = 0;     ///< the disk was full, or failed
  std::uint64_t drop_convert = 0;  ///< had no form in the schema of the channel
  std::uint64_t repeated = 0;      ///< latched values written again at the start of a file

  Tally& operator+=(const Tally& other);
  bool operator==(const Tally&) const = default;
};
/// Indexed by channel id. Ids count from 1.
using Tallies = std::vector<Tally>;
Tally& at(Tallies& tallies, std::uint16_t channel);

/// The fields of a message record except its data. Times are unsigned, as in MCAP.
struct MessageInfo {
  std::uint16_t channel = 0;
  std::uint32_t sequence = 0;
  std::uint64_t log_ns = 0;
  std::uint64_t publish_ns = 0;
};

/// One of the last values of a latched channel, kept for files that begin later.
struct Latched {
  MessageInfo info;
  std::uint64_t sender = 0;
  std::uint32_t depth = 1;  ///< the number of values of this sender to keep
  std::shared_ptr<const mcap::Bytes> data;
};

/// The stored size of a message with attached buffers, see docs/reference/recording.md.
[[nodiscard]] std::size_t stored_size(const Buffer& payload, const BufferList& buffers);

/// A chunk that accepts messages: message records in their file format. Small messages are copied.
/// Large ones are references to their original memory.
///
/// Not thread-safe. The chunk also carries the tallies since the previous chunk, so that a file's
/// counters agree with its messages wherever the file is cut.
class Chunk {
 public:
  /// With `hold`, large parts are kept alive instead of copied.
  void add(const MessageInfo& info, const Buffer& payload, const BufferList& buffers, bool hold);
  void add(const MessageInfo& info, std::span<const std::byte> data);

  /// Marks the message of the last add() as a value of a latched channel, of which the last `depth`
  /// of each sender are kept. Copies it.
  void latch(std::uint64_t sender, std::uint32_t depth);

  [[nodiscard]] Tally& tally(std::uint16_t channel) { return at(tallies_, channel); }
  [[nodiscard]] const Tallies& tallies() const { return tallies_; }
  [[nodiscard]] std::size_t size() const { return size_; }  ///< bytes, uncompressed
  [[nodiscard]] std::size_t held() const { return held_; }  ///< of these, in foreign memory
  [[nodiscard]] std::size_t messages() const { return index_.size(); }
  [[nodiscard]] bool empty() const { return index_.empty() && tallies_.empty(); }

 private:
  friend class Packer;
  struct Piece {
    Buffer kept;             // with an owner or data: the piece is outside
    std::size_t offset = 0;  // else: offset in arena_
    std::size_t size = 0;
  };
  struct IndexEntry {
    std::uint16_t channel;
    std::uint64_t time;
    std::uint64_t offset;
  };

  void begin(const MessageInfo& info, std::size_t data_size);
  void copy(std::span<const std::byte> bytes);
  void put(const Buffer& buffer, bool hold);

  mcap::Bytes arena_;
  std::vector<Piece> pieces_;
  std::vector<IndexEntry> index_;
  Tallies tallies_;
  std::vector<Latched> latched_;  // up to `depth` for each channel and sender
  MessageInfo last_;
  std::size_t size_ = 0;
  std::size_t held_ = 0;
  std::uint64_t start_ns_ = 0;
  std::uint64_t end_ns_ = 0;
};

enum class Compression : std::uint8_t { none, lz4, zstd };
[[nodiscard]] std::string_view to_string(Compression compression);

/// A chunk ready to be written: its body and its message indexes.
struct Packed {
  std::uint64_t start_time = 0;
  std::uint64_t end_time = 0;
  std::uint64_t messages = 0;
  std::uint64_t uncompressed_size = 0;
  std::uint32_t uncompressed_crc = 0;
  std::string_view compression;  ///< the name in the format, empty for none
  std::vector<std::span<const std::byte>> body;
  std::uint64_t stored = 0;  ///< bytes of `body`
  mcap::Bytes indexes;
  std::vector<std::pair<std::uint16_t, std::uint64_t>> index_offsets;  ///< in `indexes`
  Tallies tallies;
  std::vector<Latched> latched;

  Chunk source;  ///< the memory of `body`, unless it was compressed or flattened
  std::unique_ptr<std::byte[]> memory;
};

/// Converts chunks to their stored form: checksum, compression, indexes. Use one per thread,
/// because it holds the compressors' state. A chunk that compression does not shrink by a thirtieth
/// is stored uncompressed.
class Packer {
 public:
  Packer();
  Packer(const Packer&) = delete;
  Packer& operator=(const Packer&) = delete;
  ~Packer();

  /// With `flatten` the result owns its memory and keeps no other memory alive.
  [[nodiscard]] Packed pack(Chunk chunk, Compression compression, bool flatten);

 private:
  struct State;
  bool squeeze(Packed& out, Compression compression);
  std::unique_ptr<State> state_;
};

}  // namespace hyphos::record
