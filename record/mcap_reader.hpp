#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hyphos/buffer.hpp"
#include "hyphos/result.hpp"
#include "record/mcap_format.hpp"
#include "record/mcap_parse.hpp"
#include "record/unpack.hpp"

namespace hyphos::record {

/// A message of a file. `data` shares the memory of its chunk.
struct StoredMessage {
  std::uint16_t channel = 0;
  std::uint32_t sequence = 0;
  std::uint64_t log_ns = 0;
  std::uint64_t publish_ns = 0;
  Buffer data;
};

/// A set of channels by id.
class ChannelSet {
 public:
  void add(std::uint16_t id) {
    if (id >= has_.size()) has_.resize(id + std::size_t{1});
    has_[id] = true;
  }
  [[nodiscard]] bool contains(std::uint16_t id) const { return id < has_.size() && has_[id]; }
  [[nodiscard]] bool empty() const { return has_.empty(); }

 private:
  std::vector<bool> has_;
};

/// Reads any MCAP file by its index, without reading the messages in between.
///
/// open() reads the summary section only, so that its time and memory are independent of the size
/// of the file. A file without a usable index is read once from the beginning to the end. Chunks
/// are decompressed when their messages are read, and the last ones are kept, at most
/// `cache_bytes`. The file is read with pread(), never mapped: a file that becomes shorter is an
/// error of that read.
///
/// No size in the file is trusted. A corrupt part is left out, named in problems() with its
/// position, and costs no other part. Not thread-safe. Blocks while the disk reads.
class McapReader {
 public:
  struct Options {
    std::size_t cache_bytes = std::size_t{64} << 20U;         ///< at least one chunk is always kept
    std::uint64_t max_chunk_bytes = std::uint64_t{1} << 30U;  ///< larger ones are left out
    /// Called while a file without an index is read, with the part that is done, 0..1. The result
    /// false stops there: the messages up to that position remain.
    std::function<bool(double)> progress;
    /// A Recorder still writes the file: only complete chunks are read. See refresh().
    bool growing = false;
  };
  static constexpr std::size_t kMaxParts = 1'000'000;  ///< chunks of one file
  static constexpr std::size_t kMaxProblems = 64;      ///< remembered
  static constexpr std::uint64_t kMaxSummary = 256U << 20U;
  static constexpr std::uint64_t kMaxAttachment = 256U << 20U;
  static constexpr std::size_t kMaxOverlap = 1'024;  ///< chunks that cover one instant

  /// Errors: not_found, permission, io, corrupt (no MCAP file).
  static Result<std::unique_ptr<McapReader>> open(const std::filesystem::path& path,
                                                  Options options);
  static Result<std::unique_ptr<McapReader>> open(const std::filesystem::path& path) {
    return open(path, Options{});
  }
  McapReader(const McapReader&) = delete;
  McapReader& operator=(const McapReader&) = delete;
  ~McapReader();

  /// Growing: takes over the chunks that were appended since the last call. Reads their heads and
  /// message indexes only. True if there are any.
  bool refresh();

  [[nodiscard]] const std::string& profile() const { return header_.profile; }
  [[nodiscard]] const std::map<std::uint16_t, mcap::Schema>& schemas() const { return schemas_; }
  [[nodiscard]] const std::map<std::uint16_t, mcap::Channel>& channels() const { return channels_; }
  /// Number of messages of a channel, by the statistics, or counted if there was no index.
  [[nodiscard]] std::uint64_t count(std::uint16_t channel) const;
  /// The times of the first and last message, 0 without one.
  [[nodiscard]] std::uint64_t start_ns() const { return start_ns_; }
  [[nodiscard]] std::uint64_t end_ns() const { return end_ns_; }
  /// The metadata records by name. The last one of a name is valid.
  [[nodiscard]] const std::map<std::string, mcap::Dictionary>& metadata() const {
    return metadata_;
  }
  [[nodiscard]] std::vector<std::string> attachments() const;
  /// Errors: not_found, corrupt, too_large.
  [[nodiscard]] Result<std::string> attachment(std::string_view name);

  /// False: the file had no usable index, so it was read once.
  [[nodiscard]] bool indexed() const { return indexed_; }
  /// Faults of the file, each with its position in bytes: at most kMaxProblems.
  [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }
  /// Parts of the file with messages of the channel that could not be read.
  [[nodiscard]] std::uint64_t corrupt(std::uint16_t channel) const;

  /// The last `most` messages of the channels together with a time of at most `until_ns`, in order
  /// of time. Reads chunks backwards until they are found, and only those whose index names one of
  /// the channels.
  [[nodiscard]] std::vector<StoredMessage> last(const ChannelSet& channels, std::uint64_t until_ns,
                                                std::size_t most = 1);

  /// Bytes of the cache, and their limit.
  [[nodiscard]] std::size_t memory() const { return cached_bytes_; }
  void limit_memory(std::size_t bytes);
  [[nodiscard]] std::uint64_t chunks_read() const { return chunks_read_; }

 private:
  friend class McapCursor;

  /// A chunk, or a run of messages outside of chunks.
  struct Part {
    std::uint64_t start_time = 0;
    std::uint64_t end_time = 0;
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
    std::vector<std::uint16_t> channels = {};  ///< empty: unknown
    bool loose = false;                        ///< message records, no chunk
    bool salvaged = false;                     ///< a chunk whose end is missing
    bool bad = false;                          ///< cannot be read: reported once
    bool checked = false;                      ///< its times are those of its messages
  };
  struct Entry {
    std::uint64_t log_ns = 0;
    std::uint32_t at = 0;  ///< of the content of the message record, in the data
    std::uint32_t size = 0;
    std::uint16_t channel = 0;
  };
  using Entries = std::shared_ptr<const std::vector<Entry>>;  ///< sorted by time
  struct Loaded {
    Buffer data;
    Entries entries;
    [[nodiscard]] std::size_t bytes() const {
      return data.size() + entries->size() * sizeof(Entry);
    }
  };
  struct Position {
    std::string name;
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
  };

  McapReader(int fd, std::filesystem::path path, Options options);

  // mcap_reader.cpp: the file and its index.
  [[nodiscard]] Result<void> read_at(std::uint64_t offset, std::span<std::byte> to) const;
  [[nodiscard]] Result<Buffer> read_buffer(std::uint64_t offset, std::uint64_t size) const;
  [[nodiscard]] Result<void> read_header();
  /// Empty: there is no usable index, and `reason` is its fault.
  [[nodiscard]] bool read_summary(std::string& reason);
  [[nodiscard]] bool take_summary(mcap::View summary, std::uint64_t offset, std::string& reason);
  [[nodiscard]] bool take_summary_record(mcap::Op op, mcap::View content,
                                         std::optional<mcap::Statistics>& statistics);
  void read_metadata();
  void take(mcap::Schema schema, std::uint64_t offset);
  void take(mcap::Channel channel, std::uint64_t offset);
  void finish();
  void report(std::uint64_t offset, const std::string& text);
  [[nodiscard]] Error fault(Code code, std::uint64_t offset, std::string text) const;

  // mcap_scan.cpp: a file without an index.
  struct Scan;
  void scan();
  [[nodiscard]] bool scan_record(Scan& scan, const mcap::RecordHead& head, std::uint64_t offset);
  void scan_chunk(std::uint64_t offset, std::uint64_t length, bool cut);
  void scan_growing(Scan& scan, const mcap::RecordHead& head, std::uint64_t offset);
  void scan_loose(mcap::View message, std::uint64_t offset, std::uint64_t length);
  void scan_named(mcap::Op op, mcap::View content, std::uint64_t offset, std::uint64_t length);
  void scan_cut(const mcap::RecordHead& head, std::uint64_t offset);
  /// Finds attachments and metadata that the index does not name, without reading the chunks.
  void find_named();

  // mcap_chunks.cpp: messages.
  /// Null: the part is bad.
  [[nodiscard]] std::shared_ptr<const Loaded> load(std::size_t part);
  [[nodiscard]] Result<std::shared_ptr<const Loaded>> read_part(std::size_t part);
  [[nodiscard]] Result<Buffer> read_chunk(const Part& part);
  [[nodiscard]] std::shared_ptr<const Loaded> parse(std::size_t part, Buffer data);
  void check_times(std::size_t part, const std::vector<Entry>& entries);
  /// An entry of a part, for last().
  struct Place {
    Entry entry;
    std::size_t part = 0;
  };
  void take_last(std::size_t part, const ChannelSet& channels, std::uint64_t until_ns,
                 std::size_t most, std::vector<Place>& best);
  void report_overlap(std::uint64_t offset);
  void trim();
  [[nodiscard]] static StoredMessage message_at(const Loaded& loaded, const Entry& entry);
  [[nodiscard]] static bool may_contain(const Part& part, const ChannelSet& channels);
  /// The parts in order of their first time, and of their last time.
  using Order = std::shared_ptr<const std::vector<std::uint32_t>>;
  void sort();

  int fd_ = -1;
  std::filesystem::path path_;
  Options options_;
  std::uint64_t size_ = 0;
  std::uint64_t scanned_ = 8;  ///< growing: the end of the last complete record
  mcap::Header header_;
  std::map<std::uint16_t, mcap::Schema> schemas_;
  std::map<std::uint16_t, mcap::Channel> channels_;
  std::map<std::uint16_t, std::uint64_t> counts_;
  std::map<std::uint16_t, std::uint64_t> corrupt_;
  std::uint64_t start_ns_ = 0;
  std::uint64_t end_ns_ = 0;
  std::map<std::string, mcap::Dictionary> metadata_;
  std::vector<Position> metadata_positions_;
  std::vector<Position> attachment_positions_;
  std::vector<Part> parts_;
  Order by_start_;  ///< null: to be sorted
  Order by_end_;
  bool indexed_ = false;
  bool overlap_reported_ = false;
  std::vector<std::string> problems_;

  Unpacker unpacker_;
  using Recent = std::list<std::pair<std::size_t, std::shared_ptr<const Loaded>>>;
  Recent recent_;  ///< the newest first
  std::unordered_map<std::size_t, Recent::iterator> cached_;
  std::size_t cached_bytes_ = 0;
  std::uint64_t chunks_read_ = 0;
};

/// Reads the messages of some channels in order of their time. Messages of one time keep the order
/// of the file within a chunk.
///
/// The reader must outlive it. Memory: 24 bytes for each message of the chunks that cover the
/// present time. Not thread-safe.
class McapCursor {
 public:
  /// Starts with the first message at or after `from_ns`.
  McapCursor(McapReader& reader, ChannelSet channels, std::uint64_t from_ns);

  /// The next message with a time of at most `until_ns`. Empty: there is none up to that time. A
  /// later call with a later time continues.
  [[nodiscard]] std::optional<StoredMessage> next(std::uint64_t until_ns);
  /// The time of the next message, without reading its data. Reads chunks until one is found.
  [[nodiscard]] std::optional<std::uint64_t> next_time();

 private:
  struct Active {
    std::size_t part = 0;
    McapReader::Entries entries;
    std::size_t at = 0;
    [[nodiscard]] std::uint64_t time() const { return (*entries)[at].log_ns; }
  };
  /// Adds all parts that begin at or before `until_ns` and before the next message.
  void activate(std::uint64_t until_ns);
  void skip(Active& active) const;

  McapReader& reader_;
  ChannelSet channels_;
  std::uint64_t from_ns_;
  McapReader::Order order_;
  std::size_t next_part_ = 0;   // in order_
  std::vector<Active> active_;  // a heap: the earliest message first
};

}  // namespace hyphos::record
