#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock_core.hpp"
#include "base/mutex.hpp"
#include "hyphos/envelope.hpp"
#include "hyphos/inspect.hpp"
#include "trace/histogram.hpp"
#include "trace/recorder.hpp"

/// Counters and histograms of every endpoint, in memory that other processes read live.
///
/// The layout of an area is: Header, the Recorder, then blocks. The header gives the kind of each
/// block, Records or Timings. The process adds blocks at the end on demand and removes none. Only
/// the process that owns the area writes to it. Readers check all of its content (bounds, indices,
/// text).
namespace hyphos::trace {

/// The counters of one endpoint. A separate matrix has the transports' drops.
enum class Counter : std::uint8_t {
  sent,            ///< messages sent by publish()
  received,        ///< callbacks run
  bytes,           ///< payload and buffers, encoded size, 0 for pointers
  queue_overflow,  ///< a full queue dropped (drop_oldest, drop_newest)
  queue_timeout,   ///< `block` waited for its whole timeout
  closed,          ///< published or delivered while the channel was closed
  encode_failed,
  decode_failed,
  deadline_missed,
  callback_error,
  call_overloaded,    ///< a request exceeded a limit, at the client or the server
  call_timeout,       ///< a call timed out before its reply
  call_disconnected,  ///< the other side of a call is gone
  call_stale,         ///< a reply without a waiting caller, or a duplicate request
  queue_expired,      ///< older than the lifespan of the channel when its callback was due
  unmatched,          ///< the first of kUnmatchedReasons counters, in the order of Unmatched
};
inline constexpr std::size_t kCounters = 15 + kUnmatchedReasons;
inline constexpr std::size_t kMaxTransports = 4;
inline constexpr std::size_t kDropKinds = 10;

enum class Layer : std::uint8_t { encode, submit, transport, deliver, queue, decode, callback };
inline constexpr std::size_t kLayers = 7;
[[nodiscard]] std::string_view to_string(Layer layer);

/// Whether several threads may record at once, or calls never overlap (a serial subscription).
enum class Writers : std::uint8_t { one, many };

/// The timings of one subscription. Recording one message costs below 100 ns (bench/micro.cpp).
struct Timings {
  Histogram<6> latency;
  std::array<Histogram<3>, kLayers> layers;

  /// Records all layers from a message's stamps at the start of its callback. `dequeued_ns` is the
  /// time at which it left the queue, before decoding. The sum of the layers is exactly the
  /// latency.
  void record(const Stamps& stamps, std::int64_t dequeued_ns,
              Writers writers = Writers::many) noexcept;
  void record_callback(std::int64_t ns, Writers writers = Writers::many) noexcept {
    auto& histogram = layers[static_cast<std::size_t>(Layer::callback)];
    writers == Writers::one ? histogram.record_alone(ns) : histogram.record(ns);
  }
  void clear() noexcept;
};

struct Record {
  enum State : std::uint32_t { kFree, kLive };

  std::atomic<std::uint32_t> state;
  std::atomic<std::uint32_t> timings;  // index + 1 into the area's timings, 0 if there are none
  std::uint32_t generation;            // number of endpoints so far, to distinguish their events
  std::array<char, 192> channel;
  std::array<char, 64> node;
  std::array<char, 256> type_name;
  std::uint64_t type_hash;
  Encoding encoding;
  bool is_publisher;
  Mode mode;
  Policy policy;
  std::atomic<std::uint32_t> transports;  // bit 0: pointer, bit 1+i: transport i of the header
  std::atomic<std::int64_t> last_ns;
  std::array<std::atomic<std::uint64_t>, kCounters> counters;
  std::array<std::array<std::atomic<std::uint64_t>, kDropKinds>, kMaxTransports> drops;

  void count(Counter counter, std::uint64_t n = 1) noexcept {
    counters[static_cast<std::size_t>(counter)].fetch_add(n, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t get(Counter counter) const noexcept {
    return counters[static_cast<std::size_t>(counter)].load(std::memory_order_relaxed);
  }
};

/// The description of a new endpoint.
struct EndpointId {
  std::string channel;
  std::string node;
  TypeId type;
  Policy policy;
  Mode mode = Mode::serial;
  bool is_publisher = false;
};

/// The record and, for subscriptions, the timings of one endpoint, until destroyed.
class Endpoint {
 public:
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;
  ~Endpoint();

  Record& operator*() const { return *record_; }
  Record* operator->() const { return record_; }
  [[nodiscard]] Timings* timings() const { return timings_; }
  /// Counts drops of a transport. `transport` is an index from Registry::transport_index().
  void drop(std::size_t transport, std::size_t kind, std::uint64_t n) const noexcept {
    record_->drops[transport][kind].fetch_add(n, std::memory_order_relaxed);
  }
  void unmatched(Unmatched why, std::uint64_t n) const noexcept {
    const auto at = static_cast<std::size_t>(Counter::unmatched) + static_cast<std::size_t>(why);
    record_->counters[at].fetch_add(n, std::memory_order_relaxed);
  }
  /// Records the end of a publish() or of a callback in the flight recorder, if the record is
  /// visible to tools.
  void published(const Meta& meta, std::uint64_t bytes, const Cause& cause) const noexcept {
    if (recorder_ != nullptr) recorder_->published(id_, meta, bytes, cause);
  }
  void received(const Meta& meta, std::uint64_t bytes, bool replayed, const Stamps& stamps,
                std::int64_t dequeued_ns, std::int64_t end_ns) const noexcept {
    if (recorder_ == nullptr) return;
    recorder_->received(id_, meta, bytes, replayed, stamps, dequeued_ns, end_ns);
  }
  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] EndpointInfo info() const;

 private:
  friend class Registry;
  Endpoint(class Registry& registry, Record* record, Timings* timings)
      : registry_(registry), record_(record), timings_(timings) {}
  class Registry& registry_;
  Record* record_;
  Timings* timings_;
  Recorder* recorder_ = nullptr;
  std::uint64_t id_ = 0;
};

/// All records of one process. Thread-safe. Must outlive its endpoints.
class Registry {
 public:
  /// Extends the area by `bytes` zeros that readers can see. Returns an empty span on failure.
  using Grow = std::function<std::span<std::byte>(std::size_t bytes)>;

  /// Lays out `area` for readers in other processes. It must hold zeros, be aligned to 64 and have
  /// at least kMinArea bytes. With an empty span, everything is on the heap. `keep` owns the area's
  /// memory. Without `grow` the area keeps its size.
  Registry(std::span<std::byte> area, std::shared_ptr<const void> keep, std::string_view process,
           std::uint64_t participant, Grow grow = {});
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;
  ~Registry();

  /// Never fails. If the area is full and cannot grow, the record is on the heap. Tools then do not
  /// see it, and one log line reports this.
  [[nodiscard]] std::unique_ptr<Endpoint> add(const EndpointId& id);
  /// The index of a transport's drops, the same for all endpoints. At most kMaxTransports names.
  [[nodiscard]] std::size_t transport_index(std::string_view name);

  /// The process's state, and the heartbeat of its thread pool. Wait-free.
  void set_state(ProcessState state) noexcept;
  void beat(std::int64_t now_ns) noexcept;
  /// All live endpoints, including those on the heap.
  [[nodiscard]] std::vector<EndpointInfo> endpoints() const;

  /// Publishes the clock's state for tools. Costs a few atomic stores. Calls must not overlap.
  void set_clock(const ::hyphos::detail::ClockCore& clock, std::string_view channel);
  /// The same for another machine's clock. There is one entry per `host`. Beyond kMaxPeers entries,
  /// the one with the oldest measurement is replaced. Calls must not overlap.
  void set_peer_clock(const PeerClock& peer);

  static constexpr std::size_t kMaxPeers = 32;
  static constexpr std::size_t kBlock = 256 << 10;  ///< bytes per block
  static constexpr std::size_t kMaxBlocks = 1024;
  static const std::size_t kMinArea;  ///< the size with one block of each kind

 private:
  friend class Endpoint;
  struct Area;
  void remove(Endpoint& endpoint);
  [[nodiscard]] Record* take_record() HYPHOS_REQUIRES(mutex_);
  [[nodiscard]] Timings* take_timings(Record& record) HYPHOS_REQUIRES(mutex_);
  [[nodiscard]] bool add_block(bool of_records) HYPHOS_REQUIRES(mutex_);

  mutable Mutex mutex_;
  const std::shared_ptr<const void> keep_;
  const Grow grow_;
  std::unique_ptr<Area> area_;
  std::vector<std::string> transport_names_ HYPHOS_GUARDED_BY(mutex_);
  // In the order of their creation.
  std::vector<const Endpoint*> endpoints_ HYPHOS_GUARDED_BY(mutex_);
};

/// True if the area of another process has a live endpoint of that name. Cheaper than read_area(),
/// because it compares names only.
[[nodiscard]] bool has_endpoint(std::span<const std::byte> area, std::string_view channel,
                                bool is_publisher);
/// Reads an area that another process writes. Corrupt content gives an Error, never a crash.
[[nodiscard]] Result<ProcessInfo> read_area(std::span<const std::byte> area);
/// Reads the area's flight recorder from event `next` on, with the same checks.
[[nodiscard]] Result<RecordedEvents> read_events(std::span<const std::byte> area,
                                                 std::uint64_t next);

}  // namespace hyphos::trace
