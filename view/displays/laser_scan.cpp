#include <cmath>

#include "hyphos/msgs/sensor.pb.h"
#include "view/core/words.hpp"
#include "view/displays/cloud.hpp"
#include "view/displays/kinds.hpp"
#include "view/displays/message.hpp"

namespace hyphos::view {
namespace {

/// Sweeps of planar lasers as points.
class LaserScan final : public CloudDisplay {
 public:
  LaserScan() {
    flat_ = {255, 110, 80, 255};
    size_ = 3;
    round_ = true;
    map_ = "viridis";
    add_properties({"flat", "field", "height"}, "flat");
  }

 private:
  [[nodiscard]] std::string value_name() const override { return "intensity"; }

  Result<Cloud> decode(const Sample& sample) override {
    msgs::LaserScan scan;
    if (!parse(sample, scan)) {
      return Error{Code::corrupt, not_a("hyphos.msgs.LaserScan", sample), ""};
    }
    if (!std::isfinite(scan.angle_min()) || !std::isfinite(scan.angle_increment())) {
      return Error{Code::corrupt, "angle_min or angle_increment of the scan is not finite", ""};
    }
    const int rays = scan.ranges_size();
    if (scan.intensities_size() != 0 && scan.intensities_size() != rays) {
      return Error{Code::corrupt,
                   "the scan has " + grouped(static_cast<std::uint64_t>(rays)) + " ranges and " +
                       grouped(static_cast<std::uint64_t>(scan.intensities_size())) +
                       " intensities",
                   ""};
    }
    Cloud cloud;
    cloud.frame = frame_of(scan.header());
    cloud.stamp = stamp_of(scan.header());
    const bool valued = coloring_ == "field" && scan.intensities_size() == rays && rays > 0;
    for (int i = 0; i < rays; ++i) {
      const float range = scan.ranges(i);
      // Infinity is a result: nothing is within range_max.
      if (!std::isfinite(range) || range < scan.range_min() ||
          (scan.range_max() > 0 && range > scan.range_max())) {
        if (std::isnan(range)) ++cloud.skipped;
        continue;
      }
      const double angle = scan.angle_min() + static_cast<double>(i) * scan.angle_increment();
      const auto x = static_cast<float>(range * std::cos(angle));
      const auto y = static_cast<float>(range * std::sin(angle));
      if (valued) {
        cloud.valued.push_back({x, y, 0, scan.intensities(i)});
      } else {
        cloud.colored.push_back({x, y, 0, flat_});
      }
    }
    return cloud;
  }
};

}  // namespace

std::unique_ptr<Display> make_laser_scan() { return std::make_unique<LaserScan>(); }

}  // namespace hyphos::view
