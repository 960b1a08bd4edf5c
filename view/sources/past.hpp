#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "view/core/sample.hpp"
#include "view/core/source.hpp"

namespace hyphos::view {

/// The last messages of a live source, so that one can go back in time.
///
/// Bounded in bytes: the oldest samples are dropped. The last dropped value of each channel, of a
/// latched channel of each sender, is kept beyond the bound. Not thread-safe.
class Past {
 public:
  explicit Past(std::size_t limit_bytes) : limit_(limit_bytes) {}

  /// Appends a sample. Its time becomes that of the last one, if it is earlier.
  void add(Sample sample, bool latched);
  void limit(std::size_t bytes);
  /// The samples from this position on stay, also beyond the bound. kNone: none of them.
  void keep_from(std::uint64_t position);
  static constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] TimeRange range() const;

  /// Positions count samples since the start, and stay valid while samples are dropped.
  [[nodiscard]] std::uint64_t begin() const { return dropped_; }
  [[nodiscard]] std::uint64_t end() const { return dropped_ + samples_.size(); }
  /// The position of the first sample later than `time_ns`.
  [[nodiscard]] std::uint64_t after(std::int64_t time_ns) const;
  [[nodiscard]] const Sample& at(std::uint64_t position) const;
  /// The sample of the last add().
  [[nodiscard]] const Sample& newest() const { return samples_.back().sample; }

  /// The last samples before a position, one of each channel and, if it is latched, sender. In
  /// order of time.
  [[nodiscard]] std::vector<Sample> values_before(std::uint64_t position) const;
  /// The same, where each channel goes on to its own instant in `until_ns`, but not to `end`.
  [[nodiscard]] std::vector<Sample> values_before(std::uint64_t position, std::uint64_t end,
                                                  std::span<const std::int64_t> until_ns) const;

 private:
  using Key = std::pair<std::uint32_t, std::uint64_t>;  // channel, sender if latched
  struct Kept {
    Sample sample;
    Key key;
  };
  void trim();
  void pin(Kept kept);
  void unpin(std::map<Key, Sample>::iterator at);

  std::size_t limit_;
  std::size_t bytes_ = 0;
  std::size_t pinned_bytes_ = 0;  // part of bytes_
  std::uint64_t dropped_ = 0;
  std::uint64_t keep_from_ = kNone;
  std::deque<Kept> samples_;
  std::map<Key, Sample> pinned_;  // the last dropped ones
};

}  // namespace hyphos::view
