#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>

namespace hyphos::view {

/// A time series for plots, with the minimum and maximum of 16, 256 and 4,096 neighbours.
///
/// A query costs by pixels, not by samples: about 100 comparisons per column. Memory: 17 bytes per
/// sample, bounded by the capacity. The oldest 4,096 samples are dropped at a time, and counted.
/// Not thread-safe.
class Pyramid {
 public:
  struct Point {
    std::int64_t time_ns = 0;
    double value = 0;
  };
  /// One column of pixels. `min` > `max` if it has no finite value.
  struct Column {
    double min = 1;
    double max = 0;
    double first = 0;  ///< the first and last finite values, to connect neighbouring columns
    double last = 0;
    std::uint64_t count = 0;  ///< of samples, also of those that are not finite

    [[nodiscard]] bool empty() const { return min > max; }
  };

  /// `capacity` in samples, rounded up to a multiple of 4,096, at least 8,192.
  explicit Pyramid(std::size_t capacity = std::size_t{1} << 20U);

  /// Amortised O(1). Times must not decrease: an earlier sample is dropped and counted. NaN and
  /// infinite values are gaps.
  void append(std::int64_t time_ns, double value);
  void clear();
  /// Drops the oldest 4,096 samples, or all if there are fewer, and counts them.
  void drop_oldest();

  /// Fills `columns`: column i covers [begin + i * width, begin + (i + 1) * width) with width =
  /// (end - begin) / columns.size().
  void query(std::int64_t begin_ns, std::int64_t end_ns, std::span<Column> columns) const;
  /// The minimum and maximum in [begin, end): for the range of the y axis.
  [[nodiscard]] Column summary(std::int64_t begin_ns, std::int64_t end_ns) const;
  /// The sample with the nearest time, for the value under the mouse.
  [[nodiscard]] std::optional<Point> nearest(std::int64_t time_ns) const;

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  /// Samples in order: `i` < size(). For CSV, and for lines when zoomed in.
  [[nodiscard]] Point at(std::size_t i) const;
  /// The index of the first sample with a time >= `time_ns`, size() if there is none.
  [[nodiscard]] std::size_t lower_bound(std::int64_t time_ns) const;
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }            ///< over the capacity
  [[nodiscard]] std::uint64_t out_of_order() const { return out_of_order_; }  ///< not stored

 private:
  static constexpr std::size_t kFan = 16;
  static constexpr std::size_t kBlock = kFan * kFan * kFan;
  struct Range {
    double min;
    double max;
  };
  struct Block;

  /// Merges samples [from, to) into `into`.
  void merge(std::size_t from, std::size_t to, Column& into) const;

  std::deque<std::unique_ptr<Block>> blocks_;
  std::size_t capacity_;
  std::size_t size_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t out_of_order_ = 0;

 public:
  ~Pyramid();
  Pyramid(Pyramid&&) noexcept;
  Pyramid& operator=(Pyramid&&) noexcept;
};

}  // namespace hyphos::view
