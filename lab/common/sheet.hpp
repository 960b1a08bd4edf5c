#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <stdexcept>

#include "lab/common/options.hpp"
#include "lab/common/shared.hpp"

namespace hyphos::lab {

/// The memory shared by the parent and its children: the start barrier and the results. Results are
/// written in place, so that nothing is sent at the end of the run.
class Sheet {
 public:
  /// "hyphlab" and a version. The version changes with the meaning of any field.
  static constexpr std::uint64_t kMagic = 0x0362616c68707968;
  struct alignas(64) Flow {
    std::atomic<std::int64_t> received, warm, duplicates, corrupt, last_receive_ns;
  };
  struct alignas(64) Source {
    std::atomic<std::int64_t> sent, late_sends;
    std::atomic<std::uint32_t> warm, done;
  };
  /// The layout of the parent's mapping. A process with a different layout, for example a Python
  /// process (hyphos/lab/worker/sheet.py), ends instead of writing to wrong offsets.
  struct Layout {
    std::uint64_t magic;
    std::uint32_t head_bytes, flow_bytes, source_bytes, max_flows;
    bool operator==(const Layout&) const = default;
  };
  struct Head {
    Layout layout;
    SharedPhase phase;
    std::atomic<std::uint32_t> ready, steps;  // `steps` counts events for the parent
    std::atomic<std::int64_t> first_send_ns;
    Flow flows[kMaxFlows];
    Source sources[kMaxFlows];
  };

  Sheet(int fd, const Options& o, bool create)
      : count_(o.count),
        flows_(o.flows()),
        sources_(o.sources()),
        memory_(fd, sizeof(Head) + sizeof(std::int64_t) * columns() * rows(), create,
                create || o.sources() == 1) {
    constexpr Layout kLayout{kMagic, sizeof(Head), sizeof(Flow), sizeof(Source), kMaxFlows};
    if (create) head().layout = kLayout;
    if (head().layout != kLayout)
      throw std::runtime_error("the result sheet has a different version");
  }
  Sheet(const Sheet&) = delete;
  Sheet& operator=(const Sheet&) = delete;

  [[nodiscard]] Head& head() const { return *memory_.at<Head>(0); }
  [[nodiscard]] SharedPhase& phase() const { return head().phase; }

  /// Latency from stamp to callback of each message, by sequence. 0: not received.
  [[nodiscard]] std::span<std::int64_t> latencies(int flow) const { return column(flow); }
  /// Duration of each publish call. 0: not sent.
  [[nodiscard]] std::span<std::int64_t> costs(int source) const { return column(flows_ + source); }
  /// Delay of the start of each publish call after its due time.
  [[nodiscard]] std::span<std::int64_t> lateness(int source) const {
    return column(flows_ + sources_ + source);
  }

  void check_in() const {
    head().ready.fetch_add(1);
    tell_parent();
  }
  void tell_parent() const {
    head().steps.fetch_add(1);
    futex::wake_all(head().steps, futex::Scope::shared);
  }

 private:
  [[nodiscard]] std::span<std::int64_t> column(int i) const {
    return {memory_.at<std::int64_t>(sizeof(Head)) + static_cast<std::ptrdiff_t>(i) * count_,
            rows()};
  }
  [[nodiscard]] std::size_t rows() const { return static_cast<std::size_t>(count_); }
  [[nodiscard]] std::size_t columns() const {
    return static_cast<std::size_t>(flows_ + 2 * sources_);
  }

  std::int64_t count_;
  int flows_;
  int sources_;
  SharedMemory memory_;
};

}  // namespace hyphos::lab
