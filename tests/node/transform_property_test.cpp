// Random trees: the tree composes and interpolates like Eigen.
#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <map>

#include "tests/node/transform_random.hpp"

namespace hyphos::test {
namespace {

Eigen::Quaterniond eigen(const Quaternion& q) { return {q.w, q.x, q.y, q.z}; }
Eigen::Vector3d eigen(const Vector3& v) { return {v.x, v.y, v.z}; }
Eigen::Isometry3d eigen(const Isometry& pose) {
  Eigen::Isometry3d out = Eigen::Isometry3d::Identity();
  out.linear() = eigen(pose.rotation).toRotationMatrix();
  out.translation() = eigen(pose.translation);
  return out;
}

/// The pose of an edge's child at a time, by Eigen's slerp.
Eigen::Isometry3d pose_at(const RandomForest::Edge& edge, Time time) {
  if (edge.is_static) return eigen(edge.samples.front().isometry());
  std::size_t i = 0;
  while (edge.samples[i].stamp < time) ++i;
  if (edge.samples[i].stamp == time) return eigen(edge.samples[i].isometry());
  const Transform& a = edge.samples[i - 1];
  const Transform& b = edge.samples[i];
  const double f =
      static_cast<double>((time - a.stamp).ns) / static_cast<double>((b.stamp - a.stamp).ns);
  Eigen::Isometry3d out = Eigen::Isometry3d::Identity();
  out.linear() = eigen(a.rotation).slerp(f, eigen(b.rotation)).toRotationMatrix();
  out.translation() = (1 - f) * eigen(a.translation) + f * eigen(b.translation);
  return out;
}

/// The pose of a frame in the root, by walking up.
Eigen::Isometry3d in_root(const RandomForest& forest, std::string frame, Time time) {
  std::map<std::string, const RandomForest::Edge*> up;
  for (const auto& edge : forest.edges()) up[edge.child] = &edge;
  Eigen::Isometry3d out = Eigen::Isometry3d::Identity();
  for (auto at = up.find(frame); at != up.end(); at = up.find(at->second->parent)) {
    out = pose_at(*at->second, time) * out;
  }
  return out;
}

TEST(TransformProperty, composition_equals_eigen) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    RandomForest forest(seed, 5 + static_cast<int>(seed) * 2);
    TransformTree tree;
    forest.fill(tree);
    for (int i = 0; i < 100; ++i) {
      const Time time = forest.time();
      const std::string target = forest.frame();
      const std::string source = forest.frame();
      const Eigen::Isometry3d expected =
          in_root(forest, target, time).inverse() * in_root(forest, source, time);
      const auto found = tree.get(target, source, time);
      ASSERT_TRUE(found) << found.error().to_string();
      ASSERT_TRUE(eigen(found->isometry()).isApprox(expected, 1e-12))
          << "seed " << seed << ": " << target << " from " << source << " at " << time.ns << "\n"
          << eigen(found->isometry()).matrix() << "\n\n"
          << expected.matrix();
      TransformLookup lookup = tree.lookup(target, source);
      ASSERT_EQ(Isometry(*lookup.get(time)), found->isometry());
    }
  }
}

TEST(TransformProperty, a_transform_and_its_inverse_cancel) {
  RandomForest forest(99, 30);
  TransformTree tree;
  forest.fill(tree);
  for (int i = 0; i < 300; ++i) {
    const Time time = forest.time();
    const std::string a = forest.frame();
    const std::string b = forest.frame();
    const std::string c = forest.frame();
    const Isometry ab = tree.get(a, b, time).or_throw().isometry();
    const Isometry ba = tree.get(b, a, time).or_throw().isometry();
    const Isometry bc = tree.get(b, c, time).or_throw().isometry();
    const Isometry ac = tree.get(a, c, time).or_throw().isometry();
    EXPECT_TRUE(eigen(ab * ba).isApprox(Eigen::Isometry3d::Identity(), 1e-11));
    EXPECT_TRUE(eigen(ab * bc).isApprox(eigen(ac), 1e-11));
    EXPECT_TRUE(eigen(ab.inverse()).isApprox(eigen(ba), 1e-11));
  }
}

TEST(TransformProperty, matrices_and_points_equal_eigen) {
  RandomForest forest(7, 40);
  for (const auto& edge : forest.edges()) {
    const Isometry pose = edge.samples.front().isometry();
    const auto rows = pose.matrix();
    const Eigen::Map<const Eigen::Matrix<double, 4, 4, Eigen::RowMajor>> matrix(rows.data());
    EXPECT_TRUE(matrix.isApprox(eigen(pose).matrix(), 1e-14));
    const Isometry back = Isometry::from_matrix(rows).or_throw();
    EXPECT_TRUE(eigen(back).isApprox(eigen(pose), 1e-12));
    const RollPitchYaw angles = to_roll_pitch_yaw(pose.rotation);
    const Eigen::Quaterniond turned = Eigen::AngleAxisd(angles.yaw, Eigen::Vector3d::UnitZ()) *
                                      Eigen::AngleAxisd(angles.pitch, Eigen::Vector3d::UnitY()) *
                                      Eigen::AngleAxisd(angles.roll, Eigen::Vector3d::UnitX());
    EXPECT_LT(turned.angularDistance(eigen(pose.rotation)), 1e-7);
    const Eigen::Vector3d p = eigen(pose) * Eigen::Vector3d(1, -2, 3);
    EXPECT_TRUE(eigen(pose * Vector3{1, -2, 3}).isApprox(p, 1e-13));
    std::array<double, 3> point{1, -2, 3};
    pose.transform(Points<const double>{point.data(), 1}, Points<double>{point.data(), 1});
    EXPECT_TRUE(Eigen::Vector3d(point.data()).isApprox(p, 1e-13));
  }
}

/// A long history in random order, with duplicates: every sample is found again, and every time
/// between two samples is interpolated between them.
TEST(TransformProperty, every_position_in_a_long_history_is_found) {
  std::mt19937 random(3);
  for (const int count : {1, 2, 3, 15, 16, 17, 1000, 5000}) {
    std::vector<std::int64_t> stamps;
    std::int64_t stamp = RandomForest::kStart;
    for (int i = 0; i < count; ++i) {
      // Bursts and gaps, so that the first guess of the search is often far off.
      stamp += random() % 50 == 0 ? 10'000'000 : 1 + static_cast<std::int64_t>(random() % 1000);
      stamps.push_back(stamp);
    }
    std::vector<std::int64_t> order = stamps;
    std::shuffle(order.begin(), order.end(), random);
    TransformTree tree;
    for (const std::int64_t s : order) {
      const Vector3 v{static_cast<double>(s - RandomForest::kStart), 0, 0};
      tree.set({"a", "b", Time{s}, v, {}}).or_throw();
      if (random() % 10 == 0) tree.set({"a", "b", Time{s}, v, {}}).or_throw();
    }
    EXPECT_EQ(tree.edges()[0].samples, stamps.size());
    TransformLookup lookup = tree.lookup("a", "b");
    for (int i = 0; i < 20'000; ++i) {
      const std::int64_t t =
          std::uniform_int_distribution<std::int64_t>(stamps.front(), stamps.back())(random);
      const auto found = lookup.get(Time{t});
      ASSERT_TRUE(found) << found.error().to_string();
      ASSERT_NEAR(found->translation.x, static_cast<double>(t - RandomForest::kStart), 1e-5);
    }
    for (const std::int64_t s : stamps) {
      ASSERT_EQ(lookup.get(Time{s})->translation.x, static_cast<double>(s - RandomForest::kStart));
    }
    EXPECT_FALSE(lookup.get(Time{stamps.front() - 1}));
    EXPECT_FALSE(lookup.get(Time{stamps.back() + 1}));
  }
}

}  // namespace
}  // namespace hyphos::test
