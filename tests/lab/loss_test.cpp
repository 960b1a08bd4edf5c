#include "netem/loss.hpp"

#include <cmath>

#include "harness.hpp"
#include "netem/wired.hpp"

namespace hyphos::lab {
namespace {

constexpr int kPackets = 100'000;

struct Seen {
  double share = 0;
  double mean_run = 0;  // mean length of consecutive losses
};

Seen observe(const LossOptions& options) {
  Loss loss(options);
  Random random(11);
  int lost = 0;
  int runs = 0;
  bool before = false;
  for (int i = 0; i < kPackets; ++i) {
    const bool now = loss.draw(random);
    lost += now ? 1 : 0;
    runs += now && !before ? 1 : 0;
    before = now;
  }
  return {static_cast<double>(lost) / kPackets, runs == 0 ? 0 : static_cast<double>(lost) / runs};
}

TEST(Loss, independent_losses_are_within_the_binomial_interval) {
  for (const double asked : {0.001, 0.02, 0.5}) {
    const double deviation = std::sqrt(asked * (1 - asked) / kPackets);
    EXPECT_NEAR(observe({.probability = asked}).share, asked, 4 * deviation) << asked;
  }
}

TEST(Loss, runs_of_independent_losses_have_their_natural_length) {
  EXPECT_NEAR(observe({.probability = 0.2}).mean_run, 1 / (1 - 0.2), 0.03);
}

TEST(Loss, a_loss_of_0_and_1_is_exact) {
  EXPECT_EQ(observe({}).share, 0);
  EXPECT_EQ(observe({.probability = 1}).share, 1);
  EXPECT_EQ(observe({.probability = 1, .burst_packets = 5}).share, 1);
}

TEST(Loss, bursts_keep_the_share_and_their_length) {
  const Seen seen = observe({.probability = 0.05, .burst_packets = 8});
  // About 600 bursts: their number, and therefore the share, scatters by some percent.
  EXPECT_NEAR(seen.share, 0.05, 0.05 * 0.2);
  EXPECT_NEAR(seen.mean_run, 8, 1.2);
}

TEST(Loss, losses_inside_and_between_bursts_have_their_rates) {
  const Seen seen =
      observe({.probability = 0.1, .burst_packets = 20, .in_burst = 0.5, .between = 0.02});
  EXPECT_NEAR(seen.share, 0.1, 0.02);
}

TEST(Loss, a_cable_counts_its_losses) {
  Lab lab;
  Wired cable(2, {.loss = {.probability = 0.1}}, lab.buffers, lab);
  for (int i = 0; i < 10'000; ++i) {
    lab.send(cable, 0, 1, 100);
    lab.run(cable);
  }
  const std::uint64_t lost = cable.counters(0).dropped(Drop::loss);
  EXPECT_NEAR(static_cast<double>(lost), 1000, 4 * 30);
  EXPECT_EQ(lab.arrivals.size() + lost, 10'000U);
  expect_balanced(cable, lab);
}

}  // namespace
}  // namespace hyphos::lab
