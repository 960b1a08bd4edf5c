#include "view/core/pyramid.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hyphos::view {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

// Samples i * kFan to (i + 1) * kFan of `values` are summarised in by16[i], and so on. A block that
// is not full has summaries of the samples so far.
struct Pyramid::Block {
  std::size_t size = 0;
  std::array<std::int64_t, kBlock> times;
  std::array<double, kBlock> values;
  std::array<Range, kBlock / kFan> by16;
  std::array<Range, kBlock / kFan / kFan> by256;
  Range all{kInfinity, -kInfinity};

  void append(std::int64_t time_ns, double value) {
    const std::size_t i = size++;
    times[i] = time_ns;
    values[i] = value;
    if (i % kFan == 0) by16[i / kFan] = {kInfinity, -kInfinity};
    if (i % (kFan * kFan) == 0) by256[i / kFan / kFan] = {kInfinity, -kInfinity};
    if (!std::isfinite(value)) return;
    for (Range* range : {&by16[i / kFan], &by256[i / kFan / kFan], &all}) {
      range->min = std::min(range->min, value);
      range->max = std::max(range->max, value);
    }
  }

  /// The index of the first time >= `time_ns`.
  [[nodiscard]] std::size_t lower_bound(std::int64_t time_ns) const {
    const auto* const end = times.data() + size;
    return static_cast<std::size_t>(std::lower_bound(times.data(), end, time_ns) - times.data());
  }
};

Pyramid::Pyramid(std::size_t capacity)
    : capacity_(std::max((capacity + kBlock - 1) / kBlock, std::size_t{2}) * kBlock) {}
Pyramid::~Pyramid() = default;
Pyramid::Pyramid(Pyramid&&) noexcept = default;
Pyramid& Pyramid::operator=(Pyramid&&) noexcept = default;

void Pyramid::append(std::int64_t time_ns, double value) {
  if (size_ != 0 && time_ns < at(size_ - 1).time_ns) {
    ++out_of_order_;
    return;
  }
  if (blocks_.empty() || blocks_.back()->size == kBlock) {
    if (size_ >= capacity_) {
      blocks_.push_back(std::move(blocks_.front()));
      blocks_.pop_front();
      size_ -= kBlock;
      dropped_ += kBlock;
      blocks_.back()->size = 0;
      blocks_.back()->all = {kInfinity, -kInfinity};
    } else {
      // Not initialised, because a short series would touch all of its pages.
      blocks_.push_back(std::make_unique_for_overwrite<Block>());
    }
  }
  blocks_.back()->append(time_ns, value);
  ++size_;
}

void Pyramid::clear() {
  blocks_.clear();
  size_ = 0;
}

void Pyramid::drop_oldest() {
  if (blocks_.empty()) return;
  size_ -= blocks_.front()->size;
  dropped_ += blocks_.front()->size;
  blocks_.pop_front();
}

Pyramid::Point Pyramid::at(std::size_t i) const {
  const Block& block = *blocks_[i / kBlock];
  return {block.times[i % kBlock], block.values[i % kBlock]};
}

std::size_t Pyramid::bytes() const { return blocks_.size() * sizeof(Block); }

std::size_t Pyramid::lower_bound(std::int64_t time_ns) const {
  // Every block but the last is full, and none is empty.
  const auto block = std::partition_point(blocks_.begin(), blocks_.end(), [&](const auto& one) {
    return one->times[one->size - 1] < time_ns;
  });
  if (block == blocks_.end()) return size_;
  const auto before = static_cast<std::size_t>(block - blocks_.begin());
  return before * kBlock + (*block)->lower_bound(time_ns);
}

void Pyramid::merge(std::size_t from, std::size_t to, Column& into) const {
  into.count += to - from;
  double min = into.empty() ? kInfinity : into.min;
  double max = into.empty() ? -kInfinity : into.max;
  const auto add = [&](const Range& range) {
    min = std::min(min, range.min);
    max = std::max(max, range.max);
  };
  for (std::size_t i = from; i < to;) {
    const Block& block = *blocks_[i / kBlock];
    const std::size_t at = i % kBlock;
    const std::size_t left = std::min(to - i, block.size - at);
    if (at == 0 && left == block.size) {
      add(block.all);
      i += left;
    } else if (at % (kFan * kFan) == 0 && left >= kFan * kFan) {
      add(block.by256[at / kFan / kFan]);
      i += kFan * kFan;
    } else if (at % kFan == 0 && left >= kFan) {
      add(block.by16[at / kFan]);
      i += kFan;
    } else {
      const double value = block.values[at];
      if (std::isfinite(value)) add({value, value});
      ++i;
    }
  }
  if (min > max) return;
  // The range holds a finite value, so both searches end. Gaps are short in practice.
  std::size_t first = from;
  while (!std::isfinite(at(first).value)) ++first;
  std::size_t last = to - 1;
  while (!std::isfinite(at(last).value)) --last;
  if (into.empty()) into.first = at(first).value;
  into.last = at(last).value;
  into.min = min;
  into.max = max;
}

void Pyramid::query(std::int64_t begin_ns, std::int64_t end_ns, std::span<Column> columns) const {
  std::fill(columns.begin(), columns.end(), Column{});
  if (columns.empty() || size_ == 0 || end_ns <= begin_ns) return;
  const double width = (static_cast<double>(end_ns) - static_cast<double>(begin_ns)) /
                       static_cast<double>(columns.size());
  std::size_t from = lower_bound(begin_ns);
  for (std::size_t i = 0; i < columns.size() && from < size_; ++i) {
    const bool last = i + 1 == columns.size();
    // Unsigned, because an interval may have all 64 bits. A double would lose nanoseconds.
    const auto offset =
        last ? std::uint64_t{0} : static_cast<std::uint64_t>(width * static_cast<double>(i + 1));
    const std::int64_t edge =
        last ? end_ns : static_cast<std::int64_t>(static_cast<std::uint64_t>(begin_ns) + offset);
    const std::size_t to = lower_bound(edge);
    if (to > from) merge(from, to, columns[i]);
    from = std::max(from, to);
  }
}

Pyramid::Column Pyramid::summary(std::int64_t begin_ns, std::int64_t end_ns) const {
  Column out;
  const std::size_t from = lower_bound(begin_ns);
  const std::size_t to = lower_bound(end_ns);
  if (to > from) merge(from, to, out);
  return out;
}

std::optional<Pyramid::Point> Pyramid::nearest(std::int64_t time_ns) const {
  if (size_ == 0) return std::nullopt;
  const std::size_t after = lower_bound(time_ns);
  if (after == size_) return at(size_ - 1);
  if (after == 0) return at(0);
  const Point a = at(after - 1);
  const Point b = at(after);
  return time_ns - a.time_ns < b.time_ns - time_ns ? a : b;
}

}  // namespace hyphos::view
