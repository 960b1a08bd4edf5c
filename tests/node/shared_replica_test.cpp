// Copies of the shared tree, without processes.
#include "node/params/shared_replica.hpp"

#include <gtest/gtest.h>

#include <random>

#include "plan/param_tree.hpp"

namespace hyphos::params {
namespace {

constexpr std::uint64_t kNow = 1'700'000'000'000'000'000;

plan::Leaf leaf(const std::string& path, const std::string& yaml) {
  return {path, plan::parse_value(yaml, path).or_throw()};
}

v1::SharedParams message_of(const SharedReplica& replica) {
  v1::SharedParams out;
  replica.encode(out);
  return out;
}

std::string text_of(SharedReplica& replica) {
  (void)replica.rebuild();
  return to_yaml(*replica.tree());
}

TEST(SharedReplica, copies_with_the_same_values_have_the_same_tree) {
  std::mt19937 random(7);
  const std::vector<std::string> paths = {"a", "a.b", "a.b.c", "a.d", "e", "e.f", "g"};
  for (int round = 0; round < 200; ++round) {
    std::vector<SharedReplica> replicas;
    for (std::uint64_t i = 1; i <= 4; ++i) replicas.emplace_back(i);
    replicas[0].plan({leaf("a.b.c", "0"), leaf("g", "[[1], [2, 3]]")}, kNow).or_throw();
    std::vector<v1::SharedParams> sent;
    for (std::uint64_t step = 0; step < 20; ++step) {
      SharedReplica& one = replicas[random() % replicas.size()];
      (void)one.rebuild();
      const std::string& path = paths[random() % paths.size()];
      const std::uint64_t now = kNow + (random() % 3);  // equal stamps are frequent
      // A set that the copy refuses, because it has a map there, changes nothing.
      if (random() % 5 == 0) {
        (void)one.remove(path, now);
      } else {
        (void)one.set({leaf(path, std::to_string(step))}, now);
      }
      sent.push_back(message_of(one));
      if (random() % 2 == 0) (void)replicas[random() % 4].merge(sent[random() % sent.size()], kNow);
    }
    for (const SharedReplica& one : replicas) sent.push_back(message_of(one));
    for (SharedReplica& one : replicas) {
      std::shuffle(sent.begin(), sent.end(), random);
      for (const v1::SharedParams& message : sent) (void)one.merge(message, kNow);
    }
    for (SharedReplica& one : replicas) {
      ASSERT_EQ(text_of(one), text_of(replicas[0])) << "round " << round;
      ASSERT_EQ(SharedReplica::digest(message_of(one)),
                SharedReplica::digest(message_of(replicas[0])));
    }
  }
}

TEST(SharedReplica, a_value_that_was_set_wins_over_every_start_value) {
  SharedReplica first(1);
  SharedReplica second(2);
  first.plan({leaf("speed", "1"), leaf("first", "1")}, kNow).or_throw();
  (void)first.rebuild();
  first.set({leaf("speed", "5")}, kNow + 1).or_throw();
  second.plan({leaf("speed", "2"), leaf("second", "2")}, kNow + 100).or_throw();  // started later
  (void)second.merge(message_of(first), kNow);
  (void)first.merge(message_of(second), kNow);
  EXPECT_EQ(text_of(first), "first: 1\nsecond: 2\nspeed: 5\n");
  EXPECT_EQ(text_of(second), text_of(first));
}

TEST(SharedReplica, the_own_plan_wins_over_the_plan_of_another_process) {
  SharedReplica first(1);
  SharedReplica second(2);
  first.plan({leaf("name", "one")}, kNow).or_throw();
  second.plan({leaf("name", "two")}, kNow + 1).or_throw();
  (void)first.merge(message_of(second), kNow);
  (void)second.merge(message_of(first), kNow);
  EXPECT_EQ(text_of(first), "name: one\n");
  EXPECT_EQ(text_of(second), "name: two\n");
}

TEST(SharedReplica, a_clock_that_was_set_back_does_not_undo_a_change) {
  SharedReplica replica(1);
  replica.set({leaf("a", "1")}, kNow).or_throw();
  (void)replica.rebuild();
  replica.set({leaf("a", "2")}, kNow - 1'000'000'000).or_throw();
  EXPECT_EQ(text_of(replica), "a: 2\n");
}

TEST(SharedReplica, a_value_from_the_future_is_refused_and_named) {
  SharedReplica wrong(1);
  wrong.set({leaf("a", "1")}, kNow + 7'200'000'000'000).or_throw();
  SharedReplica replica(2);
  const auto merged = replica.merge(message_of(wrong), kNow);
  EXPECT_FALSE(merged.changed);
  EXPECT_EQ(merged.refusals, 1U);
  EXPECT_NE(merged.refused.find("'a' was set more than an hour in the future"), std::string::npos);
}

TEST(SharedReplica, bad_values_of_others_are_refused_one_by_one) {
  v1::SharedParams message;
  const auto add = [&](const std::string& path, const std::string& yaml) {
    auto& one = *message.add_set();
    one.set_path(path);
    one.set_yaml(yaml);
    one.set_stamp(kNow);
    one.set_writer(9);
  };
  add("", "1");
  add("a..b", "1");
  add(std::string(kMaxSharedPath + 1, 'x'), "1");
  add("open", "[1, 2");
  add("large", std::string(kMaxSharedValueBytes + 1, '1'));
  add("good", "[[1], {a: b}]");
  SharedReplica replica(1);
  const auto merged = replica.merge(message, kNow);
  EXPECT_EQ(merged.refusals, 5U);
  EXPECT_TRUE(merged.set_changed);
  EXPECT_EQ(text_of(replica), "good: [[1], {a: b}]\n");
}

TEST(SharedReplica, the_sum_of_all_values_is_bounded) {
  SharedReplica replica(1);
  std::vector<plan::Leaf> leaves;
  for (std::size_t i = 0; i < kMaxSharedParams; ++i) {
    leaves.push_back(leaf("k" + std::to_string(i), "1"));
  }
  ASSERT_TRUE(replica.set(leaves, kNow).ok());
  const auto more = replica.set({leaf("more", "1")}, kNow);
  EXPECT_EQ(more.error().code, Code::exhausted);
  SharedReplica other(2);
  other.set({leaf("more", "1")}, kNow).or_throw();
  EXPECT_EQ(replica.merge(message_of(other), kNow).refusals, 1U);

  SharedReplica large(3);
  const std::string text(kMaxSharedValueBytes - 10, 'x');
  std::size_t taken = 0;
  while (large.set({leaf("k" + std::to_string(taken), text)}, kNow).ok()) ++taken;
  EXPECT_EQ(taken, kMaxSharedBytes / kMaxSharedValueBytes);
}

TEST(SharedReplica, a_value_and_a_map_cannot_replace_each_other_by_mistake) {
  SharedReplica replica(1);
  replica.plan({leaf("gain", "1"), leaf("profile.name", "rover")}, kNow).or_throw();
  (void)replica.rebuild();
  const auto below = replica.set({leaf("gain.p", "2")}, kNow);
  EXPECT_NE(below.error().message.find("'gain' is a value, not a map"), std::string::npos);
  const auto over = replica.set({leaf("profile", "3")}, kNow);
  EXPECT_NE(over.error().message.find("'profile' is a map. Set 'profile.name'"), std::string::npos);
  EXPECT_EQ(replica.remove("profil", kNow).error().code, Code::not_found);
  replica.remove("profile", kNow).or_throw();
  (void)replica.rebuild();
  EXPECT_TRUE(replica.set({leaf("profile", "3")}, kNow).ok());
  EXPECT_EQ(text_of(replica), "gain: 1\nprofile: 3\n");
}

}  // namespace
}  // namespace hyphos::params
