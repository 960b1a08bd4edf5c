#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock_core.hpp"
#include "hyphos/envelope.hpp"
#include "hyphos/inspect.hpp"
#include "trace/histogram.hpp"
#include "trace/recorder.hpp"

/// Counters and histograms of every channel end, in memory that other processes read live.
///
/// The layout of an area is: Header, the Recorder, then blocks. The header gives the kind of each
/// block, Records or Timings. The process adds blocks at the end on demand and removes none.
/// Writers are the one process that owns the area; readers trust nothing they find (bounds,
/// indices, text).
namespace hyphos::trace {

/// What can be counted at one end of a channel. Transports' drops are a matrix beside it.
enum class Counter : std::uint8_t {
  sent,            ///< publish() calls that went out
  received,        ///< callbacks run
  bytes,           ///< payload and buffers, encoded size; 0 for pointers
  queue_overflow,  ///< a full queue dropped (drop_oldest, drop_newest)
  queue_timeout,   ///< `block` waited for its limit
  closed,          ///< published or delivered while the channel was closed
  encode_failed,
  decode_failed,
  deadline_missed,
  callback_error,
  call_overloaded,    ///< a request that found a bound reached, at the client or the server
  call_timeout,       ///< a call whose time ended before its reply came
  call_disconnected,  ///< a call whose other end went away
  call_stale,         ///< a reply nobody waits for any more, or a request that came twice
};
inline constexpr std::size_t kCounters = 14;
inline constexpr std::size_t kMaxTransports = 4;
inline constexpr std::size_t kDropKinds = 10;

enum class Layer : std::uint8_t { encode, submit, transport, deliver, queue, decode, callback };
inline constexpr std::size_t kLayers = 7;
[[nodiscard]] std::string_view to_string(Layer layer);

/// Whether several threads may record at once, or only one after another (a serial subscription).
enum class Writers : std::uint8_t { one, many };

/// The timings of one subscription. Recording one message costs below 100 ns (bench/micro.cpp).
struct Timings {
  Histogram<6> latency;
  std::array<Histogram<3>, kLayers> layers;

  /// Takes all layers from a message's stamps at the start of its callback; `dequeued_ns` is when
  /// it left the queue, before decoding. The layers add up to the latency exactly.
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
  std::atomic<std::uint32_t> timings;  // index + 1 into the area's timings; 0: none
  std::uint32_t generation;            // how many ends it was for, so that events tell them apart
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

/// What a new end of a channel tells about itself.
struct EndpointId {
  std::string channel;
  std::string node;
  TypeId type;
  Policy policy;
  Mode mode = Mode::serial;
  bool is_publisher = false;
};

/// One end's record and (for subscriptions) timings, until destroyed.
class Endpoint {
 public:
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;
  ~Endpoint();

  Record& operator*() const { return *record_; }
  Record* operator->() const { return record_; }
  [[nodiscard]] Timings* timings() const { return timings_; }
  /// A transport's drop; `transport` is an index from Registry::transport_index().
  void drop(std::size_t transport, std::size_t kind, std::uint64_t n) const noexcept {
    record_->drops[transport][kind].fetch_add(n, std::memory_order_relaxed);
  }
  /// A publish() ended, a callback ended: for the flight recorder, as far as tools see this end.
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

/// All records of one process. Thread-safe; must outlive its endpoints.
class Registry {
 public:
  /// Extends the area by so many zeros, visible to readers; empty: it cannot.
  using Grow = std::function<std::span<std::byte>(std::size_t bytes)>;

  /// Lays out `area` (zeros, aligned to 64, at least kMinArea bytes) for readers in other
  /// processes; an empty span keeps everything on the heap. `keep` owns the area's memory. Without
  /// `grow` the area stays as it is.
  Registry(std::span<std::byte> area, std::shared_ptr<const void> keep, std::string_view process,
           std::uint64_t participant, Grow grow = {});
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;
  ~Registry();

  /// Never fails: when the area is full and cannot grow, the record lives on the heap. Tools then
  /// do not see it, and the log has one line about it.
  [[nodiscard]] std::unique_ptr<Endpoint> add(const EndpointId& id);
  /// The index of a transport's drops, the same for all endpoints. At most kMaxTransports names.
  [[nodiscard]] std::size_t transport_index(std::string_view name);

  /// How far the process has come, and that its thread pool still takes up work. Wait-free.
  void set_state(ProcessState state) noexcept;
  void beat(std::int64_t now_ns) noexcept;
  /// Every live end, wherever its record lives.
  [[nodiscard]] std::vector<EndpointInfo> endpoints() const;

  /// For tools: what time it is here. Some atomic stores; calls must not overlap.
  void set_clock(const ::hyphos::detail::ClockCore& clock, std::string_view channel);
  /// The same for another machine's clock, one entry per `host`; kMaxPeers of them, then the one
  /// that was measured longest ago makes room. Calls must not overlap.
  void set_peer_clock(const PeerClock& peer);

  static constexpr std::size_t kMaxPeers = 32;
  static constexpr std::size_t kBlock = 256 << 10;  ///< bytes of each
  static constexpr std::size_t kMaxBlocks = 1024;
  static const std::size_t kMinArea;  ///< with one block of each kind

 private:
  friend class Endpoint;
  struct Area;
  void remove(Endpoint& endpoint);
  [[nodiscard]] Record* take_record();
  [[nodiscard]] Timings* take_timings(Record& record);
  [[nodiscard]] bool add_block(bool of_records);

  mutable std::mutex mutex_;
  const std::shared_ptr<const void> keep_;
  const Grow grow_;
  std::unique_ptr<Area> area_;
  std::vector<std::string> transport_names_;
  std::vector<const Endpoint*> endpoints_;  // in order of their making
};

/// Whether an end of that name is alive in an area that another process writes. Cheaper than
/// read_area(): looks at names only.
[[nodiscard]] bool has_endpoint(std::span<const std::byte> area, std::string_view channel,
                                bool is_publisher);
/// Reads an area that another process writes. Corrupt content gives an Error, never a crash.
[[nodiscard]] Result<ProcessInfo> read_area(std::span<const std::byte> area);
/// Reads what its flight recorder holds from event `next` on; with the same care.
[[nodiscard]] Result<RecordedEvents> read_events(std::span<const std::byte> area,
                                                 std::uint64_t next);

}  // namespace hyphos::trace
