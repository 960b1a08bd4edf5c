#include "netem/loss.hpp"

namespace hyphos::lab {

Loss::Loss(const LossOptions& options)
    : in_good_(options.probability), in_bad_(options.probability) {
  if (options.burst_packets <= 0 || options.probability <= 0) return;
  in_good_ = options.between;
  in_bad_ = options.in_burst;
  share_bad_ = options.share_bad();
  if (share_bad_ < 1) {
    to_good_ = 1 / options.burst_packets;
    to_bad_ = options.turns_bad();
  }
}

bool Loss::draw(Random& random) {
  if (in_bad_ <= 0 && in_good_ <= 0) return false;
  if (share_bad_ > 0) {
    // The first packet finds the path in its long-run state, so that short runs have no advantage.
    const double chance = !started_ ? share_bad_ : bad_ ? 1 - to_good_ : to_bad_;
    bad_ = random.unit() < chance;
    started_ = true;
  }
  return random.unit() < (bad_ ? in_bad_ : in_good_);
}

}  // namespace hyphos::lab
