#include "trace/record.hpp"

#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <climits>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include "base/hot.hpp"
#include "base/log.hpp"
#include "hyphos/time.hpp"

namespace hyphos::trace {
namespace {

constexpr std::uint64_t kMagic = 0x3154454d53485048ULL;  // "HPHSMET1"
constexpr std::uint32_t kVersion = 6;
constexpr std::uint32_t kRecordsOfBlock = Registry::kBlock / sizeof(Record);
constexpr std::uint32_t kTimingsOfBlock = Registry::kBlock / sizeof(Timings);
enum class Block : std::uint8_t { unused, records, timings };
constexpr std::array<std::string_view, kCounters> kCounterNames = {"sent",
                                                                   "received",
                                                                   "bytes",
                                                                   "drop.queue.overflow",
                                                                   "drop.queue.timeout",
                                                                   "drop.closed",
                                                                   "drop.encode.failed",
                                                                   "drop.decode.failed",
                                                                   "deadline_missed",
                                                                   "callback_error",
                                                                   "drop.call.overloaded",
                                                                   "drop.call.timeout",
                                                                   "drop.call.disconnected",
                                                                   "drop.call.stale",
                                                                   "drop.queue.expired",
                                                                   "unmatched.queue_full",
                                                                   "unmatched.too_far_apart",
                                                                   "unmatched.superseded",
                                                                   "unmatched.after_loss",
                                                                   "unmatched.incomplete",
                                                                   "unmatched.repeated",
                                                                   "unmatched.clock_jump",
                                                                   "unmatched.closed"};
// In the order of transport::Drop. A test in transport/ compares the two.
constexpr std::array<std::string_view, kDropKinds> kDropNames = {
    "overflow", "timeout", "no_memory", "disconnected", "gap",
    "corrupt",  "type",    "injected",  "too_many",     "too_large"};

/// Each value is consistent by itself. Two values may come from neighbouring ticks.
struct ClockRecord {
  enum Flag : std::uint32_t { kSim = 1, kReady = 2, kPaused = 4, kReplayed = 8 };

  std::atomic<std::uint32_t> flags;
  std::atomic<std::int64_t> now_ns;
  std::atomic<std::int64_t> base_ns;
  std::atomic<double> speed;
  std::atomic<std::uint64_t> jumps;
  std::array<char, 128> channel;  // written once, before the first reader
};

struct PeerRecord {
  // Odd while the record is written. Text is atomic by bytes, since an entry may be reused for
  // another host.
  std::atomic<std::uint32_t> turn;
  std::atomic<std::uint64_t> host;  // 0: free
  std::atomic<std::int64_t> offset_ns;
  std::atomic<std::int64_t> wall_ahead_ns;
  std::atomic<std::int64_t> uncertainty_ns;
  std::atomic<std::int64_t> round_trip_ns;
  std::atomic<double> drift_ppm;
  std::atomic<std::uint64_t> samples;
  std::atomic<std::int64_t> measured_ns;
  std::array<std::atomic<char>, 64> process;
  std::array<std::atomic<char>, 64> endpoint;
};

struct Header {
  std::atomic<std::uint64_t> magic;
  std::uint32_t version;
  std::uint32_t record_size;
  std::uint32_t block_size;
  std::uint32_t reserved;
  std::uint32_t timings_size;
  std::int32_t pid;
  std::uint64_t participant;
  std::array<char, 64> process;
  std::array<char, 64> host;
  std::array<std::array<char, 16>, kMaxTransports> transports;
  std::atomic<std::int64_t> heartbeat_ns;
  std::atomic<ProcessState> state;
  ClockRecord clock;
  std::array<PeerRecord, Registry::kMaxPeers> peers;
  std::array<std::atomic<Block>, Registry::kMaxBlocks> blocks;
};

constexpr std::size_t round_up(std::size_t n, std::size_t to = 64) {
  return (n + to - 1) / to * to;
}
constexpr std::size_t kRecorderAt = round_up(sizeof(Header));
constexpr std::size_t kBlocksAt = round_up(kRecorderAt + sizeof(Recorder), 4096);
static_assert(kTimingsOfBlock > 0);

template <std::size_t N>
void put(std::array<char, N>& to, std::string_view from) {
  to.fill(0);
  std::memcpy(to.data(), from.data(), std::min(from.size(), N - 1));
}

template <std::size_t N>
std::string get(const std::array<char, N>& from) {
  return {from.data(), strnlen(from.data(), N)};
}

template <std::size_t N>
void put(std::array<std::atomic<char>, N>& to, std::string_view from) {
  for (std::size_t i = 0; i < N; ++i) {
    to[i].store(i < std::min(from.size(), N - 1) ? from[i] : '\0', std::memory_order_release);
  }
}

template <std::size_t N>
std::string get(const std::array<std::atomic<char>, N>& from) {
  std::string text;
  for (const auto& each : from) {
    const char c = each.load(std::memory_order_acquire);
    if (c == '\0') break;
    text += c;
  }
  return text;
}

ClockStatus to_status(const ClockRecord& record) {
  const auto relaxed = std::memory_order_relaxed;
  const std::uint32_t flags = record.flags.load(std::memory_order_acquire);
  ClockStatus status;
  status.mode = (flags & ClockRecord::kSim) != 0 ? ClockMode::sim : ClockMode::real;
  status.channel = get(record.channel);
  status.ready = (flags & ClockRecord::kReady) != 0;
  status.paused = (flags & ClockRecord::kPaused) != 0;
  status.replayed = (flags & ClockRecord::kReplayed) != 0;
  status.speed = record.speed.load(relaxed);
  status.base_ns = record.base_ns.load(relaxed);
  status.jumps = record.jumps.load(relaxed);
  // The real clock is the same for all processes of a machine, so it is read here.
  status.now_ns = status.mode == ClockMode::sim ? record.now_ns.load(relaxed) : wall_now().ns;
  return status;
}

/// Returns false if the entry is free, or kept changing while it was read.
bool read_peer(const PeerRecord& record, PeerClock& out) {
  const auto acquire = std::memory_order_acquire;
  for (int attempt = 0; attempt < 100; ++attempt) {
    const std::uint32_t turn = record.turn.load(acquire);
    if (turn % 2 != 0) continue;
    out.host = record.host.load(acquire);
    out.offset_ns = record.offset_ns.load(acquire);
    out.wall_ahead_ns = record.wall_ahead_ns.load(acquire);
    out.uncertainty_ns = record.uncertainty_ns.load(acquire);
    out.round_trip_ns = record.round_trip_ns.load(acquire);
    out.drift_ppm = record.drift_ppm.load(acquire);
    out.samples = record.samples.load(acquire);
    out.measured_ns = record.measured_ns.load(acquire);
    out.process = get(record.process);
    out.endpoint = get(record.endpoint);
    // Each read above acquires, so this one comes after them.
    if (record.turn.load(acquire) == turn) return out.host != 0;
  }
  return false;
}

EndpointInfo to_info(const Record& record, const Timings* timings,
                     const std::array<std::string, kMaxTransports>& transports, std::uint64_t id) {
  EndpointInfo info;
  info.id = id;
  info.channel = get(record.channel);
  info.node = get(record.node);
  info.type_name = get(record.type_name);
  info.type_hash = record.type_hash;
  info.encoding = std::min(record.encoding, Encoding::custom);
  info.is_publisher = record.is_publisher;
  info.mode = std::min(record.mode, Mode::inline_);
  info.policy = record.policy;
  info.last_ns = record.last_ns.load(std::memory_order_relaxed);
  const std::uint32_t mask = record.transports.load(std::memory_order_relaxed);
  if ((mask & 1U) != 0) info.transports = "pointer";
  for (std::size_t t = 0; t < kMaxTransports; ++t) {
    if ((mask >> (t + 1) & 1U) == 0 || transports[t].empty()) continue;
    if (!info.transports.empty()) info.transports += '+';
    info.transports += transports[t];
  }
  for (std::size_t c = 0; c < kCounters; ++c) {
    const std::uint64_t n = record.counters[c].load(std::memory_order_relaxed);
    if (n != 0) info.counters.emplace_back(kCounterNames[c], n);
  }
  for (std::size_t t = 0; t < kMaxTransports; ++t) {
    for (std::size_t k = 0; k < kDropKinds; ++k) {
      const std::uint64_t n = record.drops[t][k].load(std::memory_order_relaxed);
      if (n == 0) continue;
      info.counters.emplace_back("drop." + transports[t] + "." + std::string(kDropNames[k]), n);
    }
  }
  if (timings == nullptr) return info;
  info.latency = timings->latency.snapshot();
  for (std::size_t l = 0; l < kLayers; ++l) {
    info.layers.emplace_back(to_string(static_cast<Layer>(l)), timings->layers[l].snapshot());
  }
  return info;
}

}  // namespace

std::string_view to_string(Layer layer) {
  constexpr std::array<std::string_view, kLayers> kNames = {
      "encode", "submit", "transport", "deliver", "queue", "decode", "callback"};
  return kNames[static_cast<std::size_t>(layer)];
}

HYPHOS_HOT void Timings::record(const Stamps& stamps, std::int64_t dequeued_ns,
                                Writers writers) noexcept {
  const auto put_in = [writers](auto& histogram, std::int64_t ns) {
    writers == Writers::one ? histogram.record_alone(ns) : histogram.record(ns);
  };
  put_in(latency, stamps.callback - stamps.publish);
  // A layer that was not crossed has the stamp 0 and takes no time.
  std::int64_t last = stamps.publish;
  const auto step = [&](Layer layer, std::int64_t stamp) {
    if (stamp == 0) return;
    put_in(layers[static_cast<std::size_t>(layer)], stamp - last);
    last = stamp;
  };
  step(Layer::encode, stamps.encoded);
  step(Layer::submit, stamps.submitted);
  step(Layer::transport, stamps.arrived);
  step(Layer::deliver, stamps.scheduled);
  step(Layer::queue, dequeued_ns);
  if (stamps.decoded != 0) step(Layer::decode, stamps.callback);
}

void Timings::clear() noexcept {
  latency.clear();
  for (auto& layer : layers) layer.clear();
}

const std::size_t Registry::kMinArea = kBlocksAt + 2 * kBlock;

/// The memory behind a registry: a shared area. Records beyond it are on the heap.
struct Registry::Area {
  std::byte* base = nullptr;
  std::vector<std::byte*> blocks;
  std::size_t used_blocks = 0;
  bool full_told = false;
  std::vector<std::uint32_t> free_records;
  std::vector<std::uint32_t> free_timings;

  [[nodiscard]] Header* header() const { return reinterpret_cast<Header*>(base); }
  [[nodiscard]] Record* record(std::uint32_t i) const {
    return reinterpret_cast<Record*>(blocks[i / kRecordsOfBlock]) + i % kRecordsOfBlock;
  }
  [[nodiscard]] Timings* timing(std::uint32_t i) const {
    return reinterpret_cast<Timings*>(blocks[i / kTimingsOfBlock]) + i % kTimingsOfBlock;
  }
  /// The index of `r`, or none if it is on the heap.
  [[nodiscard]] std::optional<std::uint32_t> index_of(const Record* r) const {
    const auto* at = reinterpret_cast<const std::byte*>(r);
    for (std::size_t i = 0; i < used_blocks; ++i) {
      if (at < blocks[i] || at >= blocks[i] + kBlock) continue;
      return static_cast<std::uint32_t>(i * kRecordsOfBlock) +
             static_cast<std::uint32_t>(r - reinterpret_cast<const Record*>(blocks[i]));
    }
    return {};
  }
};

Registry::Registry(std::span<std::byte> area, std::shared_ptr<const void> keep,
                   std::string_view process, std::uint64_t participant, Grow grow)
    : keep_(std::move(keep)), grow_(std::move(grow)), area_(std::make_unique<Area>()) {
  if (area.empty()) return;
  assert(area.size() >= kMinArea && reinterpret_cast<std::uintptr_t>(area.data()) % 64 == 0);
  area_->base = area.data();
  for (std::size_t at = kBlocksAt; at + kBlock <= area.size(); at += kBlock) {
    if (area_->blocks.size() < kMaxBlocks) area_->blocks.push_back(area.data() + at);
  }
  Header& header = *area_->header();
  header.version = kVersion;
  header.record_size = sizeof(Record);
  header.block_size = kBlock;
  header.timings_size = sizeof(Timings);
  header.pid = getpid();
  header.participant = participant;
  put(header.process, process);
  std::array<char, HOST_NAME_MAX + 1> host{};
  gethostname(host.data(), HOST_NAME_MAX);
  put(header.host, host.data());
  header.magic.store(kMagic, std::memory_order_release);
}

Registry::~Registry() {
  if (area_->base != nullptr) area_->header()->magic.store(0, std::memory_order_release);
}

bool Registry::add_block(bool of_records) {
  Area& area = *area_;
  if (area.base == nullptr) return false;
  if (area.used_blocks == area.blocks.size()) {
    const auto more =
        grow_ && area.used_blocks < kMaxBlocks ? grow_(kBlock) : std::span<std::byte>();
    if (more.size() < kBlock) {
      if (!std::exchange(area.full_told, true)) {
        log::warn("trace",
                  "tools do not see all endpoints of this process, or not their timings: there "
                  "is no memory for more than " +
                      std::to_string(area.used_blocks) + " of at most " +
                      std::to_string(kMaxBlocks) +
                      " blocks of metrics. Make /dev/shm larger, or split the process");
      }
      return false;
    }
    area.blocks.push_back(more.data());
  }
  const std::size_t block = area.used_blocks++;
  const std::uint32_t count = of_records ? kRecordsOfBlock : kTimingsOfBlock;
  const auto first = static_cast<std::uint32_t>(block * count);
  auto& free = of_records ? area.free_records : area.free_timings;
  for (std::uint32_t i = count; i > 0; --i) free.push_back(first + i - 1);
  area.header()->blocks[block].store(of_records ? Block::records : Block::timings,
                                     std::memory_order_release);
  return true;
}

Record* Registry::take_record() {
  if (area_->free_records.empty() && !add_block(true)) return new Record{};
  Record* record = area_->record(area_->free_records.back());
  area_->free_records.pop_back();
  for (auto& counter : record->counters) counter.store(0, std::memory_order_relaxed);
  for (auto& kinds : record->drops) {
    for (auto& drop : kinds) drop.store(0, std::memory_order_relaxed);
  }
  ++record->generation;
  record->last_ns.store(0, std::memory_order_relaxed);
  record->transports.store(0, std::memory_order_relaxed);
  return record;
}

Timings* Registry::take_timings(Record& record) {
  record.timings.store(0, std::memory_order_relaxed);
  if (!area_->index_of(&record)) return new Timings{};
  if (area_->free_timings.empty() && !add_block(false)) return new Timings{};
  const std::uint32_t index = area_->free_timings.back();
  area_->free_timings.pop_back();
  record.timings.store(index + 1, std::memory_order_relaxed);
  return area_->timing(index);  // zeros, see remove()
}

std::unique_ptr<Endpoint> Registry::add(const EndpointId& id) {
  const MutexLock lock(mutex_);
  Record* record = take_record();
  put(record->channel, id.channel);
  put(record->node, id.node);
  put(record->type_name, id.type.name);
  record->type_hash = id.type.hash;
  record->encoding = id.type.encoding;
  record->is_publisher = id.is_publisher;
  record->mode = id.mode;
  record->policy = id.policy;
  record->timings.store(0, std::memory_order_relaxed);
  Timings* timings = id.is_publisher ? nullptr : take_timings(*record);
  record->state.store(Record::kLive, std::memory_order_release);
  std::unique_ptr<Endpoint> endpoint(new Endpoint(*this, record, timings));
  if (const auto index = area_->index_of(record)) {
    endpoint->recorder_ = reinterpret_cast<Recorder*>(area_->base + kRecorderAt);
    endpoint->id_ = end_id(*index, record->generation);
  }
  endpoints_.push_back(endpoint.get());
  return endpoint;
}

void Registry::remove(Endpoint& endpoint) {
  const MutexLock lock(mutex_);
  endpoints_.erase(std::find(endpoints_.begin(), endpoints_.end(), &endpoint));
  Record* record = endpoint.record_;
  record->state.store(Record::kFree, std::memory_order_release);
  const std::uint32_t index = record->timings.load(std::memory_order_relaxed);
  if (index != 0) {
    // Cleared here instead of in take_timings(), so that unused records take no pages.
    area_->timing(index - 1)->clear();
    area_->free_timings.push_back(index - 1);
  } else {
    delete endpoint.timings_;
  }
  if (const auto place = area_->index_of(record)) {
    area_->free_records.push_back(*place);
  } else {
    delete record;
  }
}

std::size_t Registry::transport_index(std::string_view name) {
  const MutexLock lock(mutex_);
  for (std::size_t i = 0; i < transport_names_.size(); ++i) {
    if (transport_names_[i] == name) return i;
  }
  assert(transport_names_.size() < kMaxTransports && "a process uses at most 4 transports");
  transport_names_.emplace_back(name);
  const std::size_t index = transport_names_.size() - 1;
  if (area_->base != nullptr) put(area_->header()->transports[index], name);
  return index;
}

void Registry::set_state(ProcessState state) noexcept {
  if (area_->base != nullptr) area_->header()->state.store(state, std::memory_order_release);
}

void Registry::beat(std::int64_t now_ns) noexcept {
  if (area_->base != nullptr)
    area_->header()->heartbeat_ns.store(now_ns, std::memory_order_relaxed);
}

std::vector<EndpointInfo> Registry::endpoints() const {
  const MutexLock lock(mutex_);
  std::array<std::string, kMaxTransports> names;
  std::copy(transport_names_.begin(), transport_names_.end(), names.begin());
  std::vector<EndpointInfo> out;
  for (const Endpoint* endpoint : endpoints_) {
    out.push_back(to_info(*endpoint->record_, endpoint->timings_, names, endpoint->id_));
  }
  return out;
}

void Registry::set_clock(const ::hyphos::detail::ClockCore& clock, std::string_view channel) {
  if (area_->base == nullptr) return;
  ClockRecord& record = area_->header()->clock;
  const auto relaxed = std::memory_order_relaxed;
  if (record.channel[0] == '\0') put(record.channel, channel);
  record.now_ns.store(clock.mode() == ClockMode::sim ? clock.now().ns : 0, relaxed);
  record.base_ns.store(clock.base().ns, relaxed);
  record.speed.store(clock.speed(), relaxed);
  record.jumps.store(clock.jumps(), relaxed);
  std::uint32_t flags = clock.mode() == ClockMode::sim ? ClockRecord::kSim : 0U;
  if (clock.ready()) flags |= ClockRecord::kReady;
  if (clock.paused()) flags |= ClockRecord::kPaused;
  if (clock.origin() == ClockTick::Origin::replayed) flags |= ClockRecord::kReplayed;
  record.flags.store(flags, std::memory_order_release);
}

void Registry::set_peer_clock(const PeerClock& peer) {
  if (area_->base == nullptr) return;
  auto& peers = area_->header()->peers;
  const auto relaxed = std::memory_order_relaxed;
  PeerRecord* record = &peers[0];
  for (PeerRecord& each : peers) {
    const std::uint64_t host = each.host.load(relaxed);
    if (host == peer.host || host == 0) {
      record = &each;
      break;
    }
    if (each.measured_ns.load(relaxed) < record->measured_ns.load(relaxed)) record = &each;
  }
  // The writer of a sequence lock, with releases on every store instead of fences (Boehm, "Can
  // seqlocks get along with programming language memory models?", 2012). A reader that sees any of
  // these stores also sees the odd turn.
  const std::uint32_t turn = record->turn.load(relaxed);
  record->turn.store(turn + 1, relaxed);
  const auto release = std::memory_order_release;
  record->host.store(peer.host, release);
  record->offset_ns.store(peer.offset_ns, release);
  record->wall_ahead_ns.store(peer.wall_ahead_ns, release);
  record->uncertainty_ns.store(peer.uncertainty_ns, release);
  record->round_trip_ns.store(peer.round_trip_ns, release);
  record->drift_ppm.store(peer.drift_ppm, release);
  record->samples.store(peer.samples, release);
  record->measured_ns.store(peer.measured_ns, release);
  put(record->process, peer.process);
  put(record->endpoint, peer.endpoint);
  record->turn.store(turn + 2, release);
}

Endpoint::~Endpoint() { registry_.remove(*this); }

EndpointInfo Endpoint::info() const {
  std::array<std::string, kMaxTransports> names;
  {
    const MutexLock lock(registry_.mutex_);
    std::copy(registry_.transport_names_.begin(), registry_.transport_names_.end(), names.begin());
  }
  return to_info(*record_, timings_, names, id_);
}

namespace {

Result<const Header*> checked_header(std::span<const std::byte> area) {
  const auto corrupt = [](std::string why) {
    return Error{Code::corrupt, "metrics area not readable: " + std::move(why), ""};
  };
  if (area.size() < Registry::kMinArea) return corrupt("too small");
  const auto& header = *reinterpret_cast<const Header*>(area.data());
  if (header.magic.load(std::memory_order_acquire) != kMagic) return corrupt("not in use");
  if (header.version != kVersion || header.record_size != sizeof(Record) ||
      header.block_size != Registry::kBlock || header.timings_size != sizeof(Timings)) {
    return Error{Code::unsupported, "metrics area of another Hyphos version. Update both sides",
                 ""};
  }
  return &header;
}

/// The blocks of an area at this moment, limited to its bounds.
class Blocks {
 public:
  explicit Blocks(std::span<const std::byte> area)
      : area_(area),
        header_(*reinterpret_cast<const Header*>(area.data())),
        count_(std::min((area.size() - kBlocksAt) / Registry::kBlock, Registry::kMaxBlocks)) {}

  /// Calls `look(index, record)` for every live record until it returns false.
  template <typename Look>
  void each_record(const Look& look) const {
    for (std::size_t block = 0; block < count_; ++block) {
      if (kind(block) != Block::records) continue;
      const auto* records = reinterpret_cast<const Record*>(at(block));
      for (std::uint32_t i = 0; i < kRecordsOfBlock; ++i) {
        if (records[i].state.load(std::memory_order_acquire) != Record::kLive) continue;
        const auto index = static_cast<std::uint32_t>(block * kRecordsOfBlock) + i;
        if (!look(index, records[i])) return;
      }
    }
  }
  /// The timings of a record, or null if it has none.
  [[nodiscard]] const Timings* timings(const Record& of) const {
    const std::uint32_t index = of.timings.load(std::memory_order_relaxed);
    if (index == 0) return nullptr;
    const std::size_t block = (index - 1) / kTimingsOfBlock;
    if (block >= count_ || kind(block) != Block::timings) return nullptr;
    return reinterpret_cast<const Timings*>(at(block)) + (index - 1) % kTimingsOfBlock;
  }

 private:
  [[nodiscard]] Block kind(std::size_t block) const {
    return header_.blocks[block].load(std::memory_order_acquire);
  }
  [[nodiscard]] const std::byte* at(std::size_t block) const {
    return area_.data() + kBlocksAt + block * Registry::kBlock;
  }

  const std::span<const std::byte> area_;
  const Header& header_;
  const std::size_t count_;
};

}  // namespace

bool has_endpoint(std::span<const std::byte> area, std::string_view channel, bool is_publisher) {
  if (!checked_header(area)) return false;
  bool found = false;
  Blocks(area).each_record([&](std::uint32_t, const Record& record) {
    found = record.is_publisher == is_publisher && get(record.channel) == channel;
    return !found;
  });
  return found;
}

Result<RecordedEvents> read_events(std::span<const std::byte> area, std::uint64_t next) {
  const auto header = checked_header(area);
  if (!header) return header.error();
  RecordedEvents out;
  out.process = get((*header)->process);
  out.pid = (*header)->pid;
  out.participant = (*header)->participant;
  out.next = next;
  const auto* recorder = reinterpret_cast<const Recorder*>(area.data() + kRecorderAt);
  out.missed = recorder->read(out.next, out.events);
  Blocks(area).each_record([&](std::uint32_t i, const Record& record) {
    out.ends.push_back(
        {end_id(i, record.generation), get(record.channel), get(record.node), record.is_publisher});
    return true;
  });
  return out;
}

Result<ProcessInfo> read_area(std::span<const std::byte> area) {
  const auto checked = checked_header(area);
  if (!checked) return checked.error();
  const Header& header = **checked;
  ProcessInfo process;
  process.pid = header.pid;
  process.participant = header.participant;
  process.name = get(header.process);
  process.host = get(header.host);
  process.heartbeat_ns = header.heartbeat_ns.load(std::memory_order_relaxed);
  process.state = std::min(header.state.load(std::memory_order_acquire), ProcessState::stopping);
  process.clock = to_status(header.clock);
  for (const PeerRecord& record : header.peers) {
    PeerClock peer;
    if (read_peer(record, peer)) process.peer_clocks.push_back(std::move(peer));
  }
  std::array<std::string, kMaxTransports> names;
  for (std::size_t t = 0; t < kMaxTransports; ++t) names[t] = get(header.transports[t]);
  const Blocks blocks(area);
  blocks.each_record([&](std::uint32_t i, const Record& record) {
    process.endpoints.push_back(
        to_info(record, blocks.timings(record), names, end_id(i, record.generation)));
    return true;
  });
  return process;
}

}  // namespace hyphos::trace
