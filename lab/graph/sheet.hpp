#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/percentile.hpp"
#include "hyphos/plan.hpp"
#include "lab/common/late.hpp"
#include "lab/common/shared.hpp"

namespace hyphos::lab::graph {

/// Durations in buckets that are a 2^SubBits-th of their octave wide, in zero-initialized memory
/// that processes share.
template <unsigned SubBits>
class Buckets {
 public:
  void record(std::int64_t ns) {
    counts_[index(static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0)))].fetch_add(
        1, std::memory_order_relaxed);
  }
  /// The percentile by the nearest-rank rule, in microseconds: the middle of the bucket. NaN
  /// without samples.
  [[nodiscard]] double percentile_us(double percent) const {
    std::uint64_t total = 0;
    for (const auto& count : counts_) total += count.load(std::memory_order_relaxed);
    if (total == 0) return std::nan("");
    const std::uint64_t rank = nearest_rank(percent / 100, total);
    std::size_t at = 0;
    for (std::uint64_t seen = 0; (seen += counts_[at].load(std::memory_order_relaxed)) < rank;) {
      ++at;
    }
    return middle(at) / 1e3;
  }
  /// Calls `each` with the lowest value and the count of each non-empty bucket, in order.
  template <typename F>
  void for_each(F each) const {
    for (std::size_t at = 0; at < kBuckets; ++at) {
      const std::uint64_t count = counts_[at].load(std::memory_order_relaxed);
      if (count != 0) each(static_cast<std::int64_t>(lowest(at)), count);
    }
  }

 private:
  static constexpr unsigned kSubBits = SubBits, kMaxBits = 44;
  static constexpr std::size_t kBuckets = std::size_t{kMaxBits - kSubBits + 1} << kSubBits;

  static std::size_t index(std::uint64_t value) {
    if (value < (1u << kSubBits)) return static_cast<std::size_t>(value);
    const auto shift = static_cast<unsigned>(std::bit_width(value)) - 1 - kSubBits;
    return std::min((std::size_t{shift} << kSubBits) + static_cast<std::size_t>(value >> shift),
                    kBuckets - 1);
  }
  static double middle(std::size_t at) {
    if (at < (1u << kSubBits)) return static_cast<double>(at);
    const auto shift = static_cast<int>((at >> kSubBits) - 1);
    return static_cast<double>(lowest(at)) + std::ldexp(0.5, shift);
  }
  static std::uint64_t lowest(std::size_t at) {
    if (at < (1u << kSubBits)) return at;
    return ((std::uint64_t{1} << kSubBits) + at % (1u << kSubBits)) << ((at >> kSubBits) - 1);
  }

  std::array<std::atomic<std::uint64_t>, kBuckets> counts_;
};

using Durations = Buckets<5>;
/// As precise as the histograms of a result (lab/common/stats.hpp): 280 KB each.
using FineDurations = Buckets<10>;

/// A node that publishes or subscribes to a channel.
struct End {
  const ChannelPlan* channel;
  std::string node;
};

/// The publishers and subscribers in the order of the plan, equal in every process of a run. Only
/// channels with a load take part.
struct Ends {
  explicit Ends(const Plan& plan) {
    for (const ChannelPlan& channel : plan.channels) {
      if (!channel.load || channel.open == Where::nowhere || !channel.publishers ||
          !channel.subscribers)
        continue;
      for (const std::string& node : *channel.publishers) sources.push_back({&channel, node});
      for (const std::string& node : *channel.subscribers) flows.push_back({&channel, node});
    }
    for (const End& flow : flows) last.push_back(answered(flow) ? kNone : chains++);
  }
  static constexpr std::size_t kNone = SIZE_MAX;

  std::vector<End> sources;
  std::vector<End> flows;
  std::vector<std::size_t> last;  ///< by flow: index of the chain end, or kNone
  std::size_t chains = 0;         ///< number of flows without a reply

 private:
  [[nodiscard]] bool answered(const End& flow) const {
    return std::any_of(sources.begin(), sources.end(), [&](const End& source) {
      return source.node == flow.node && source.channel->load->after == flow.channel->name;
    });
  }
};

/// The memory that the processes of a run share: the steps, and the results, written in place.
class Sheet {
 public:
  struct alignas(64) Source {
    std::atomic<std::int64_t> planned, sent, refused, late, worst_late_ns;
    std::atomic<std::uint32_t> done;
    Durations cost;  ///< duration of each publish call
  };
  struct alignas(64) Flow {
    std::atomic<std::int64_t> warm, received;
    std::atomic<std::int64_t> duplicates, corrupt, last_receive_ns;
    Durations transit;  ///< from publish to callback
    /// Latency from the due time of the first message of the chain, for each part of the
    /// measurement. It increases from part to part in a graph that falls behind.
    std::array<Durations, kLateParts> late;
  };
  /// The end of a chain: the latency to the callback from the first publish of the chain, and from
  /// the due time of that publish.
  struct alignas(64) Chain {
    FineDurations latency, open;
  };
  struct Head {
    SharedPhase phase;
    std::atomic<std::uint32_t> ready;
    std::atomic<std::int64_t> first_send_ns, span_ns;
  };

  /// `figures` adds the figures of whole chains.
  Sheet(int fd, const Ends& ends, bool figures, bool create)
      : sources_(ends.sources.size()),
        flows_(ends.flows.size()),
        memory_(fd, chains_at() + (figures ? ends.chains * sizeof(Chain) : 0), create, create) {}
  Sheet(const Sheet&) = delete;
  Sheet& operator=(const Sheet&) = delete;

  [[nodiscard]] Head& head() const { return *memory_.at<Head>(0); }
  [[nodiscard]] SharedPhase& phase() const { return head().phase; }
  [[nodiscard]] Source& source(std::size_t i) const { return memory_.at<Source>(kFirst)[i]; }
  [[nodiscard]] Flow& flow(std::size_t i) const {
    return memory_.at<Flow>(kFirst + sources_ * sizeof(Source))[i];
  }
  [[nodiscard]] Chain& chain(std::size_t i) const { return memory_.at<Chain>(chains_at())[i]; }

 private:
  static constexpr std::size_t kFirst = 64;
  static_assert(sizeof(Head) <= kFirst);

  [[nodiscard]] std::size_t chains_at() const {
    return kFirst + sources_ * sizeof(Source) + flows_ * sizeof(Flow);
  }

  std::size_t sources_, flows_;
  SharedMemory memory_;
};

}  // namespace hyphos::lab::graph
