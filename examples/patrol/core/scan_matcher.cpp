#include "scan_matcher.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cassert>
#include <cmath>

namespace patrol {
namespace {

// The standard deviation of one point's distance from a wall, m. It is far above the noise of a
// laser, because neighbouring beams are not independent.
constexpr double kPointSigma = 0.1;
// The largest extent of a field in x and in y, m.
constexpr double kWidest = 150.0;

struct Candidate {
  int angle;  // index of the rotated point set
  int x;      // cells from the guess
  int y;
  double bound;
};

// out[i] = max(a[i], b[i])
void maximum(const std::uint8_t* a, const std::uint8_t* b, std::uint8_t* out, int count) {
  for (int i = 0; i < count; ++i) out[i] = std::max(a[i], b[i]);
}

// Computes the block maxima of `level` from those of level - 1: the maximum of four overlapping
// blocks. Cell i of a level combines cells i - half and i of the finer level, where they exist.
std::vector<std::uint8_t> next_level(const std::vector<std::uint8_t>& fine, int width, int height,
                                     int level) {
  const int half = 1 << (level - 1);
  const int fine_w = width + half - 1, fine_h = height + half - 1;
  const int w = fine_w + half, h = fine_h + half;
  const int shared = std::max(fine_w - half, 0);  // columns that have both cells
  auto offset = [](int row, int columns) { return static_cast<std::ptrdiff_t>(row) * columns; };
  std::vector<std::uint8_t> rows(static_cast<std::size_t>(w) * static_cast<std::size_t>(fine_h));
  for (int y = 0; y < fine_h; ++y) {
    const std::uint8_t* in = fine.data() + offset(y, fine_w);
    std::uint8_t* out = rows.data() + offset(y, w);
    std::copy_n(in, std::min(half, fine_w), out);
    maximum(in, in + half, out + half, shared);
    std::copy(in + shared, in + fine_w, out + half + shared);
  }
  std::vector<std::uint8_t> result(static_cast<std::size_t>(w) * static_cast<std::size_t>(h));
  for (int y = 0; y < h; ++y) {
    if (y >= fine_h && y < half) continue;
    const int below = std::clamp(y - half, 0, fine_h - 1), above = std::min(y, fine_h - 1);
    maximum(rows.data() + offset(y < half ? above : below, w),
            rows.data() + offset(y >= fine_h ? below : above, w), result.data() + offset(y, w), w);
  }
  return result;
}

// The Gaussian round a point, prepared for 16 x 16 positions of the point inside its cell. Pressing
// one stamp is then a maximum over a few rows of bytes, which compilers turn into vector
// instructions.
class Stamps {
 public:
  explicit Stamps(double sigma_cells)
      : reach_(static_cast<int>(std::ceil(3.0 * sigma_cells))),
        row_((2 * reach_ + 2 + kLane - 1) / kLane * kLane),
        bytes_(static_cast<std::size_t>(kSteps * kSteps * rows() * row_), 0) {
    // The Gaussian is the product of a Gaussian in x and one in y.
    std::vector<double> slice(static_cast<std::size_t>(kSteps * rows()));
    for (int i = 0; i < kSteps * rows(); ++i) {
      const double d = i % rows() - reach_ - (i / rows() + 0.5) / kSteps;
      slice[static_cast<std::size_t>(i)] = std::exp(-d * d / (2.0 * sigma_cells * sigma_cells));
    }
    for (int place = 0; place < kSteps * kSteps; ++place) {
      const double* in_x = slice.data() + static_cast<std::ptrdiff_t>(place % kSteps) * rows();
      const double* in_y = slice.data() + static_cast<std::ptrdiff_t>(place / kSteps) * rows();
      std::uint8_t* out = bytes_.data() + static_cast<std::ptrdiff_t>(place) * rows() * row_;
      for (int y = 0; y < rows(); ++y, out += row_) {
        for (int x = 0; x < rows(); ++x) {
          out[x] = static_cast<std::uint8_t>(255.0 * in_x[x] * in_y[y] + 0.5);
        }
      }
    }
  }

  // A point in cell c touches columns [c - reach, c - reach + row) and rows [c - reach, c + reach +
  // 1].
  [[nodiscard]] int reach() const { return reach_; }
  [[nodiscard]] int row() const { return row_; }

  // x, y: the point's position in cells from the centre of cell (0, 0) of `field`.
  void press(std::uint8_t* field, int width, double x, double y) const {
    const int cx = static_cast<int>(x), cy = static_cast<int>(y);  // neither is negative
    const int place =
        static_cast<int>((y - cy) * kSteps) * kSteps + static_cast<int>((x - cx) * kSteps);
    const std::uint8_t* in = bytes_.data() + static_cast<std::ptrdiff_t>(place) * rows() * row_;
    std::uint8_t* out = field + static_cast<std::ptrdiff_t>(cy - reach_) * width + (cx - reach_);
    for (int i = 0; i < rows(); ++i, in += row_, out += width) {
      for (int lane = 0; lane < row_; lane += kLane) {
        for (int k = 0; k < kLane; ++k) out[lane + k] = std::max(out[lane + k], in[lane + k]);
      }
    }
  }

 private:
  static constexpr int kSteps = 16;
  static constexpr int kLane = 16;

  [[nodiscard]] int rows() const { return 2 * reach_ + 2; }

  int reach_;
  int row_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace

LikelihoodField::LikelihoodField(std::span<const Point2> points, double resolution_m,
                                 double sigma_m, int levels)
    : resolution_(resolution_m),
      sigma_(sigma_m),
      pyramid_(static_cast<std::size_t>(std::max(levels, 1))) {
  if (points.empty()) return;
  const Stamps stamps(sigma_m / resolution_m);
  const int reach = stamps.reach();
  double x_min = points[0].x, x_max = x_min, y_min = points[0].y, y_max = y_min;
  for (const Point2& p : points) {
    x_min = std::min(x_min, p.x), x_max = std::max(x_max, p.x);
    y_min = std::min(y_min, p.y), y_max = std::max(y_max, p.y);
  }
  // Points this far apart do not belong to one place, and their field would take gigabytes.
  if (!(x_max - x_min <= kWidest && y_max - y_min <= kWidest)) return;
  origin_ = {std::floor(x_min / resolution_m - reach - 1) * resolution_m,
             std::floor(y_min / resolution_m - reach - 1) * resolution_m};
  width_ = cell_x(x_max) - reach + stamps.row() + 1;
  height_ = cell_y(y_max) + reach + 2;

  std::vector<std::uint8_t>& base = pyramid_[0];
  base.assign(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_), 0);
  for (const Point2& p : points) {
    stamps.press(base.data(), width_, (p.x - origin_.x) / resolution_m - 0.5,
                 (p.y - origin_.y) / resolution_m - 0.5);
  }
  for (int level = 1; level < this->levels(); ++level) {
    const auto l = static_cast<std::size_t>(level);
    pyramid_[l] = next_level(pyramid_[l - 1], width_, height_, level);
  }
}

int LikelihoodField::cell_x(double x_m) const {
  return static_cast<int>(std::floor((x_m - origin_.x) / resolution_));
}

int LikelihoodField::cell_y(double y_m) const {
  return static_cast<int>(std::floor((y_m - origin_.y) / resolution_));
}

namespace {

// Catmull-Rom weights of four neighbours and their derivatives, at t in [0, 1) between the middle
// two. Linear weights would turn a ridge between two cells into a flat top half a cell wide, and a
// pose could slide by that width. Catmull-Rom weights keep the ridge.
void cubic_weights(double t, double (&w)[4], double (&dw)[4]) {
  const double t2 = t * t, t3 = t2 * t;
  w[0] = 0.5 * (-t3 + 2.0 * t2 - t);
  w[1] = 0.5 * (3.0 * t3 - 5.0 * t2 + 2.0);
  w[2] = 0.5 * (-3.0 * t3 + 4.0 * t2 + t);
  w[3] = 0.5 * (t3 - t2);
  dw[0] = 0.5 * (-3.0 * t2 + 4.0 * t - 1.0);
  dw[1] = 0.5 * (9.0 * t2 - 10.0 * t);
  dw[2] = 0.5 * (-9.0 * t2 + 8.0 * t + 1.0);
  dw[3] = 0.5 * (3.0 * t2 - 2.0 * t);
}

}  // namespace

LikelihoodField::Sample LikelihoodField::sample(double x_m, double y_m) const {
  const double fx = (x_m - origin_.x) / resolution_ - 0.5;
  const double fy = (y_m - origin_.y) / resolution_ - 0.5;
  // The field is 0 along its edges.
  if (!(fx >= 1.0 && fy >= 1.0 && fx < width_ - 2 && fy < height_ - 2)) return {0.0, 0.0, 0.0};
  const int x = static_cast<int>(fx), y = static_cast<int>(fy);
  double wx[4], dx[4], wy[4], dy[4];
  cubic_weights(fx - x, wx, dx);
  cubic_weights(fy - y, wy, dy);
  Sample out{0.0, 0.0, 0.0};
  const std::uint8_t* row =
      pyramid_[0].data() + static_cast<std::ptrdiff_t>(y - 1) * width_ + x - 1;
  for (int j = 0; j < 4; ++j, row += width_) {
    const double value = wx[0] * row[0] + wx[1] * row[1] + wx[2] * row[2] + wx[3] * row[3];
    const double slope = dx[0] * row[0] + dx[1] * row[1] + dx[2] * row[2] + dx[3] * row[3];
    out.value += wy[j] * value;
    out.dx += wy[j] * slope;
    out.dy += dy[j] * value;
  }
  // The curve may overshoot the values that it interpolates.
  out.value = std::clamp(out.value / 255.0, 0.0, 1.0);
  out.dx /= 255.0 * resolution_;
  out.dy /= 255.0 * resolution_;
  return out;
}

namespace {

// The points turned by one angle, as cells of the field, at the translation of the guess.
struct RotatedPoints {
  double theta;
  double discount;
  std::vector<std::pair<int, int>> cells;
};

class Search {
 public:
  Search(const LikelihoodField& field, std::span<const Point2> points, const Pose2& guess,
         const SearchWindow& window)
      : field_(field), guess_(guess), window_(window) {
    // One angle step moves a typical point by one cell. Far points move by more, and refine()
    // corrects that.
    double sum2 = 0.0;
    for (const Point2& p : points) sum2 += p.x * p.x + p.y * p.y;
    const double reach = std::sqrt(sum2 / static_cast<double>(points.size()));
    const double step = field.resolution() / std::max(reach, 1.0);
    const int steps = static_cast<int>(std::ceil(window.rotation_rad / step));
    radius_ = static_cast<int>(std::ceil(window.translation_m / field.resolution()));
    for (int i = -steps; i <= steps; ++i) {
      const Pose2 turned{guess.x, guess.y, guess.theta + i * step};
      RotatedPoints rotated{turned.theta, penalty(i, std::max(steps, 1)), {}};
      rotated.cells.reserve(points.size());
      const double c = std::cos(turned.theta), s = std::sin(turned.theta);
      for (const Point2& p : points) {
        rotated.cells.emplace_back(field.cell_x(turned.x + c * p.x - s * p.y),
                                   field.cell_y(turned.y + s * p.x + c * p.y));
      }
      angles_.push_back(std::move(rotated));
    }
  }

  MatchResult run(double min_score) {
    best_ = {0, 0, 0, min_score};
    found_ = false;
    int level = 0;
    while (level + 1 < field_.levels() && (2 << level) <= 2 * radius_ + 1) ++level;
    std::vector<Candidate> roots;
    for (int a = 0; a < static_cast<int>(angles_.size()); ++a) {
      for (int y = -radius_; y <= radius_; y += 1 << level) {
        for (int x = -radius_; x <= radius_; x += 1 << level) {
          roots.push_back({a, x, y, score(level, a, x, y)});
        }
      }
    }
    std::sort(roots.begin(), roots.end(),
              [](const Candidate& l, const Candidate& r) { return l.bound > r.bound; });
    for (const Candidate& root : roots) {
      if (root.bound <= best_.bound) break;
      descend(level, root);
    }
    MatchResult result{guess_, 0.0, {}};
    result.information.setZero();
    if (!found_) return result;
    result.pose = {guess_.x + best_.x * field_.resolution(),
                   guess_.y + best_.y * field_.resolution(),
                   wrap_angle(angles_[static_cast<std::size_t>(best_.angle)].theta)};
    result.score = best_.bound;
    return result;
  }

 private:
  [[nodiscard]] double penalty(int i, int n) const {
    const double t = static_cast<double>(i) / n;
    return window_.edge_penalty * t * t;
  }

  // An upper bound of the score in a block of offsets. At level 0 it is the score itself.
  [[nodiscard]] double score(int level, int angle, int x, int y) const {
    const RotatedPoints& rotated = angles_[static_cast<std::size_t>(angle)];
    std::uint32_t sum = 0;
    for (const auto& [cx, cy] : rotated.cells) sum += field_.bound(level, cx + x, cy + y);
    const double mean = sum / (255.0 * static_cast<double>(rotated.cells.size()));
    // The block's nearest offset to the guess. It has the smallest penalty of the block.
    const int last = (1 << level) - 1;
    const int near_x = std::clamp(0, x, x + last), near_y = std::clamp(0, y, y + last);
    const int n = std::max(radius_, 1);
    return mean * std::max(0.0, 1.0 - rotated.discount - penalty(near_x, n) - penalty(near_y, n));
  }

  void descend(int level, const Candidate& node) {
    if (level == 0) {
      best_ = node;
      found_ = true;
      return;
    }
    const int half = 1 << (level - 1);
    std::vector<Candidate> children;
    children.reserve(4);
    for (const int y : {node.y, node.y + half}) {
      for (const int x : {node.x, node.x + half}) {
        if (x > radius_ || y > radius_) continue;
        children.push_back({node.angle, x, y, score(level - 1, node.angle, x, y)});
      }
    }
    std::sort(children.begin(), children.end(),
              [](const Candidate& l, const Candidate& r) { return l.bound > r.bound; });
    for (const Candidate& child : children) {
      if (child.bound <= best_.bound) break;
      descend(level - 1, child);
    }
  }

  const LikelihoodField& field_;
  Pose2 guess_;
  SearchWindow window_;
  int radius_ = 0;  // cells
  std::vector<RotatedPoints> angles_;
  Candidate best_{};
  bool found_ = false;
};

}  // namespace

MatchResult search(const LikelihoodField& field, std::span<const Point2> points, const Pose2& guess,
                   const SearchWindow& window, double min_score) {
  if (field.empty() || points.empty()) return {guess, 0.0, Eigen::Matrix3d::Zero()};
  return Search(field, points, guess, window).run(min_score);
}

namespace {

// The gradient and the Gauss-Newton matrix of the scan at a pose, in the frame of the pose.
struct Linearization {
  double score = 0.0;
  Eigen::Vector3d gradient = Eigen::Vector3d::Zero();
  Eigen::Matrix3d hessian = Eigen::Matrix3d::Zero();
};

Linearization linearize(const LikelihoodField& field, std::span<const Point2> points,
                        std::span<const Point2> normals, const Pose2& pose) {
  Linearization out;
  const double c = std::cos(pose.theta), s = std::sin(pose.theta);
  const double information = 1.0 / (kPointSigma * kPointSigma);
  const double weight = field.sigma() * field.sigma() * information;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Point2& p = points[i];
    const LikelihoodField::Sample m =
        field.sample(pose.x + c * p.x - s * p.y, pose.y + s * p.x + c * p.y);
    out.score += m.value;
    const double gx = c * m.dx + s * m.dy, gy = -s * m.dx + c * m.dy;
    Point2 n = normals.empty() ? Point2{} : normals[i];
    if (n.x == 0.0 && n.y == 0.0) {
      const double slope = std::hypot(gx, gy);
      if (slope < 1e-9) continue;
      n = {gx / slope, gy / slope};
    }
    // A motion of the pose in its own frame moves the point by (dx - dtheta * y, dy + dtheta * x).
    const Eigen::Vector3d j(-n.x, -n.y, n.x * p.y - n.y * p.x);
    out.gradient += weight * (gx * n.x + gy * n.y) * j;
    out.hessian += information * m.value * j * j.transpose();
  }
  out.score /= static_cast<double>(points.size());
  return out;
}

}  // namespace

MatchResult refine(const LikelihoodField& field, std::span<const Point2> points,
                   std::span<const Point2> normals, const Pose2& guess, const Pose2& prior,
                   const Eigen::Matrix3d& prior_information) {
  assert(normals.empty() || normals.size() == points.size());
  MatchResult result{guess, 0.0, Eigen::Matrix3d::Zero()};
  if (field.empty() || points.empty()) return result;
  // A step is valid within the reach of the field's slope.
  const double most_m = field.sigma(), most_rad = 0.03;
  Pose2 pose = guess;
  Linearization at = linearize(field, points, normals, pose);
  for (int i = 0; i < 12; ++i) {
    const Pose2 pull = between(pose, prior);
    Eigen::Matrix3d h = at.hessian + prior_information;
    h.diagonal().array() += 1e-6;
    Eigen::Vector3d step = h.ldlt().solve(
        prior_information * Eigen::Vector3d(pull.x, pull.y, pull.theta) - at.gradient);
    const double excess = std::max(step.head<2>().norm() / most_m, std::abs(step.z()) / most_rad);
    if (excess > 1.0) step /= excess;
    pose = compose(pose, {step.x(), step.y(), step.z()});
    at = linearize(field, points, normals, pose);
    if (step.head<2>().norm() < 2e-4 && std::abs(step.z()) < 2e-5) break;
  }
  result.pose = pose;
  result.score = at.score;
  result.information = at.hessian;
  return result;
}

}  // namespace patrol
