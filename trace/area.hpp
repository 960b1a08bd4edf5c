#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "hyphos/inspect.hpp"
#include "trace/record.hpp"
#include "trace/recorder.hpp"

/// The layout of a metrics area, for the process that writes it and for its readers.
namespace hyphos::trace::area {

inline constexpr std::uint64_t kMagic = 0x3154454d53485048ULL;  // "HPHSMET1"
inline constexpr std::uint32_t kVersion = 7;
inline constexpr std::uint32_t kRecordsOfBlock = Registry::kBlock / sizeof(Record);
inline constexpr std::uint32_t kTimingsOfBlock = Registry::kBlock / sizeof(Timings);
enum class Block : std::uint8_t { unused, records, timings };

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
  std::atomic<std::uint32_t> endpoints_version;  // another one after each change of an endpoint
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
inline constexpr std::size_t kRecorderAt = round_up(sizeof(Header));
inline constexpr std::size_t kBlocksAt = round_up(kRecorderAt + sizeof(Recorder), 4096);
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

/// The state of an endpoint. `timings` is null for a publisher.
[[nodiscard]] EndpointInfo to_info(const Record& record, const Timings* timings,
                                   const std::array<std::string, kMaxTransports>& transports,
                                   std::uint64_t id);

}  // namespace hyphos::trace::area
