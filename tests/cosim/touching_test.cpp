#include "cosim/physics/mujoco/touching.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "cosim/core/random.hpp"

namespace hyphos::cosim {
namespace {

using Groups = std::set<std::set<std::uint32_t>>;

Groups found(const Touching& touching) {
  Groups groups;
  for (std::size_t i = 0; i < touching.groups(); ++i) {
    const auto group = touching.group(i);
    EXPECT_TRUE(std::ranges::is_sorted(group));
    groups.emplace(group.begin(), group.end());
  }
  return groups;
}

/// Compares every pair, and renames joined groups.
Groups by_hand(const std::vector<Vec3>& places, const std::vector<double>& reach) {
  std::vector<std::uint32_t> name(places.size());
  std::iota(name.begin(), name.end(), 0U);
  for (std::uint32_t a = 0; a < places.size(); ++a) {
    for (std::uint32_t b = 0; b < a; ++b) {
      if (length(places[a] - places[b]) > reach[a] + reach[b]) continue;
      const std::uint32_t from = name[a];
      std::ranges::replace(name, from, name[b]);
    }
  }
  std::vector<std::set<std::uint32_t>> sets(places.size());
  for (std::uint32_t a = 0; a < places.size(); ++a) sets[name[a]].insert(a);
  Groups groups(sets.begin(), sets.end());
  groups.erase(std::set<std::uint32_t>{});
  return groups;
}

TEST(Touching, groups_match_a_comparison_of_all_pairs) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const std::size_t count = draw(seed, 0, 0, 1) % 30;
    const double side = 1 + 12 * draw_unit(seed, 0, 0, 2);
    std::vector<double> reach(count);
    std::vector<Vec3> places(count);
    for (std::size_t i = 0; i < count; ++i) {
      reach[i] = 0.1 + draw_unit(seed, i, 0, 3);
      for (double Vec3::* axis : {&Vec3::x, &Vec3::y, &Vec3::z}) {
        places[i].*axis = side * draw_unit(seed, i, 1,
                                           axis == &Vec3::x   ? 5
                                           : axis == &Vec3::y ? 6
                                                              : 7);
      }
    }
    Touching touching(reach);
    for (std::uint64_t step = 0; step < 5; ++step) {
      touching.find(places);
      EXPECT_EQ(found(touching), by_hand(places, reach)) << seed << " " << step;
      for (std::size_t i = 0; i < count; ++i) places[i].x += draw_unit(seed, i, step, 4) - 0.5;
    }
  }
}

TEST(Touching, a_chain_is_one_group_and_a_gap_makes_two) {
  Touching touching({0.6, 0.6, 0.6, 0.6});
  touching.find(std::vector<Vec3>{{0, 0, 0}, {2.4, 0, 0}, {1.2, 0, 0}, {3.61, 0, 0}});
  EXPECT_EQ(found(touching), (Groups{{0, 1, 2}, {3}}));
}

}  // namespace
}  // namespace hyphos::cosim
