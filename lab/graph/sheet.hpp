#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "hyphos/plan.hpp"
#include "lab/common/shared.hpp"

namespace hyphos::lab::graph {

/// Durations in buckets of a 32nd of their octave, in memory of zeros that processes share.
class Durations {
 public:
  void record(std::int64_t ns) {
    counts_[index(static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0)))].fetch_add(
        1, std::memory_order_relaxed);
  }
  /// By the nearest-rank rule, in microseconds; the middle of the bucket. NaN without samples.
  [[nodiscard]] double percentile_us(double percent) const {
    std::uint64_t total = 0;
    for (const auto& count : counts_) total += count.load(std::memory_order_relaxed);
    if (total == 0) return std::nan("");
    auto rank = static_cast<std::uint64_t>(std::ceil(percent / 100 * static_cast<double>(total)));
    rank = std::clamp<std::uint64_t>(rank, 1, total);
    std::size_t at = 0;
    for (std::uint64_t seen = 0; (seen += counts_[at].load(std::memory_order_relaxed)) < rank;) {
      ++at;
    }
    return middle(at) / 1e3;
  }

 private:
  static constexpr unsigned kSubBits = 5, kMaxBits = 44;
  static constexpr std::size_t kBuckets = std::size_t{kMaxBits - kSubBits + 1} << kSubBits;

  static std::size_t index(std::uint64_t value) {
    if (value < (1u << kSubBits)) return static_cast<std::size_t>(value);
    const auto shift = static_cast<unsigned>(std::bit_width(value)) - 1 - kSubBits;
    return std::min((std::size_t{shift} << kSubBits) + static_cast<std::size_t>(value >> shift),
                    kBuckets - 1);
  }
  static double middle(std::size_t at) {
    if (at < (1u << kSubBits)) return static_cast<double>(at);
    const std::size_t shift = (at >> kSubBits) - 1;
    const double low = std::ldexp(static_cast<double>((1u << kSubBits) + at % (1u << kSubBits)),
                                  static_cast<int>(shift));
    return low + std::ldexp(0.5, static_cast<int>(shift));
  }

  std::array<std::atomic<std::uint64_t>, kBuckets> counts_;
};

/// A node that publishes a channel, and one that hears it.
struct End {
  const ChannelPlan* channel;
  std::string node;
};

/// Who sends and who hears, in the order of the plan: the same in every process of a run. Only
/// channels that say what they carry take part.
struct Ends {
  explicit Ends(const Plan& plan) {
    for (const ChannelPlan& channel : plan.channels) {
      if (!channel.load || channel.closed || !channel.publishers || !channel.subscribers) continue;
      for (const std::string& node : *channel.publishers) sources.push_back({&channel, node});
      for (const std::string& node : *channel.subscribers) flows.push_back({&channel, node});
    }
  }
  std::vector<End> sources;
  std::vector<End> flows;
};

/// What the processes of a run share: the steps, and the results, written in place.
class Sheet {
 public:
  struct alignas(64) Source {
    std::atomic<std::int64_t> planned, sent, refused, worst_late_ns;
    std::atomic<std::uint32_t> done;
  };
  struct alignas(64) Flow {
    std::atomic<std::int64_t> warm, received;
    Durations transit;  ///< publish to callback
    /// From the instant at which the first message of the chain was due, of those due in the first
    /// and in the second half of the measurement: a graph that falls behind is later in the second.
    std::array<Durations, 2> late;
  };
  struct Head {
    SharedPhase phase;
    std::atomic<std::uint32_t> ready;
    std::atomic<std::int64_t> first_send_ns, middle_ns;
  };

  Sheet(int fd, const Ends& ends, bool create)
      : sources_(ends.sources.size()),
        memory_(fd, kFirst + sources_ * sizeof(Source) + ends.flows.size() * sizeof(Flow), create,
                create) {}
  Sheet(const Sheet&) = delete;
  Sheet& operator=(const Sheet&) = delete;

  [[nodiscard]] Head& head() const { return *memory_.at<Head>(0); }
  [[nodiscard]] SharedPhase& phase() const { return head().phase; }
  [[nodiscard]] Source& source(std::size_t i) const { return memory_.at<Source>(kFirst)[i]; }
  [[nodiscard]] Flow& flow(std::size_t i) const {
    return memory_.at<Flow>(kFirst + sources_ * sizeof(Source))[i];
  }

 private:
  static constexpr std::size_t kFirst = 64;
  static_assert(sizeof(Head) <= kFirst);

  std::size_t sources_;
  SharedMemory memory_;
};

}  // namespace hyphos::lab::graph
