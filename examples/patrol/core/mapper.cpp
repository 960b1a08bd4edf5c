#include "mapper.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace patrol {
namespace {

constexpr int kLocalLevels = 3;
constexpr int kLoopLevels = 6;
// The number of loop matches that wait for another match to confirm them.
constexpr std::size_t kUnconfirmedKept = 12;
constexpr std::size_t kMaxTrail = 200'000;
// The largest distance of the map from its origin, m. The cell indexes have 32 bits.
constexpr double kFarthestPrior = 1e6;

// The usable returns, in the frame of the robot.
std::vector<Point2> extract_points(const Scan& scan, double range_max_m) {
  std::vector<Point2> out;
  out.reserve(scan.ranges.size());
  for (std::size_t i = 0; i < scan.ranges.size(); ++i) {
    if (!scan.valid(i) || scan.ranges[i] > range_max_m) continue;
    const double a = scan.angle(i), r = scan.ranges[i];
    out.push_back(transform(scan.mount, {r * std::cos(a), r * std::sin(a)}));
  }
  return out;
}

// Chooses the points to match: at most `target`, evenly spaced along the walls and not by beam.
// Spacing by beam would give near walls more weight than far ones.
std::vector<std::size_t> thin(const std::vector<Point2>& points, std::size_t target) {
  std::vector<std::size_t> kept;
  for (double spacing = 0.02;; spacing *= 1.3) {
    kept.clear();
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (kept.empty() || distance(points[kept.back()], points[i]) >= spacing) kept.push_back(i);
    }
    if (kept.size() <= std::max<std::size_t>(target, 1)) return kept;
  }
}

std::vector<Point2> select(const std::vector<Point2>& points,
                           const std::vector<std::size_t>& kept) {
  std::vector<Point2> out;
  out.reserve(kept.size());
  for (const std::size_t i : kept) out.push_back(points[i]);
  return out;
}

// The unit normal of the wall through a point and its neighbours in the scan, or (0, 0) if they do
// not form a wall.
Point2 wall_normal(const std::vector<Point2>& points, std::size_t at) {
  constexpr double kReach = 0.3;     // m
  constexpr std::size_t kMost = 12;  // neighbours to each side
  // variance across the wall, as a part of the variance along it
  constexpr double kFlatness = 0.04;
  const std::size_t first = at - std::min(at, kMost);
  const std::size_t end = std::min(points.size(), at + kMost + 1);
  double n = 0.0, x = 0.0, y = 0.0, xx = 0.0, xy = 0.0, yy = 0.0;
  for (std::size_t i = first; i < end; ++i) {
    const double dx = points[i].x - points[at].x, dy = points[i].y - points[at].y;
    if (dx * dx + dy * dy > kReach * kReach) continue;
    n += 1.0, x += dx, y += dy, xx += dx * dx, xy += dx * dy, yy += dy * dy;
  }
  if (n < 3.0) return {};
  const double cxx = xx / n - x * x / (n * n), cyy = yy / n - y * y / (n * n);
  const double cxy = xy / n - x * y / (n * n);
  const double middle = 0.5 * (cxx + cyy), spread = std::hypot(0.5 * (cxx - cyy), cxy);
  if (middle - spread > kFlatness * (middle + spread)) return {};
  const double along = 0.5 * std::atan2(2.0 * cxy, cxx - cyy);
  return {-std::sin(along), std::cos(along)};
}

// Adds points between neighbours on the same wall. Without them a far wall looks like a picket
// fence, and the matcher pulls scans to the pickets of earlier scans.
std::vector<Point2> close_gaps(const std::vector<Point2>& points, double beam_angle,
                               double spacing_m) {
  constexpr double kWidest = 0.35;  // m
  constexpr double kSlant = 4.0;    // times the gap that a wall seen at a right angle shows
  std::vector<Point2> out;
  for (std::size_t i = 0; i < points.size(); ++i) {
    out.push_back(points[i]);
    if (i + 1 == points.size()) break;
    const Point2 &a = points[i], &b = points[i + 1];
    const double gap = distance(a, b);
    if (gap > std::min(kWidest, kSlant * beam_angle * std::hypot(a.x, a.y))) continue;
    const int pieces = static_cast<int>(std::ceil(gap / spacing_m));
    for (int k = 1; k < pieces; ++k) {
      const double t = static_cast<double>(k) / pieces;
      out.push_back({a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)});
    }
  }
  return out;
}

// Replaces points in the same cell by their mean.
void merge_by_cell(std::vector<Point2>& points, double cell_m) {
  struct Keyed {
    std::int64_t key;
    Point2 point;
  };
  std::vector<Keyed> keyed;
  keyed.reserve(points.size());
  for (const Point2& p : points) {
    const auto x = static_cast<std::int64_t>(std::floor(p.x / cell_m));
    const auto y = static_cast<std::int64_t>(std::floor(p.y / cell_m));
    keyed.push_back({x * (std::int64_t{1} << 32) + y, p});
  }
  std::sort(keyed.begin(), keyed.end(), [](const Keyed& a, const Keyed& b) {
    return a.key != b.key
               ? a.key < b.key
               : (a.point.x != b.point.x ? a.point.x < b.point.x : a.point.y < b.point.y);
  });
  points.clear();
  for (std::size_t i = 0; i < keyed.size();) {
    Point2 sum;
    const std::size_t begin = i;
    for (; i < keyed.size() && keyed[i].key == keyed[begin].key; ++i) {
      sum.x += keyed[i].point.x, sum.y += keyed[i].point.y;
    }
    const auto n = static_cast<double>(i - begin);
    points.push_back({sum.x / n, sum.y / n});
  }
}

Eigen::Matrix3d odometry_information(const OdometryNoise& noise, const Pose2& moved) {
  const double travel = std::hypot(moved.x, moved.y), turn = std::abs(moved.theta);
  const double t = noise.translation_floor_m + noise.translation_per_m * travel;
  const double r =
      noise.rotation_floor_rad + noise.rotation_per_rad * turn + noise.rotation_per_m * travel;
  return Eigen::Vector3d(1.0 / (t * t), 1.0 / (t * t), 1.0 / (r * r)).asDiagonal();
}

double turn_between(const Pose2& a, const Pose2& b) {
  return std::abs(wrap_angle(a.theta - b.theta));
}

}  // namespace

Mapper::Mapper(MapperConfig config)
    : config_(config), pose_(config.start), grid_(std::make_unique<OccupancyGrid>(config.grid)) {}

Pose2 Mapper::add_scan(const Scan& scan, const Pose2& odometry) {
  ++stats_.scans;
  const std::vector<Point2> points = extract_points(scan, config_.match_range_m);
  const Pose2 moved = last_odometry_ ? between(*last_odometry_, odometry) : Pose2{};
  last_odometry_ = odometry;
  since_loop_try_ += std::hypot(moved.x, moved.y);
  if (keyframes_.empty()) {
    if (!points.empty()) add_keyframe(scan, points);
    return pose_;
  }
  match(points, moved);
  choose_reference();
  if (keyframe_wanted() && !points.empty()) {
    add_keyframe(scan, points);
  } else if (distance(pose_, field_made_at_) > 1.0) {
    refresh_reference();
  }
  remember_trail();
  redraw_some(config_.redraws_per_scan);
  return pose_;
}

void Mapper::match(const std::vector<Point2>& returns, const Pose2& moved) {
  const std::vector<std::size_t> kept = thin(returns, config_.match_points);
  const std::vector<Point2> points = select(returns, kept);
  std::vector<Point2> normals;
  normals.reserve(kept.size());
  for (const std::size_t i : kept) normals.push_back(wall_normal(returns, i));
  const Pose2 prior = compose(pose_, moved);
  if (!(std::abs(prior.x) <= kFarthestPrior && std::abs(prior.y) <= kFarthestPrior)) {
    ++stats_.unmatched;  // the wheel odometry is invalid, so the robot stays where it was
    return;
  }
  const double travel = std::hypot(moved.x, moved.y), turn = std::abs(moved.theta);
  const Eigen::Matrix3d information = odometry_information(config_.odometry, moved);
  SearchWindow window;
  window.translation_m = std::min(0.10 + 0.30 * travel + 0.15 * turn, 0.8);
  window.rotation_rad = std::min(0.04 + 0.25 * turn + 0.15 * travel, 0.5);
  const MatchResult coarse = search(*field_, points, prior, window, config_.min_score * 0.5);
  const MatchResult fine = refine(*field_, points, normals, coarse.pose, prior, information);
  stats_.last_score = fine.score;
  if (fine.score < config_.min_score || points.size() < 10) {
    ++stats_.unmatched;
    pose_ = prior;
    edge_information_ = information;
    return;
  }
  pose_ = fine.pose;
  edge_information_ = fine.information + information;
}

// The reference is the closest keyframe to the robot among the keyframes it is matched to.
void Mapper::choose_reference() {
  auto apart = [&](std::size_t k) {
    return distance(pose_of(k), pose_) + 0.5 * turn_between(pose_of(k), pose_);
  };
  for (const std::size_t k : active_) {
    if (apart(k) < apart(reference_)) reference_ = k;
  }
}

bool Mapper::keyframe_wanted() const {
  if (keyframes_.size() >= config_.max_keyframes) return false;
  // The view of a robot that stands still changes if its laser nods.
  if (config_.keyframe_every > 0 && stats_.scans - kept_at_ >= config_.keyframe_every) return true;
  std::size_t around = 0;
  for (const std::size_t k : active_) {
    // 1 where a single keyframe is close enough, 2 at the edge of a crowd.
    const double apart = std::max(distance(pose_of(k), pose_) / config_.keyframe_travel_m,
                                  turn_between(pose_of(k), pose_) / config_.keyframe_turn_rad);
    if (apart < 1.0) return false;
    if (apart < 2.0) ++around;
  }
  return around < config_.keyframe_crowd;
}

void Mapper::add_keyframe(const Scan& scan, const std::vector<Point2>& points) {
  const std::size_t k = graph_.add_pose(pose_);
  keyframes_.push_back(
      {scan, select(points, thin(points, config_.match_points)),
       close_gaps(points, std::abs(scan.angle_increment), config_.field_resolution_m), pose_});
  ++stats_.keyframes;
  kept_at_ = stats_.scans;
  if (k > 0) {
    graph_.add_edge({reference_, k, between(pose_of(reference_), pose_), edge_information_, false});
  }
  reference_ = k;
  draw(*grid_, k);
  ++revision_;
  if (since_loop_try_ >= config_.loop_every_m) try_loop(k);
  refresh_reference();
}

std::vector<std::size_t> Mapper::nearest(const std::vector<double>& travel, const Pose2& to,
                                         std::size_t count) const {
  std::vector<std::pair<double, std::size_t>> found;
  for (std::size_t k = 0; k < travel.size(); ++k) {
    if (std::isfinite(travel[k])) found.emplace_back(distance(pose_of(k), to), k);
  }
  std::sort(found.begin(), found.end());
  if (found.size() > count) found.resize(count);
  std::vector<std::size_t> out;
  for (const auto& [d, k] : found) out.push_back(k);
  return out;
}

std::vector<Point2> Mapper::gather(const std::vector<std::size_t>& keyframes,
                                   std::vector<Point2> Keyframe::* points,
                                   const Pose2& frame) const {
  std::vector<Point2> out;
  for (const std::size_t k : keyframes) {
    const Pose2 pose = between(frame, pose_of(k));
    const double c = std::cos(pose.theta), s = std::sin(pose.theta);
    for (const Point2& p : keyframes_[k].*points) {
      out.push_back({pose.x + c * p.x - s * p.y, pose.y + s * p.x + c * p.y});
    }
  }
  merge_by_cell(out, 0.5 * config_.field_resolution_m);
  return out;
}

void Mapper::refresh_reference() {
  active_ = nearest(graph_.travel_from(reference_, config_.reference_travel_m), pose_,
                    config_.reference_keyframes);
  field_ = std::make_unique<LikelihoodField>(gather(active_, &Keyframe::surface, Pose2{}),
                                             config_.field_resolution_m, config_.field_sigma_m,
                                             kLocalLevels);
  field_made_at_ = pose_;
}

std::optional<std::size_t> Mapper::loop_candidate(std::size_t keyframe) const {
  const std::vector<double> travel =
      graph_.travel_from(keyframe, config_.reference_travel_m + config_.loop_radius_m);
  std::optional<std::size_t> best;
  double best_distance = config_.loop_radius_m;
  for (std::size_t k = 0; k < travel.size(); ++k) {
    if (std::isfinite(travel[k])) continue;
    // Scans taken in the same direction overlap more.
    const double d =
        distance(pose_of(k), pose_of(keyframe)) + 0.3 * turn_between(pose_of(k), pose_of(keyframe));
    if (d < best_distance) best_distance = d, best = k;
  }
  return best;
}

std::optional<Mapper::LoopMatch> Mapper::match_loop(std::size_t older, std::size_t newer) const {
  constexpr double kOlderTravel = 5.0, kNewerTravel = 2.5;  // m
  const std::vector<std::size_t> there =
      nearest(graph_.travel_from(older, kOlderTravel), pose_of(older), 30);
  const std::vector<std::size_t> here =
      nearest(graph_.travel_from(newer, kNewerTravel), pose_of(newer), 6);
  const LikelihoodField field(gather(there, &Keyframe::surface, pose_of(older)),
                              config_.field_resolution_m, config_.field_sigma_m, kLoopLevels);
  std::vector<Point2> points = gather(here, &Keyframe::points, pose_of(newer));
  merge_by_cell(points, 2.0 * config_.field_resolution_m);
  const std::size_t stride = points.size() / 240 + 1;
  std::vector<Point2> sparse;
  for (std::size_t i = 0; i < points.size(); i += stride) sparse.push_back(points[i]);

  const SearchWindow window{config_.loop_radius_m, config_.loop_turn_rad, 0.05};
  const MatchResult coarse = search(field, sparse, between(pose_of(older), pose_of(newer)), window,
                                    config_.loop_min_score * 0.8);
  if (coarse.score <= 0.0) return std::nullopt;
  const MatchResult fine =
      refine(field, points, {}, coarse.pose, coarse.pose, Eigen::Matrix3d::Zero());
  if (fine.score < config_.loop_min_score) return std::nullopt;
  // Limit the weight: one look at a place is worth at most one match of a scan, however many points
  // it has.
  const double share =
      std::min(1.0, static_cast<double>(config_.match_points) / static_cast<double>(points.size()));
  return LoopMatch{older, newer, fine.pose, share * fine.information};
}

// Another match of a neighbouring scan must imply the same shift of the map.
bool Mapper::confirmed(const LoopMatch& match) const {
  const Pose2& now = pose_of(match.to);
  const Pose2 there = compose(pose_of(match.from), match.measured);
  if (distance(now, there) < 0.25 && turn_between(now, there) < 0.08) return true;
  return std::any_of(unconfirmed_.begin(), unconfirmed_.end(), [&](const LoopMatch& other) {
    if (other.to == match.to) return false;
    const Pose2 step = between(pose_of(other.to), now);
    if (std::hypot(step.x, step.y) > 6.0) return false;
    const Pose2 by_other = compose(compose(pose_of(other.from), other.measured), step);
    return distance(by_other, there) < 0.25 && turn_between(by_other, there) < 0.06;
  });
}

void Mapper::try_loop(std::size_t keyframe) {
  const std::optional<std::size_t> candidate = loop_candidate(keyframe);
  if (!candidate) return;
  since_loop_try_ = 0.0;
  ++stats_.loops_tried;
  const std::optional<LoopMatch> match = match_loop(*candidate, keyframe);
  if (!match) return;
  if (confirmed(*match)) {
    close_loop(*match);
    return;
  }
  if (unconfirmed_.size() == kUnconfirmedKept) unconfirmed_.erase(unconfirmed_.begin());
  unconfirmed_.push_back(*match);
}

void Mapper::close_loop(const LoopMatch& match) {
  ++stats_.loops_closed;
  unconfirmed_.clear();
  graph_.add_edge({match.from, match.to, match.measured, match.information, true});
  adjust();
}

void Mapper::adjust() {
  const Pose2 offset = between(pose_of(reference_), pose_);
  graph_.optimize();
  pose_ = compose(pose_of(reference_), offset);
  const double tolerance = 0.5 * config_.grid.resolution_m;
  for (std::size_t k = 0; k < keyframes_.size() && !redraw_wanted_; ++k) {
    redraw_wanted_ = distance(pose_of(k), keyframes_[k].drawn) > tolerance ||
                     turn_between(pose_of(k), keyframes_[k].drawn) > 0.005;
  }
}

void Mapper::draw(OccupancyGrid& grid, std::size_t keyframe) {
  Keyframe& k = keyframes_[keyframe];
  k.drawn = pose_of(keyframe);
  grid.integrate(k.scan, compose(k.drawn, k.scan.mount));
}

// After a change of the graph, each scan redraws a part of the map beside the map in use, so no
// scan waits for a whole map. The next round catches poses that move meanwhile.
void Mapper::redraw_some(std::size_t count) {
  if (!next_grid_) {
    if (!redraw_wanted_) return;
    redraw_wanted_ = false;
    next_grid_ = std::make_unique<OccupancyGrid>(config_.grid);
    next_drawn_ = 0;
  }
  for (; count > 0 && next_drawn_ < keyframes_.size(); --count) draw(*next_grid_, next_drawn_++);
  if (next_drawn_ < keyframes_.size()) return;
  grid_ = std::move(next_grid_);
  ++revision_;
  ++stats_.redraws;
}

void Mapper::remember_trail() {
  const TrailPoint now{reference_, between(pose_of(reference_), pose_)};
  if (!trail_.empty()) {
    const Pose2 last = compose(pose_of(trail_.back().keyframe), trail_.back().offset);
    if (distance(last, pose_) < 0.05) return;
  }
  if (trail_.size() == kMaxTrail) {  // keep every second point
    for (std::size_t i = 0; 2 * i < trail_.size(); ++i) trail_[i] = trail_[2 * i];
    trail_.resize(kMaxTrail / 2);
  }
  trail_.push_back(now);
}

std::vector<Pose2> Mapper::trajectory() const {
  std::vector<Pose2> out;
  out.reserve(trail_.size());
  for (const TrailPoint& p : trail_) out.push_back(compose(pose_of(p.keyframe), p.offset));
  return out;
}

void Mapper::finish() {
  if (keyframes_.empty()) return;
  adjust();
  next_grid_.reset();
  redraw_wanted_ = true;
  redraw_some(keyframes_.size());
  refresh_reference();
}

}  // namespace patrol
