#include "cosim/programs/source.hpp"

#include <cmath>

#include "cosim/core/random.hpp"

namespace hyphos::cosim {
namespace {

constexpr std::uint64_t kPhase = std::uint64_t{4} << 40;  // the purpose of a random draw

/// Messages of one length. Their content depends on the flow and their number.
class Stream final : public Source {
 public:
  Stream(const FlowOptions& options, std::uint16_t number, std::uint64_t seed)
      : beat_(options, number, seed), bytes_(options.bytes), number_(number) {}

  Time due() const override { return beat_.due(); }
  std::vector<std::byte> take() override {
    const std::uint64_t count = beat_.next();
    std::vector<std::byte> bytes(bytes_);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<std::byte>(std::uint64_t{number_} * 31 + count * 7 + i);
    }
    return bytes;
  }

 private:
  Beat beat_;
  std::size_t bytes_;
  std::uint16_t number_;
};

}  // namespace

Beat::Beat(const FlowOptions& options, std::uint16_t number, std::uint64_t seed)
    : end_{options.lasts.ns > kNever.ns - options.start.ns ? kNever
                                                           : options.start + options.lasts},
      period_ns_(1e9 / options.rate_hz),
      count_(options.count) {
  const double phase = options.drawn_phase ? draw_unit(seed, number, kPhase, 0) * period_ns_ : 0;
  first_ = options.start + Duration{static_cast<std::int64_t>(phase)};
}

Time Beat::due() const {
  if (count_ != 0 && taken_ >= count_) return kNever;
  const double after = static_cast<double>(taken_) * period_ns_;
  if (after > 4e18) return kNever;
  const Time due = first_ + Duration{std::llround(after)};
  return due < end_ ? due : kNever;
}

std::unique_ptr<Source> make_source(const FlowOptions& options, std::uint16_t number,
                                    std::uint64_t seed) {
  switch (options.kind) {
    case FlowKind::accelerometer:
      return make::accelerometer(options, number, seed);
    case FlowKind::recording:
      return make::recording(options);
    case FlowKind::file:
      return make::file(options);
    case FlowKind::stream:
    case FlowKind::ping:
      break;
  }
  return std::make_unique<Stream>(options, number, seed);
}

}  // namespace hyphos::cosim
