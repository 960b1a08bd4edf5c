// Robots that run at the same time give the same result as robots that run one after the other.
#include <gtest/gtest.h>

#include "cosim/nodes/node_programs.hpp"

namespace hyphos::cosim {
namespace {

/// The calls to all robots, in order: "+2" begins robot 2, "-2" ends it.
using Log = std::vector<std::string>;

/// Robot `number`, which sends its number at every instant, and fails as configured.
class Scripted final : public RobotNodes {
 public:
  enum class Fails { never, at_the_beginning, at_the_end };
  Scripted(int number, Fails fails, Log& log) : number_(number), fails_(fails), log_(log) {}

  Result<std::vector<OpenChannel>> channels() override {
    return std::vector<OpenChannel>{{"count", make_type_id("bytes", Encoding::bytes)}};
  }
  Result<void> wire(const Wiring&) override { return success(); }
  Result<void> begin(const RobotInput& input) override {
    log_.push_back("+" + std::to_string(number_));
    now_ = input.now;
    if (fails_ == Fails::at_the_beginning) return error();
    return success();
  }
  Result<RobotOutput> finish() override {
    log_.push_back("-" + std::to_string(number_));
    if (fails_ == Fails::at_the_end) return error();
    RobotOutput output;
    output.sent.push_back({0, Buffer::copy_of(std::to_string(number_))});
    output.motion = Motion{{static_cast<double>(number_), 0, 0}, 0};
    output.next = now_ + Duration::from_ms(1);
    return output;
  }
  Result<std::vector<RobotDrops>> drops() override { return std::vector<RobotDrops>{}; }

 private:
  [[nodiscard]] Error error() const {
    return {Code::io, "robot " + std::to_string(number_) + " failed", ""};
  }

  int number_;
  Fails fails_;
  Log& log_;
  Time now_;
};

using Fails = Scripted::Fails;

struct Team {
  Team(std::size_t at_once, const std::vector<Fails>& robots) {
    NodePrograms::Options options;
    options.at_once = at_once;
    options.channels = {{"count", "", {}, {}}};
    std::vector<std::unique_ptr<RobotNodes>> all;
    for (const Fails fails : robots) {
      const auto number = static_cast<int>(all.size());
      options.names.push_back(std::to_string(number));
      all.push_back(std::make_unique<Scripted>(number, fails, log));
    }
    poses.resize(robots.size());
    programs = NodePrograms::open(options, std::move(all)).or_throw();
  }
  Outbox step() {
    Outbox outbox;
    programs->step({}, {}, poses, outbox);
    return outbox;
  }

  Log log;
  std::vector<Pose> poses;
  std::unique_ptr<NodePrograms> programs;
};

const std::vector<Fails> kFourWell(4, Fails::never);

TEST(CosimAtOnce, messages_are_ordered_by_robot_number) {
  for (const std::size_t at_once : {1U, 2U, 3U, 4U, 100U}) {
    Team team(at_once, kFourWell);
    Outbox outbox = team.step();
    ASSERT_EQ(outbox.items().size(), 4U);
    ASSERT_EQ(outbox.steering().size(), 4U);
    for (NodeId robot = 0; robot < 4; ++robot) {
      EXPECT_EQ(outbox.items()[robot].from, robot);
      EXPECT_EQ(outbox.items()[robot].bytes.text(), std::to_string(robot));
      EXPECT_EQ(outbox.steering()[robot].robot, robot);
    }
  }
}

TEST(CosimAtOnce, the_number_of_running_robots_is_limited) {
  Team alone(1, kFourWell);
  (void)alone.step();
  EXPECT_EQ(alone.log, (Log{"+0", "-0", "+1", "-1", "+2", "-2", "+3", "-3"}));
  Team two(2, kFourWell);
  (void)two.step();
  EXPECT_EQ(two.log, (Log{"+0", "+1", "-0", "+2", "-1", "+3", "-2", "-3"}));
  Team all(4, kFourWell);
  (void)all.step();
  EXPECT_EQ(all.log, (Log{"+0", "+1", "+2", "+3", "-0", "-1", "-2", "-3"}));
}

TEST(CosimAtOnce, the_first_error_by_number_wins_and_begun_robots_finish) {
  Team team(3, {Fails::never, Fails::at_the_end, Fails::at_the_end, Fails::never});
  (void)team.step();
  EXPECT_EQ(team.programs->failure().error().message, "robot 1 failed");
  EXPECT_EQ(team.log, (Log{"+0", "+1", "+2", "-0", "+3", "-1", "-2", "-3"}));
  (void)team.step();
  EXPECT_EQ(team.log.size(), 8U) << "nothing runs after an error";
}

TEST(CosimAtOnce, a_robot_that_cannot_begin_is_not_awaited) {
  Team team(2, {Fails::at_the_end, Fails::at_the_beginning, Fails::never});
  (void)team.step();
  EXPECT_EQ(team.programs->failure().error().message, "robot 0 failed");
  EXPECT_EQ(team.log, (Log{"+0", "+1", "-0"}));
  Team second(2, {Fails::never, Fails::at_the_beginning, Fails::never});
  (void)second.step();
  EXPECT_EQ(second.programs->failure().error().message, "robot 1 failed");
  EXPECT_EQ(second.log, (Log{"+0", "+1", "-0", "+2", "-2"}));
}

}  // namespace
}  // namespace hyphos::cosim
