#include <cmath>
#include <vector>

#include "view/displays/kinds.hpp"

namespace hyphos::view {
namespace {

/// A ground of lines, which fade towards its edge.
class Grid final : public Display {
 public:
  Grid() {
    properties_.add("cell", &cell_, "distance of the lines", "m", 0.001, 10'000);
    properties_.add("cells", &cells_, "number of cells along a side", "", 1, 1'000);
    properties_.add("plane", &plane_, "plane of the lines", {"xy", "xz", "yz"});
    properties_.add("color", &color_, "colour of the lines");
    properties_.add("z", &z_, "height above the plane", "m", -1e6, 1e6);
    properties_.add("frame", &frame_, "frame of the grid, empty: the fixed frame").is_frame = true;
    report(Health::good, "");
  }

  void take(const Sample&) override {}
  void clear() override {}

  void paint(Painter& painter) override {
    const auto pose = pose_of(frame_, latest);
    if (!pose) return;
    report(Health::good, "");
    const double half = static_cast<double>(cells_) * cell_ / 2;
    std::vector<Vertex> pairs;
    for (std::int64_t i = 0; i <= cells_; ++i) {
      const double at = static_cast<double>(i) * cell_ - half;
      const double share = 1 - std::pow(at / half, 2);
      // The lines through the middle of an even grid are the axes.
      const double strength = 2 * i == cells_ ? 1.0 : 0.62;
      const Color middle = color_.with_alpha(color_.a / 255.0 * strength * share);
      const Color end = color_.with_alpha(0);
      for (const bool along_x : {true, false}) {
        add(pairs, along_x, at, -half, end, 0, middle);
        add(pairs, along_x, at, 0, middle, half, end);
      }
    }
    painter.lines(*pose, pairs, 1.2);
  }

  [[nodiscard]] Bounds bounds() const override { return {}; }

 private:
  void add(std::vector<Vertex>& out, bool along_x, double at, double from, Color first, double to,
           Color last) const {
    out.push_back(corner(along_x, at, from, first));
    out.push_back(corner(along_x, at, to, last));
  }
  [[nodiscard]] Vertex corner(bool along_x, double at, double along, Color color) const {
    const auto u = static_cast<float>(along_x ? along : at);
    const auto v = static_cast<float>(along_x ? at : along);
    const auto w = static_cast<float>(z_);
    if (plane_ == "xz") return {u, w, v, color};
    if (plane_ == "yz") return {w, u, v, color};
    return {u, v, w, color};
  }

  double cell_ = 1;
  std::int64_t cells_ = 20;
  std::string plane_ = "xy";
  Color color_{120, 126, 140, 255};
  double z_ = 0;
  std::string frame_;
};

}  // namespace

std::unique_ptr<Display> make_grid() { return std::make_unique<Grid>(); }

}  // namespace hyphos::view
