#include "conformance.hpp"

#include "cosim/adapter/c_adapter.hpp"
#include "cosim/adapter/expose.hpp"
#include "cosim/network/analytic.hpp"
#include "cosim/network/cell.hpp"
#include "cosim/network/constant_delay.hpp"
#include "cosim/physics/kinematic.hpp"
#include "cosim/remote/remote.hpp"
#include "cosim/remote/serve.hpp"

namespace hyphos::cosim {
namespace {

struct Delay {
  static std::unique_ptr<Network> make() {
    return std::make_unique<ConstantDelay>(Duration::from_us(700));
  }
};
struct Radio {
  static std::unique_ptr<Network> make() {
    return std::make_unique<AnalyticRadio>(RadioOptions{}, nullptr);
  }
};
/// A named radio with bursts of noise.
struct Jammed {
  static std::unique_ptr<Network> make() {
    RadioOptions options;
    options.kind = "802.11g";
    options.channel.fading = "rayleigh";
    options.jammers = {{.place = {30, 0, 1}, .power_dbm = 10, .duty = 0.3}};
    return std::make_unique<AnalyticRadio>(options, nullptr);
  }
};
struct Cells {
  static std::unique_ptr<Network> make() {
    RadioOptions options;
    options.kind = "cell";
    options.cell.stations = {{"west", {0, 0, 25}}, {"east", {20, 0, 25}}};
    options.channel.fading = "rayleigh";
    return std::make_unique<CellNetwork>(options, nullptr);
  }
};
/// An external library, loaded as such.
struct Sample {
  static std::unique_ptr<Network> make() {
    return open_network(*load_adapter(COSIM_SAMPLE_NETWORK).or_throw(), "0.7").or_throw();
  }
};
template <typename Inner>
struct Remote {
  static std::unique_ptr<Network> make() {
    return std::make_unique<RemoteNetwork>(Worker::fork({}, [](IpcChannel& channel) {
                                             const auto network = Inner::make();
                                             serve(channel, *network);
                                           }).or_throw());
  }
};
/// The same library in the worker program.
struct SampleWorker {
  static std::unique_ptr<Network> make() {
    return std::make_unique<RemoteNetwork>(
        Worker::start({}, {COSIM_WORKER, "--adapter", COSIM_SAMPLE_NETWORK, "--options", "0.7"})
            .or_throw());
  }
};

using Networks = testing::Types<Delay, Radio, Jammed, Cells, Remote<Cells>, Sample, Remote<Delay>,
                                Remote<Radio>, SampleWorker>;
INSTANTIATE_TYPED_TEST_SUITE_P(Cosim, NetworkConformance, Networks);

struct Paths {
  static std::unique_ptr<Physics> make() {
    return std::make_unique<Kinematic>(std::vector<Path>{
        ConstantVelocity{{}, {1, 2, 3}}, Circle{{}, 5, 1, 0},
        Waypoints{{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}}, 4, true}, ConstantVelocity{}});
  }
};
struct RemotePaths {
  static std::unique_ptr<Physics> make() {
    return std::make_unique<RemotePhysics>(Worker::fork({}, [](IpcChannel& channel) {
                                             const auto physics = Paths::make();
                                             serve(channel, *physics);
                                           }).or_throw());
  }
};
/// Both directions through the C interface.
struct PathsOfC {
  struct Opens {
    static Result<std::unique_ptr<Physics>> open(std::string_view) { return Paths::make(); }
  };
  static std::unique_ptr<Physics> make() {
    return open_physics(*exposed_physics<Opens>(), "").or_throw();
  }
};
using AllPhysics = testing::Types<Paths, RemotePaths, PathsOfC>;
INSTANTIATE_TYPED_TEST_SUITE_P(Cosim, PhysicsConformance, AllPhysics);

TEST(CosimAdapter, a_file_that_is_not_an_adapter_is_refused) {
  EXPECT_EQ(load_adapter("/nonexistent.so").error().code, Code::not_found);
  EXPECT_EQ(load_adapter("libm.so.6").error().code, Code::corrupt);
}

TEST(CosimAdapter, wrong_options_kinds_and_versions_are_refused) {
  const auto* sample = load_adapter(COSIM_SAMPLE_NETWORK).or_throw();
  EXPECT_EQ(open_network(*sample, "fast").error().code, Code::invalid_config);
  EXPECT_EQ(open_physics(*sample, "0.7").error().code, Code::invalid_config);
  hyphos_cosim_simulator other = *sample;
  other.abi = 99;
  EXPECT_EQ(open_network(other, "0.7").error().code, Code::corrupt);
  other.abi = 1;
  const auto old = open_network(other, "0.7");
  ASSERT_FALSE(old.ok());
  EXPECT_EQ(old.error().code, Code::corrupt);
  EXPECT_EQ(old.error().message, "built for version 1 of the interface, not " +
                                     std::to_string(HYPHOS_COSIM_ABI) +
                                     ": recompile it with the cosim_adapter.h of "
                                     "this Hyphos");
  other = *sample;
  other.inject = nullptr;
  EXPECT_EQ(open_network(other, "0.7").error().code, Code::corrupt);
}

/// Physics of two robots, written like an external simulator. It reports the values that a test
/// sets.
struct Outside {
  static int poses(void*, hyphos_cosim_pose* poses, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      for (const double zero : poses[i].orientation) EXPECT_EQ(zero, 0);
      std::ranges::copy(orientation, poses[i].orientation);
      poses[i].position[0] = i;
    }
    return HYPHOS_COSIM_OK;
  }
  static std::unique_ptr<Physics> make(bool steered) {
    static hyphos_cosim_simulator calls;
    calls = {};
    calls.abi = HYPHOS_COSIM_ABI;
    calls.kind = HYPHOS_COSIM_PHYSICS;
    calls.open = [](const char*) -> void* { return &calls; };
    calls.close = [](void*) {};
    calls.error = [](void*) { return says; };
    calls.init = [](void*, std::uint32_t, std::uint64_t) -> int { return HYPHOS_COSIM_OK; };
    calls.advance = [](void*, std::int64_t) -> int { return HYPHOS_COSIM_OK; };
    calls.next_event_time = [](void*) -> std::int64_t { return HYPHOS_COSIM_NEVER; };
    calls.poses = poses;
    if (steered) {
      calls.steer = [](void*, std::uint32_t, const hyphos_cosim_motion*) { return returns; };
    }
    return open_physics(calls, "").or_throw();
  }
  inline static std::array<double, 4> orientation{};
  inline static const char* says = "";
  inline static int returns = HYPHOS_COSIM_OK;
};

TEST(CosimAdapter, a_missing_orientation_is_accepted_and_an_invalid_one_refused) {
  const auto physics = Outside::make(false);
  Outside::orientation = {};
  ASSERT_TRUE(physics->init(2, 1).ok());
  EXPECT_EQ(physics->poses()[1].orientation, Quaternion{});
  EXPECT_EQ(physics->poses()[1].position.x, 1);
  Outside::orientation = {0, 0, 1, 0};
  ASSERT_TRUE(physics->advance({1}).ok());
  EXPECT_EQ(physics->poses()[1].orientation, (Quaternion{0, 0, 1, 0}));
  for (const double wrong : {2.0, 0.5, std::numeric_limits<double>::quiet_NaN()}) {
    Outside::orientation = {0, 0, wrong, 0};
    const auto told = physics->advance({2});
    ASSERT_FALSE(told.ok()) << wrong;
    EXPECT_EQ(told.error().code, Code::corrupt);
    EXPECT_NE(told.error().message.find("the pose of robot 0 has an orientation of length"),
              std::string::npos)
        << told.error().to_string();
  }
}

TEST(CosimAdapter, steer_is_unsupported_or_reports_the_ignored_part) {
  Outside::orientation = {};
  const auto without = Outside::make(false);
  ASSERT_TRUE(without->init(2, 1).ok());
  const auto told = without->steer(1, {{1, 0, 0}, 0});
  ASSERT_FALSE(told.ok());
  EXPECT_EQ(told.error().code, Code::unsupported);
  EXPECT_NE(told.error().message.find("robot 1"), std::string::npos);

  const auto with = Outside::make(true);
  ASSERT_TRUE(with->init(2, 1).ok());
  Outside::returns = HYPHOS_COSIM_OK;
  EXPECT_EQ(with->steer(1, {}).value(), "");
  Outside::returns = HYPHOS_COSIM_IN_PART;
  EXPECT_EQ(with->steer(1, {}).value(), "the simulator does not name the part");
  Outside::says = "it has no wings";
  EXPECT_EQ(with->steer(1, {}).value(), "it has no wings");
  Outside::returns = HYPHOS_COSIM_NO_NODE;
  EXPECT_EQ(with->steer(7, {}).error().code, Code::not_found);
  Outside::says = "";
}

}  // namespace
}  // namespace hyphos::cosim
