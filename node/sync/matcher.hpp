#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hyphos/synchronizer.hpp"

namespace hyphos::sync {

/// Forms sets of messages, one of each channel, by their stamps. Pure: no clock, no threads, no
/// I/O. Messages are opaque here. Not thread-safe.
///
/// Invariant: received = matched + unmatched of all reasons + waiting, for each channel.
class Matcher {
 public:
  using Message = std::shared_ptr<const void>;
  using Set = std::vector<Message>;  // in the order of the channels
  struct Lost {
    std::size_t channel = 0;
    Unmatched why = Unmatched::queue_full;
    Message message;  // drop it without a lock: this may free memory
  };
  /// The results of one call.
  struct Outcome {
    std::vector<Set> sets;
    std::vector<Lost> lost;
  };
  struct Counts {
    std::uint64_t received = 0;
    std::uint64_t matched = 0;
    std::array<std::uint64_t, kUnmatchedReasons> unmatched{};
  };

  virtual ~Matcher() = default;
  Matcher(const Matcher&) = delete;
  Matcher& operator=(const Matcher&) = delete;

  /// `channel` counts from 0.
  void add(std::size_t channel, std::int64_t stamp_ns, Message message, Outcome& out);
  /// Drops all waiting messages.
  void clear(Unmatched why, Outcome& out);
  [[nodiscard]] std::size_t channels() const { return counts_.size(); }
  [[nodiscard]] const Counts& counts(std::size_t channel) const { return counts_[channel]; }
  [[nodiscard]] std::uint64_t waiting(std::size_t channel) const;

 protected:
  explicit Matcher(std::size_t channels) : counts_(channels) {}
  void lose(std::size_t channel, Unmatched why, Message message);
  void emit(Set set);

 private:
  virtual void accept(std::size_t channel, std::int64_t stamp_ns, Message message) = 0;
  virtual void drop_all(Unmatched why) = 0;

  std::vector<Counts> counts_;
  Outcome* out_ = nullptr;  // during a call
};

/// The options must be valid: problem_of(). `channels`: 2..kMaxSyncChannels.
[[nodiscard]] std::unique_ptr<Matcher> make_exact(std::size_t channels, const SyncOptions& options);
[[nodiscard]] std::unique_ptr<Matcher> make_approximate(std::size_t channels,
                                                        const SyncOptions& options);
[[nodiscard]] std::unique_ptr<Matcher> make_matcher(std::size_t channels,
                                                    const SyncOptions& options);
/// Empty, or the reason why no matcher can have these options.
[[nodiscard]] std::string problem_of(std::size_t channels, const SyncOptions& options);

}  // namespace hyphos::sync
