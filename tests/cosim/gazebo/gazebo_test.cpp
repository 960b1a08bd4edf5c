#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <csignal>
#include <cstdlib>

#include "cosim/physics/gazebo/options.hpp"
#include "cosim/remote/remote.hpp"
#include "tests/cosim/conformance.hpp"

namespace hyphos::cosim {
namespace {

/// The process of the stand-in. It ends with this object.
class StandIn {
 public:
  StandIn(const std::string& family, const std::string& fault, long after)
      : partition_("hyphos-test-" + std::to_string(::getpid()) + "-" + std::to_string(++count)) {
    ::setenv("IGN_IP", "127.0.0.1", 1);
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    EXPECT_EQ(::pipe2(in.data(), O_CLOEXEC) + ::pipe2(out.data(), O_CLOEXEC), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::dup2(in[0], STDIN_FILENO);
      ::dup2(out[1], STDOUT_FILENO);
      ::execl(COSIM_STAND_IN, COSIM_STAND_IN, "field", partition_.c_str(), family.c_str(),
              fault.c_str(), std::to_string(after).c_str(), nullptr);
      ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    input_ = in[1];
    std::array<char, 6> ready{};
    EXPECT_EQ(::read(out[0], ready.data(), ready.size()), 6);
    ::close(out[0]);
  }
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;
  ~StandIn() {
    ::close(input_);
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  [[nodiscard]] const std::string& partition() const { return partition_; }

 private:
  inline static int count = 0;
  std::string partition_;
  pid_t pid_ = -1;
  int input_ = -1;
};

GazeboOptions options(const StandIn& server, const std::string& family = "ignition") {
  GazeboOptions made;
  made.world = "field";
  made.partition = server.partition();
  made.models = {"m0", "m1", "m2", "m3"};
  made.messages = family == "gz" ? GazeboMessages::gz : GazeboMessages::ignition;
  made.timeout = Duration::from_ms(30'000);
  return made;
}

std::unique_ptr<RemotePhysics> gazebo(const GazeboOptions& options) {
  Worker::Options worker;
  worker.timeout = Duration{2 * options.timeout.ns + 5'000'000'000};
  return std::make_unique<RemotePhysics>(
      Worker::start(worker,
                    {COSIM_WORKER, "--adapter", COSIM_GAZEBO, "--options", to_text(options)})
          .or_throw());
}

/// The servers that a suite has started. They live as long as the program.
std::unique_ptr<Physics> beside(const std::string& family) {
  static std::vector<std::unique_ptr<StandIn>> servers;
  servers.push_back(std::make_unique<StandIn>(family, "", 0));
  return gazebo(options(*servers.back(), family));
}
struct Fortress {
  static std::unique_ptr<Physics> make() { return beside("ignition"); }
};
struct Harmonic {
  static std::unique_ptr<Physics> make() { return beside("gz"); }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(NetworkConformance);
using Families = testing::Types<Fortress, Harmonic>;
INSTANTIATE_TYPED_TEST_SUITE_P(Gazebo, PhysicsConformance, Families);

TEST(Gazebo, models_have_the_poses_of_the_server_at_every_step) {
  const StandIn server("ignition", "", 0);
  const auto physics = gazebo(options(server));
  const auto ready = physics->init(4, 1);
  ASSERT_TRUE(ready.ok()) << ready.error().to_string();
  const auto angle = [&](std::size_t model) {
    const Vec3 at =
        physics->poses()[model].position - Vec3{10.0 * static_cast<double>(model), 0, 0};
    EXPECT_NEAR(std::hypot(at.x, at.y), 3, 1e-9);
    return std::atan2(at.y, at.x);
  };
  const double start = angle(2);
  for (std::int64_t ms = 7; ms <= 350; ms += 7) {
    const auto ran = physics->advance({ms * 1'000'000});
    ASSERT_TRUE(ran.ok()) << ran.error().to_string();
    EXPECT_NEAR(std::remainder(angle(2) - start, 2 * M_PI), 0.5e-3 * static_cast<double>(ms), 1e-9);
    EXPECT_NEAR(length(physics->poses()[2].velocity), 1.5, 1e-3);
  }
}

TEST(Gazebo, a_lost_subscription_is_sent_again) {
  const StandIn server("ignition", "deaf", 0);
  const auto physics = gazebo(options(server));
  const auto ready = physics->init(4, 1);
  ASSERT_TRUE(ready.ok()) << ready.error().to_string();
  EXPECT_TRUE(physics->advance({10'000'000}).ok());
}

TEST(Gazebo, models_have_the_orientation_and_turn_of_the_server) {
  const StandIn server("gz", "", 0);
  const auto physics = gazebo(options(server, "gz"));
  ASSERT_TRUE(physics->init(4, 1).ok());
  ASSERT_TRUE(physics->advance({50'000'000}).ok());
  const double start = yaw_of(physics->poses()[1].orientation);
  ASSERT_TRUE(physics->advance({150'000'000}).ok());
  const Pose& now = physics->poses()[1];
  EXPECT_NEAR(std::remainder(yaw_of(now.orientation) - start, 2 * M_PI), 0.05, 1e-9);
  EXPECT_LT(length(now.turn - Vec3{0, 0, 0.5}), 1e-6);
}

TEST(Gazebo, a_motion_command_is_refused_and_the_run_continues) {
  const StandIn server("ignition", "", 0);
  const auto physics = gazebo(options(server));
  ASSERT_TRUE(physics->init(4, 1).ok());
  const auto told = physics->steer(2, {{1, 0, 0}, 0});
  ASSERT_FALSE(told.ok());
  EXPECT_EQ(told.error().code, Code::unsupported);
  EXPECT_NE(told.error().message.find("robot 2 ('m2')"), std::string::npos)
      << told.error().to_string();
  EXPECT_TRUE(physics->advance({10'000'000}).ok());
}

struct Broken {
  std::string fault;
  Code code;
  std::string says;
};
void PrintTo(const Broken& broken, std::ostream* out) { *out << broken.fault; }

class GazeboFault : public testing::TestWithParam<Broken> {};

TEST_P(GazeboFault, gives_a_permanent_error_within_the_timeout) {
  const auto& [fault, code, says] = GetParam();
  const StandIn server("ignition", fault, 20);
  GazeboOptions told = options(server);
  if (code == Code::timeout) told.timeout = Duration::from_ms(10'000);
  const auto physics = gazebo(told);
  auto ran = physics->init(4, 1);
  for (std::int64_t ms = 1; ms <= 100 && ran.ok(); ++ms) ran = physics->advance({ms * 1'000'000});
  ASSERT_FALSE(ran.ok());
  EXPECT_EQ(ran.error().code, code) << ran.error().to_string();
  EXPECT_NE(ran.error().message.find(says), std::string::npos) << ran.error().to_string();
  const auto again = physics->advance({200'000'000});
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().message, ran.error().message);
}
INSTANTIATE_TEST_SUITE_P(
    Gazebo, GazeboFault,
    testing::Values(Broken{"hang", Code::timeout, "did not reply on /world/field/control"},
                    Broken{"ignore", Code::timeout, "its poses are still of"},
                    Broken{"fast", Code::corrupt, "max_step_size is more than 1000 us"},
                    Broken{"refuse", Code::io, "refused to step"},
                    Broken{"lose", Code::corrupt, "'m3' with no pose"},
                    Broken{"nan", Code::corrupt, "with an invalid pose"},
                    Broken{"run", Code::corrupt, "another client steps the world"},
                    Broken{"silent", Code::timeout, "its poses are still of"}),
    [](const auto& broken) { return broken.param.fault; });

TEST(Gazebo, a_killed_server_gives_an_error_with_its_name) {
  const StandIn server("ignition", "die", 20);
  GazeboOptions told = options(server);
  told.timeout = Duration::from_ms(10'000);
  const auto physics = gazebo(told);
  auto ran = physics->init(4, 1);
  for (std::int64_t ms = 1; ms <= 100 && ran.ok(); ++ms) ran = physics->advance({ms * 1'000'000});
  ASSERT_FALSE(ran.ok());
  // The transport may not have detected the end of the server yet.
  EXPECT_TRUE(ran.error().code == Code::timeout || ran.error().code == Code::disconnected);
  EXPECT_NE(ran.error().message.find("/world/field/control"), std::string::npos)
      << ran.error().to_string();
}

TEST(Gazebo, init_reports_a_missing_server_model_or_message_type) {
  const StandIn server("ignition", "", 0);
  GazeboOptions told = options(server);
  told.timeout = Duration::from_ms(2000);
  told.world = "elsewhere";
  const auto nobody = gazebo(told)->init(4, 1);
  ASSERT_FALSE(nobody.ok());
  EXPECT_EQ(nobody.error().code, Code::disconnected);
  EXPECT_NE(nobody.error().message.find("/world/elsewhere/control"), std::string::npos);

  told = options(server);
  told.models[1] = "husky";
  const auto other = gazebo(told)->init(4, 1);
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, Code::not_found) << other.error().to_string();
  EXPECT_NE(other.error().message.find("no moving model 'husky'"), std::string::npos);
  EXPECT_NE(other.error().message.find("m1"), std::string::npos) << "the published models";

  told = options(server);
  told.messages = GazeboMessages::gz;
  const auto family = gazebo(told)->init(4, 1);
  ASSERT_FALSE(family.ok());
  EXPECT_NE(family.error().message.find("since Harmonic"), std::string::npos)
      << family.error().to_string();
}

TEST(Gazebo, wrong_options_are_refused_by_name) {
  for (const auto& [text, name] :
       {std::pair("messages ros", "messages"), std::pair("step_us 0.5", "step_us"),
        std::pair("model a b", "model"), std::pair("colour red", "colour"),
        std::pair("model a; model b", "2 models for 1 nodes")}) {
    const auto refused = RemotePhysics(Worker::start({}, {COSIM_WORKER, "--adapter", COSIM_GAZEBO,
                                                          "--options", text})
                                           .or_throw())
                             .init(1, 1);
    ASSERT_FALSE(refused.ok()) << text;
    EXPECT_EQ(refused.error().code, Code::invalid_config);
    EXPECT_NE(refused.error().message.find(name), std::string::npos) << refused.error().to_string();
  }
}

TEST(Gazebo, options_survive_a_round_trip_through_text) {
  GazeboOptions options;
  options.world = "field";
  options.partition = "mine";
  options.models = {"husky", "iris"};
  options.messages = GazeboMessages::gz;
  options.step = Duration::from_ms(2);
  options.timeout = Duration::from_ms(700);
  const auto read = gazebo_options(to_text(options));
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  EXPECT_EQ(to_text(*read), to_text(options));
  EXPECT_EQ(read->models, options.models);
}

}  // namespace
}  // namespace hyphos::cosim
