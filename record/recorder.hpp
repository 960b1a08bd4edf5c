#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "hyphos/node.hpp"
#include "record/chunk.hpp"
#include "record/mcap_file.hpp"

namespace hyphos::record {

inline constexpr std::size_t kAutomatic = ~std::size_t{0};

struct Options {
  std::filesystem::path path;  ///< the file, empty in ring mode. Splits are run_000.mcap, ...
  bool overwrite = false;
  std::string profile = "hyphos";
  std::size_t chunk_bytes = 4 << 20;
  Compression compression = Compression::zstd;
  /// Maximum size of the queue to the disk. Messages beyond it are dropped and counted.
  std::size_t queue_bytes = 256 << 20;
  /// Maximum part of the queue in the publishers' shared memory. Further messages are copied
  /// immediately. kAutomatic: an eighth of /dev/shm, at most half the queue.
  std::size_t hold_bytes = kAutomatic;
  int packers = 0;                        ///< compressing threads. 0: one per spare core, at most 4
  std::int64_t flush_ns = 1'000'000'000;  ///< maximum time until a message is in the file
  /// A new file starts after this many bytes or this much time. 0: never.
  std::uint64_t split_bytes = 0;
  std::int64_t split_ns = 0;
  unsigned keep_files = 0;  ///< of a split recording, keep only the last files. 0: all
  /// Ring mode, if one of them is not 0: nothing is written before snapshot(). Messages that are
  /// older, or exceed the size, are dropped.
  std::uint64_t ring_bytes = 0;
  std::int64_t ring_ns = 0;
  /// Deterministic files: the same messages in the same order give the same file, bit for bit,
  /// independent of time and load. For lock-step replay.
  bool deterministic = false;
  /// Returns log_time in nanoseconds. Null: the wall clock.
  std::function<std::int64_t()> clock;
  bool sync = false;  ///< close() waits until the data is on the disk
};

struct ChannelSpec {
  std::string name;
  std::string message_encoding;
  std::optional<mcap::Schema> schema;  ///< the recorder assigns its id
  mcap::Dictionary metadata;
  /// For files that begin later, this many values of each sender are kept. 0: not latched.
  std::uint32_t latched_depth = 0;
};

struct Status {
  std::map<std::string, Tally> channels;
  std::uint64_t bytes_on_disk = 0;  ///< of all files, including deleted ones
  std::uint64_t waiting_bytes = 0;  ///< in the queue
  std::uint64_t held_bytes = 0;     ///< part of waiting_bytes in shared memory
  std::uint64_t ring_bytes = 0;
  std::int64_t ring_ns = 0;               ///< from the oldest to the newest message in the ring
  std::uint64_t uncompressed_chunks = 0;  ///< stored so because compression fell behind
  std::vector<std::filesystem::path> files;
  std::optional<Error> failure;
};

struct Written {
  std::filesystem::path path;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

/// Records channels to MCAP files, or keeps the most recent messages in memory until a snapshot.
///
/// Messages are accepted in the delivering thread. Large ones are kept in their shared memory, and
/// small ones are copied. Full chunks are compressed by separate threads and written by another
/// thread, in order. So a message is written without a copy in this process unless it is
/// compressed. The queue is bounded. Beyond the bound messages are dropped and counted, so that a
/// slow disk never slows the robot. If compression falls behind, chunks are stored uncompressed
/// before any message is dropped.
///
/// Thread-safe. Data passed to the operating system survives the death of the process. That happens
/// at the latest flush_ns after a message arrived. When the disk is full, the file is closed with
/// its index, and later messages are counted as drop_disk. Format and counters:
/// docs/reference/recording.md.
class Recorder {
 public:
  /// Creates the file, so that errors are detected immediately.
  static Result<std::shared_ptr<Recorder>> open(Options options);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  ~Recorder();

  /// Adds a channel and returns its id. Fails beyond 65,535 channels.
  Result<std::uint16_t> add_channel(ChannelSpec spec);
  /// Subscribes the node to `channel` with the type `type`, and records its messages under `id`.
  Result<void> subscribe(const Node& node, std::uint16_t id, const std::string& channel,
                         const TypeId& type, const Policy& wish);
  /// Records one message from another source. `sequence` counts per sender. 0: not counted.
  void accept(std::uint16_t id, std::uint64_t sender, std::uint64_t sequence,
              std::int64_t publish_ns, const Buffer& payload, const BufferList& buffers);
  /// Counts a message of another source that could not be converted, as drop_convert.
  void refuse(std::uint16_t id, std::uint64_t sender, std::uint64_t sequence);

  /// Both are written at the beginning of every file.
  void attach(mcap::Attachment attachment);
  void describe(std::string name, mcap::Dictionary values);

  /// On return all earlier messages are in the file.
  Result<void> flush();
  /// Starts a new file. Fails unless the recorder was opened with a file.
  Result<void> split();
  /// Ring mode: writes the ring to a file. Recording continues meanwhile. Only one runs at a time.
  Result<Written> snapshot(const std::filesystem::path& path, bool overwrite);
  /// Ends the subscriptions, and writes the queue, the counters and the index. Idempotent. The
  /// first call returns the error of a failed disk.
  Result<void> close();

  [[nodiscard]] Status status() const;

 private:
  struct Source {
    ChannelSpec spec;
    std::uint16_t schema_id = 0;
    std::unordered_map<std::uint64_t, std::uint64_t> last;  // sequence by sender
  };
  struct Job {
    std::uint64_t number = 0;
    Chunk chunk;
    std::size_t bytes = 0;  // part of waiting_
    std::size_t held = 0;   // part of held_
    Packed packed;
    bool ready = false;
    bool split_before = false;
  };
  /// A file, and the number of preamble entries already in it.
  struct Open {
    McapFile file;
    std::size_t preamble = 0;
    Tallies tallies;
    std::int64_t opened_ns = 0;
    std::int64_t next_interim_ns = 0;
  };
  using LatchedKey = std::tuple<std::uint16_t, std::uint64_t, std::uint32_t>;  // ... sequence
  using LatchedValues = std::map<LatchedKey, Latched>;
  struct Preamble {
    std::optional<mcap::Attachment> attachment;
    std::string name;
    mcap::Dictionary values;
  };

  explicit Recorder(Options options);
  void start();
  [[nodiscard]] bool ring() const { return options_.ring_bytes != 0 || options_.ring_ns != 0; }
  [[nodiscard]] bool splits() const { return options_.split_bytes != 0 || options_.split_ns != 0; }
  [[nodiscard]] std::int64_t now() const;

  // In recorder.cpp.
  void count_gap(Source& source, Tally& tally, Tally& total, std::uint64_t sender,
                 std::uint64_t sequence) HYPHOS_REQUIRES(mutex_);
  void rotate() HYPHOS_REQUIRES(mutex_);
  void pack_loop();
  void write_loop();
  void finish(Job& job) HYPHOS_REQUIRES(mutex_);

  // In recorder_write.cpp, in the writing thread or under snapshot_mutex_.
  void write(Job& job);
  Result<void> store(Open& to, const Packed& chunk, const LatchedValues& latched);
  Result<void> prepare(Open& to);
  Result<void> write_latched(Open& to, const LatchedValues& latched, std::uint64_t start_time);
  Result<void> open_file();
  Result<void> close_file();
  void fail(Error error, const Packed& chunk);
  void keep(std::shared_ptr<Packed> chunk);
  [[nodiscard]] std::filesystem::path file_name() const;
  [[nodiscard]] mcap::Dictionary summary(const Tallies& tallies) const;
  static void remember(LatchedValues& values, const std::vector<Latched>& more);

  const Options options_;

  mutable Mutex mutex_;
  Condition packers_wake_;
  Condition writer_wake_;
  Condition written_;
  // by id, from 1 at index 0. References stay valid
  std::deque<Source> sources_ HYPHOS_GUARDED_BY(mutex_);
  std::vector<mcap::Schema> schemas_ HYPHOS_GUARDED_BY(mutex_);
  std::vector<Preamble> preamble_ HYPHOS_GUARDED_BY(mutex_);
  Tallies totals_ HYPHOS_GUARDED_BY(mutex_);
  Chunk chunk_ HYPHOS_GUARDED_BY(mutex_);
  std::int64_t chunk_opened_ns_ HYPHOS_GUARDED_BY(mutex_) = 0;
  std::size_t chunk_bytes_ HYPHOS_GUARDED_BY(mutex_) = 0;  // of chunk_, included in waiting_
  std::size_t chunk_held_ HYPHOS_GUARDED_BY(mutex_) = 0;
  bool split_next_ HYPHOS_GUARDED_BY(mutex_) = false;
  std::deque<std::shared_ptr<Job>> unpacked_ HYPHOS_GUARDED_BY(mutex_);
  std::deque<std::shared_ptr<Job>> order_ HYPHOS_GUARDED_BY(mutex_);
  std::uint64_t next_number_ HYPHOS_GUARDED_BY(mutex_) = 1;
  std::uint64_t done_number_ HYPHOS_GUARDED_BY(mutex_) = 0;
  std::size_t waiting_ HYPHOS_GUARDED_BY(mutex_) = 0;
  std::size_t held_ HYPHOS_GUARDED_BY(mutex_) = 0;
  std::size_t hold_limit_ HYPHOS_GUARDED_BY(mutex_) = 0;
  bool closing_ HYPHOS_GUARDED_BY(mutex_) = false;
  bool closed_ HYPHOS_GUARDED_BY(mutex_) = false;
  std::uint64_t uncompressed_chunks_ HYPHOS_GUARDED_BY(mutex_) = 0;
  std::uint64_t finished_bytes_ HYPHOS_GUARDED_BY(mutex_) = 0;  // of closed files
  std::uint64_t open_bytes_ HYPHOS_GUARDED_BY(mutex_) = 0;
  std::deque<std::filesystem::path> files_ HYPHOS_GUARDED_BY(mutex_);
  std::optional<Error> failure_ HYPHOS_GUARDED_BY(mutex_);
  std::deque<std::shared_ptr<const Packed>> ring_ HYPHOS_GUARDED_BY(mutex_);
  LatchedValues before_ring_ HYPHOS_GUARDED_BY(mutex_);
  std::uint64_t ring_used_ HYPHOS_GUARDED_BY(mutex_) = 0;

  // Used by the writing thread only.
  std::optional<Open> open_;
  LatchedValues latched_;
  unsigned file_number_ = 0;

  Mutex snapshot_mutex_;
  Mutex close_mutex_;
  Mutex subscriptions_mutex_;
  std::vector<Subscription> subscriptions_ HYPHOS_GUARDED_BY(subscriptions_mutex_);
  std::vector<std::thread> threads_ HYPHOS_GUARDED_BY(close_mutex_);
};

}  // namespace hyphos::record
