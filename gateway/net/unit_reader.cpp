#include "gateway/net/unit_reader.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace hyphos::gateway::net {
namespace {

/// Bytes read after a large unit and before one: enough for its head, and few bytes to copy once
/// more.
constexpr std::size_t kBehindLarge = std::size_t{4} << 10;

}  // namespace

void UnitReader::Block::take(WritableBuffer fresh) {
  data = fresh.data();
  all = std::move(fresh).freeze();
}

void UnitReader::make_room() {
  if (!block_.free()) {
    Block fresh;
    fresh.take(WritableBuffer::on_heap(kBlock));
    if (waiting() > 0) std::memcpy(fresh.data, block_.data + begin_, waiting());
    block_ = std::move(fresh);
  } else if (waiting() > 0 && begin_ > 0) {
    std::memmove(block_.data, block_.data + begin_, waiting());
  }
  end_ = waiting();
  begin_ = 0;
}

std::array<iovec, 2> UnitReader::space() {
  make_room();
  if (large_size_ == 0) {
    const std::size_t some = expects_large_ ? kBehindLarge : kBlock;
    return {iovec{block_.data + end_, std::min(some, kBlock - end_)}, iovec{nullptr, 0}};
  }
  std::byte* const to = large_.data + large_filled_;
  if (missing() > kBite) return {iovec{to, kBite}, iovec{nullptr, 0}};
  return {iovec{to, missing()}, iovec{block_.data + end_, std::min(kBehindLarge, kBlock - end_)}};
}

void UnitReader::filled(std::size_t size) {
  const std::size_t to_large = std::min(size, large_size_ - large_filled_);
  large_filled_ += to_large;
  end_ += size - to_large;
}

void UnitReader::begin_large(std::size_t size, const Memory& memory) {
  WritableBuffer given;
  if (memory) given = memory({block_.data + begin_, waiting()}, size + kTail);
  lent_ = !given.empty();
  if (lent_) {
    large_ = {};
    large_.take(std::move(given));
  } else if (!large_.free() || large_.all.size() < size + kTail) {
    large_ = {};  // freed before the new buffer is allocated, so that both never exist at once
    large_.take(WritableBuffer::on_heap(size + kTail));
  }
  std::memcpy(large_.data, block_.data + begin_, waiting());
  large_size_ = size;
  large_filled_ = waiting();
  large_told_ = 0;
  begin_ = end_ = 0;
}

UnitReader::Part UnitReader::arrived() {
  const std::size_t from = std::exchange(large_told_, large_filled_);
  return {{large_.data + from, large_filled_ - from}, from};
}

Result<std::optional<Buffer>> UnitReader::next(const Measure& measure, const Memory& memory) {
  if (large_size_ != 0) {
    if (large_filled_ < large_size_) return std::optional<Buffer>();
    Buffer unit = large_.all.slice(0, large_size_);
    large_size_ = large_filled_ = large_told_ = 0;
    if (lent_ || large_.all.size() > kKept) large_ = {};
    expects_large_ = true;
    return std::optional<Buffer>(std::move(unit));
  }
  if (waiting() == 0) return std::optional<Buffer>();
  const auto measured = measure({block_.data + begin_, waiting()});
  if (!measured) return measured.error();
  if (measured->whole && measured->size > 0 && measured->size <= waiting()) {
    begin_ += measured->size;
    expects_large_ = false;
    return std::optional<Buffer>(block_.all.slice(begin_ - measured->size, measured->size));
  }
  if (measured->whole && measured->size > kLarge) {
    begin_large(measured->size, memory);
    return std::optional<Buffer>();
  }
  if (measured->size <= waiting() || measured->size > kBlock) {
    return Error{Code::corrupt,
                 "the head of a unit has " + std::to_string(measured->size) +
                     " bytes, and at most " + std::to_string(kBlock) + " are allowed",
                 {}};
  }
  return std::optional<Buffer>();
}

void UnitReader::discard() {
  begin_ = end_ = 0;
  large_ = {};
  large_size_ = large_filled_ = large_told_ = 0;
}

}  // namespace hyphos::gateway::net
