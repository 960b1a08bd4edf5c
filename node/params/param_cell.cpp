#include <algorithm>
#include <bit>
#include <utility>

#include "hyphos/params.hpp"

namespace hyphos::detail {

ParamCell::ParamCell(std::string name, ParamVariant value, std::vector<std::string> choices)
    : name_(std::move(name)), choices_(std::move(choices)) {
  assign(value);
}

ParamCell::~ParamCell() {
  while (all_ != nullptr) delete std::exchange(all_, all_->next);
}

std::uint64_t ParamCell::to_word(const ParamVariant& value) const {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? 1 : 0;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    return std::bit_cast<std::uint64_t>(*whole);
  }
  if (const auto* real = std::get_if<double>(&value)) return std::bit_cast<std::uint64_t>(*real);
  if (const auto* text = std::get_if<std::string>(&value)) {
    const auto found = std::find(choices_.begin(), choices_.end(), *text);
    if (found != choices_.end()) return static_cast<std::uint64_t>(found - choices_.begin());
  }
  return 0;
}

ParamCell::Version* ParamCell::claim() {
  const Version* current = current_.load();
  for (Version* version = all_; version != nullptr; version = version->next) {
    std::uint32_t unpinned = 0;
    if (version != current && version->pins.compare_exchange_strong(unpinned, kClaimed)) {
      return version;
    }
  }
  auto* made = new Version;
  made->pins.store(kClaimed);
  made->next = all_;
  all_ = made;
  return made;
}

void ParamCell::assign(const ParamVariant& value) {
  const bool is_word = type_of(value) <= ParamType::real;
  if (!is_word || current_.load() == nullptr) {
    Version* version = claim();
    version->value = value;
    version->pins.fetch_sub(kClaimed);
    current_.store(version);
  }
  word_.store(to_word(value), std::memory_order_release);
}

}  // namespace hyphos::detail
