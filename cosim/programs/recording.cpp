#include <algorithm>
#include <utility>

#include "cosim/programs/source.hpp"

namespace hyphos::cosim {
namespace {

/// Messages with the recorded bytes and intervals.
class Recording final : public Source {
 public:
  explicit Recording(const FlowOptions& options)
      : recorded_(options.recorded),
        start_(options.start),
        lasts_(options.lasts),
        count_(options.count == 0 ? recorded_.size()
                                  : std::min<std::uint64_t>(options.count, recorded_.size())) {}

  Time due() const override {
    if (taken_ >= count_ || recorded_[taken_].after >= lasts_) return kNever;
    return start_ + recorded_[taken_].after;
  }

  std::vector<std::byte> take() override {
    const std::vector<std::byte>& told = recorded_[taken_++].bytes;
    std::vector<std::byte> bytes(kHeaderBytes + told.size());
    std::ranges::copy(told, bytes.begin() + kHeaderBytes);
    return bytes;
  }

 private:
  std::vector<Recorded> recorded_;
  Time start_;
  Duration lasts_;
  std::size_t count_;
  std::size_t taken_ = 0;
};

}  // namespace

namespace make {
std::unique_ptr<Source> recording(const FlowOptions& options) {
  return std::make_unique<Recording>(options);
}
}  // namespace make

}  // namespace hyphos::cosim
