#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <span>
#include <string>
#include <utility>

#include "hyphos/time.hpp"
#include "trace/area.hpp"
#include "trace/live_endpoints.hpp"

namespace hyphos::trace {

using namespace area;  // NOLINT(google-build-using-namespace): the layout of this memory

namespace {

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

}  // namespace

std::string_view to_string(Layer layer) {
  constexpr std::array<std::string_view, kLayers> kNames = {
      "encode", "submit", "transport", "deliver", "queue", "decode", "callback"};
  return kNames[static_cast<std::size_t>(layer)];
}

namespace {

/// Reads of an area whose endpoints change all the time. The last one is taken as it is.
constexpr int kAttempts = 100;

/// The part of an endpoint that does not change.
EndpointInfo identity_of(const Record& record, std::uint64_t id) {
  EndpointInfo info;
  info.id = id;
  info.channel = get(record.channel);
  info.node = get(record.node);
  info.type_name = get(record.type_name);
  info.type_hash = record.type_hash;
  info.encoding = std::min(record.encoding, Encoding::none);
  info.is_publisher = record.is_publisher;
  info.mode = std::min(record.mode, Mode::inline_);
  info.policy = record.policy;
  return info;
}

}  // namespace

EndpointInfo area::to_info(const Record& record, const Timings* timings,
                           const std::array<std::string, kMaxTransports>& transports,
                           std::uint64_t id) {
  EndpointInfo info = identity_of(record, id);
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

bool LiveEndpoints::changed(std::span<const std::byte> area) const {
  if (area.size() < Registry::kMinArea || refused_) return false;
  const auto& header = *reinterpret_cast<const Header*>(area.data());
  if (header.magic.load(std::memory_order_acquire) != kMagic) return readable_;
  return !readable_ || header.endpoints_version.load(std::memory_order_acquire) != version_;
}

void LiveEndpoints::read(std::span<const std::byte> area, Changes& changes) {
  const auto checked = checked_header(area);
  readable_ = checked.ok();
  refused_ = !readable_ && checked.error().code == Code::unsupported;
  if (!readable_) return end(changes);
  const auto& version = (*checked)->endpoints_version;
  std::vector<std::uint64_t> now;
  std::vector<EndpointInfo> opened;
  // A record that is replaced during a read gives another version. The read is then repeated.
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    version_ = version.load(std::memory_order_acquire);
    now.assign(ids_.size(), 0);
    opened.clear();
    Blocks(area).each_record([&](std::uint32_t index, const Record& record) {
      const std::uint64_t id = end_id(index, record.generation);
      if (now.size() <= index) now.resize(index + 1);
      now[index] = id;
      changes.bytes += kLookedAt;
      if (index < ids_.size() && ids_[index] == id) return true;
      changes.bytes += sizeof(Record);
      opened.push_back(identity_of(record, id));
      return true;
    });
    std::atomic_thread_fence(std::memory_order_acquire);
    if (version.load(std::memory_order_relaxed) == version_) break;
  }
  for (std::size_t index = 0; index < ids_.size(); ++index) {
    if (ids_[index] != 0 && ids_[index] != now[index]) changes.closed.push_back(ids_[index]);
  }
  ids_ = std::move(now);
  std::ranges::move(opened, std::back_inserter(changes.opened));
}

void LiveEndpoints::end(Changes& changes) {
  for (const std::uint64_t id : ids_) {
    if (id != 0) changes.closed.push_back(id);
  }
  ids_.clear();
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
