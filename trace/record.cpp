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
#include "trace/area.hpp"

namespace hyphos::trace {

using namespace area;  // NOLINT(google-build-using-namespace): the layout of this memory

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
  /// After a change, so that a reader of the new version sees it, and before the next one.
  void announce_change() const {
    if (base != nullptr) header()->endpoints_version.fetch_add(1, std::memory_order_acq_rel);
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
  area_->announce_change();
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
  area_->announce_change();
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

}  // namespace hyphos::trace
