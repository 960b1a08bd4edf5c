// The same random data in this tree and in tf2 (ROS 1, libtf2-dev) must give the same results.
// Without tf2, the test reports that and is skipped.
#include <gtest/gtest.h>

#ifndef HYPHOS_HAVE_TF2

TEST(TransformTf2, results_equal_tf2) {
  GTEST_SKIP() << "built without tf2: install libtf2-dev and configure again";
}

#else

#include <algorithm>
#include <stdexcept>

#include "tests/node/tf2_peer.hpp"
#include "tests/node/transform_random.hpp"

namespace hyphos::test {
namespace {

using Answer = Tf2Peer::Answer;

/// Both trees hold the data of `forest`, with each frame's samples in a separate order.
struct Both {
  Both(RandomForest& forest, bool shuffled) {
    for (const auto& edge : forest.edges()) {
      std::vector<Transform> samples = edge.samples;
      if (shuffled) std::shuffle(samples.begin(), samples.end(), forest.random());
      for (const Transform& t : samples) {
        (edge.is_static ? tree.set_static(t) : tree.set(t)).or_throw();
        const Tf2Peer::Pose pose{t.stamp.ns,
                                 {t.translation.x, t.translation.y, t.translation.z},
                                 {t.rotation.x, t.rotation.y, t.rotation.z, t.rotation.w}};
        if (!tf2.set(t.parent, t.child, pose, edge.is_static)) {
          throw std::runtime_error("tf2 refused a transform");
        }
      }
    }
  }
  TransformTree tree;
  Tf2Peer tf2{10};
};

void expect_same(const Transform& ours, const Tf2Peer::Pose& theirs, const std::string& what) {
  EXPECT_NEAR(ours.translation.x, theirs.translation[0], 1e-9) << what;
  EXPECT_NEAR(ours.translation.y, theirs.translation[1], 1e-9) << what;
  EXPECT_NEAR(ours.translation.z, theirs.translation[2], 1e-9) << what;
  const Quaternion& r = ours.rotation;
  const double* q = theirs.rotation;
  EXPECT_NEAR(std::abs(r.x * q[0] + r.y * q[1] + r.z * q[2] + r.w * q[3]), 1, 1e-12) << what;
}

TEST(TransformTf2, results_equal_tf2) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    RandomForest forest(seed, 25);
    const Both both(forest, seed % 2 == 0);
    for (int i = 0; i < 200; ++i) {
      const Time time = forest.time();
      const std::string target = forest.frame();
      const std::string source = forest.frame();
      Tf2Peer::Pose theirs;
      ASSERT_EQ(both.tf2.get(target, source, time.ns, theirs), Answer::found);
      const auto ours = both.tree.get(target, source, time);
      ASSERT_TRUE(ours) << ours.error().to_string();
      expect_same(*ours, theirs, target + " from " + source + ", seed " + std::to_string(seed));
    }
  }
}

TEST(TransformTf2, the_latest_common_time_equals_tf2) {
  RandomForest forest(5, 25);
  const Both both(forest, false);
  // One frame is behind, another ahead.
  for (int i = 0; i < 200; ++i) {
    const std::string target = forest.frame();
    const std::string source = forest.frame();
    Tf2Peer::Pose theirs;
    ASSERT_EQ(both.tf2.get(target, source, 0, theirs), Answer::found);
    const Transform ours = both.tree.get(target, source).or_throw();
    expect_same(ours, theirs, target + " from " + source);
    if (target != source) {
      EXPECT_EQ(ours.stamp.ns, theirs.stamp_ns);
    }
  }
}

TEST(TransformTf2, look_ups_at_two_times_equal_tf2) {
  RandomForest forest(11, 20);
  const Both both(forest, true);
  for (int i = 0; i < 200; ++i) {
    const Time here = forest.time();
    const Time there = forest.time();
    const std::string target = forest.frame();
    const std::string source = forest.frame();
    Tf2Peer::Pose theirs;
    ASSERT_EQ(both.tf2.get(target, here.ns, source, there.ns, RandomForest::name(0), theirs),
              Answer::found);
    expect_same(both.tree.get(target, here, source, there, RandomForest::name(0)).or_throw(),
                theirs, target + " from " + source);
  }
}

TEST(TransformTf2, look_ups_that_tf2_refuses_are_refused) {
  RandomForest forest(17, 15);
  const Both both(forest, false);
  const Time after{RandomForest::kStart + RandomForest::kSpan + 1'000'000};
  const Time before{RandomForest::kStart - 1'000'000};
  int refused = 0;
  for (int i = 0; i < 100; ++i) {
    const std::string target = forest.frame();
    const std::string source = forest.frame();
    for (const Time time : {before, after}) {
      Tf2Peer::Pose theirs;
      const bool found = both.tf2.get(target, source, time.ns, theirs) == Answer::found;
      const auto ours = both.tree.get(target, source, time);
      EXPECT_EQ(ours.ok(), found) << target << " from " << source;
      if (ours) continue;
      EXPECT_EQ(ours.error().code, Code::out_of_range);
      ++refused;
    }
  }
  EXPECT_GT(refused, 100);
  Tf2Peer::Pose theirs;
  EXPECT_EQ(both.tf2.get("frame_0", "nothing", 0, theirs), Answer::unknown);
  EXPECT_EQ(both.tree.get("frame_0", "nothing").error().code, Code::not_found);
}

}  // namespace
}  // namespace hyphos::test

#endif
