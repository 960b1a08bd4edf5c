// Models, terrain and sensors of the user's own in MuJoCo. The adapter runs in this process,
// because sensors need it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "cosim/adapter/c_adapter.hpp"
#include "cosim/physics/mujoco/options.hpp"
#include "cosim/world/terrain_file.hpp"

namespace hyphos::cosim {
namespace {

namespace fs = std::filesystem;

class CosimUserWorld : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("models" + std::to_string(::getpid()));
    fs::create_directories(folder_ / "models");
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }
  static std::unique_ptr<Physics> open(const MujocoOptions& options) {
    return open_physics(*load_adapter(COSIM_MUJOCO).or_throw(), to_text(options)).or_throw();
  }
  static Result<void> start(const MujocoOptions& options) {
    return open(options)->init(static_cast<std::uint32_t>(options.robots.size()), 1);
  }
  static std::vector<Pose> after(Physics& physics, std::size_t robots, double seconds) {
    EXPECT_TRUE(physics.init(static_cast<std::uint32_t>(robots), 1).ok());
    const auto ran = physics.advance({static_cast<std::int64_t>(seconds * 1e9)});
    EXPECT_TRUE(ran.ok()) << ran.error().to_string();
    return {physics.poses().begin(), physics.poses().end()};
  }
  MujocoRobot robot(const std::string& file, RobotKind kind = RobotKind::ugv) const {
    MujocoRobot made;
    made.kind = kind;
    made.model.file = file;
    made.model.folder = folder_.string();
    return made;
  }

  fs::path folder_;
};

constexpr const char* kCar = R"(<mujoco model="car">
<compiler autolimits="true"/>
<size njmax="2000000000" nconmax="2000000000"/>
<default><default class="wheel"><geom type="cylinder" size=".1 .03"/><joint damping="0.1"/></default></default>
<worldbody>
<light pos="0 0 3"/><geom type="plane" size="1 1 1"/>
<body name="chassis" pos="0 0 .2"><freejoint/><geom type="box" size=".3 .18 .05" mass="8"/>
<body name="fl" pos=".2 .25 0" childclass="wheel"><joint name="jfl" axis="0 1 0"/><geom euler="90 0 0"/></body>
<body name="fr" pos=".2 -.25 0" childclass="wheel"><joint name="jfr" axis="0 1 0"/><geom euler="90 0 0"/></body>
<body name="rl" pos="-.2 .25 0"><joint name="jrl" class="wheel" axis="0 1 0"/><geom class="wheel" euler="90 0 0"/></body>
<body name="rr" pos="-.2 -.25 0"><joint name="jrr" class="wheel" axis="0 1 0"/><geom class="wheel" euler="90 0 0"/></body>
</body></worldbody>
<actuator>
<velocity name="left" joint="jfl" kv="3" ctrlrange="-40 40"/><velocity name="right" joint="jfr" kv="3"/>
<velocity name="left2" joint="jrl" kv="3"/><velocity name="right2" joint="jrr" kv="3"/>
</actuator>
</mujoco>
)";

MujocoRobot wheeled(MujocoRobot robot) {
  robot.model.drive = Drive::wheels;
  robot.model.left = {"left", "left2"};
  robot.model.right = {"right", "right2"};
  robot.model.wheel_radius = 0.1;
  robot.model.track = 0.5;
  return robot;
}

TEST_F(CosimUserWorld, a_model_with_wheels_drives_to_its_waypoint) {
  MujocoOptions options;
  options.robots.push_back(wheeled(robot(write("car.xml", kCar))));
  options.robots[0].waypoints = {{4, 2, 0}};
  const auto physics = open(options);
  const auto poses = after(*physics, 1, 15);
  EXPECT_LT(std::hypot(poses[0].position.x - 4, poses[0].position.y - 2), 0.5);
  EXPECT_NEAR(poses[0].position.z, 0.1, 0.02) << "on its wheels";
}

TEST_F(CosimUserWorld, robots_of_models_and_built_in_ones_touch_each_other) {
  MujocoOptions options;
  const std::string car = write("car.xml", kCar);
  for (const double x : {0.0, 3.0}) {
    options.robots.push_back(wheeled(robot(car)));
    options.robots.back().start = {x, 0, 0};
  }
  options.robots[0].waypoints = {{30, 0, 0}};
  MujocoRobot husky;
  husky.start = {6, 0, 0};
  options.robots.push_back(husky);
  const auto physics = open(options);
  const auto poses = after(*physics, 3, 10);
  EXPECT_GT(poses[1].position.x, 3.05) << "pushed, though its wheels brake";
  EXPECT_GT(poses[1].position.x - poses[0].position.x, 0.5) << "not through each other";
  EXPECT_GT(poses[2].position.x - poses[1].position.x, 0.5);
}

constexpr const char* kUrdf = R"(<?xml version="1.0"?>
<robot name="r">
 <link name="base"><inertial><mass value="10"/><inertia ixx="0.3" iyy="0.3" izz="0.3" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><box size="0.4 0.3 0.1"/></geometry></collision></link>
 <link name="wl"><inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><origin rpy="1.5708 0 0"/><geometry><cylinder radius="0.1" length="0.05"/></geometry></collision></link>
 <link name="wr"><inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><origin rpy="1.5708 0 0"/><geometry><cylinder radius="0.1" length="0.05"/></geometry></collision></link>
 <link name="caster"><inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><sphere radius="0.05"/></geometry></collision></link>
 <joint name="jl" type="continuous"><parent link="base"/><child link="wl"/><axis xyz="0 1 0"/><origin xyz="0.05 0.2 0"/></joint>
 <joint name="jr" type="continuous"><parent link="base"/><child link="wr"/><axis xyz="0 1 0"/><origin xyz="0.05 -0.2 0"/></joint>
 <joint name="jc" type="continuous"><parent link="base"/><child link="caster"/><axis xyz="0 1 0"/><origin xyz="-0.18 0 -0.05"/></joint>
</robot>
)";

TEST_F(CosimUserWorld, a_urdf_has_a_free_base_and_drives_by_its_joints) {
  MujocoOptions options;
  MujocoRobot made = robot(write("bot.urdf", kUrdf));
  made.model.drive = Drive::wheels;
  made.model.left = {"jl"};
  made.model.right = {"jr"};
  made.model.wheel_radius = 0.1;
  made.model.track = 0.4;
  made.waypoints = {{3, 0, 0}};
  options.robots.push_back(made);
  const auto physics = open(options);
  const auto poses = after(*physics, 1, 12);
  EXPECT_NEAR(poses[0].position.x, 3, 0.5);
  EXPECT_NEAR(poses[0].position.z, 0.1, 0.03);
}

constexpr const char* kQuad = R"(<mujoco><worldbody><body name="quad"><freejoint/>
<geom type="box" size=".12 .12 .03" mass="0.8"/>
<site name="a" pos=".12 .12 0"/><site name="b" pos=".12 -.12 0"/><site name="c" pos="-.12 .12 0"/><site name="d" pos="-.12 -.12 0"/>
</body></worldbody><actuator>
<motor name="m1" site="a" gear="0 0 1 0 0 .02" ctrllimited="true" ctrlrange="0 6"/>
<motor name="m2" site="b" gear="0 0 1 0 0 -.02" ctrllimited="true" ctrlrange="0 6"/>
<motor name="m3" site="c" gear="0 0 1 0 0 -.02" ctrllimited="true" ctrlrange="0 6"/>
<motor name="m4" site="d" gear="0 0 1 0 0 .02" ctrllimited="true" ctrlrange="0 6"/>
</actuator></mujoco>)";

TEST_F(CosimUserWorld, a_model_with_rotors_flies_and_can_be_steered) {
  MujocoOptions options;
  MujocoRobot made = robot(write("quad.xml", kQuad), RobotKind::uav);
  made.model.drive = Drive::rotors;
  made.model.rotors = {"m1", "m2", "m3", "m4"};
  made.start = {0, 0, 2};
  made.speed = 3;
  made.waypoints = {{10, 5, 6}};
  options.robots.push_back(made);
  const auto physics = open(options);
  const auto poses = after(*physics, 1, 15);
  EXPECT_LT(length(poses[0].position - Vec3{10, 5, 6}), 0.2);
  EXPECT_TRUE(physics->steer(0, {{2, 0, 0}, 0}).ok());
  ASSERT_TRUE(physics->advance({18'000'000'000}).ok());
  EXPECT_NEAR(length(physics->poses()[0].velocity), 2, 0.3);
  options.robots[0].model.rotors = {"m1", "m2"};
  const auto refused = start(options);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("cannot lift"), std::string::npos);
}

TEST_F(CosimUserWorld, a_saved_model_continues_with_the_same_bits) {
  MujocoOptions options;
  options.robots.push_back(wheeled(robot(write("car.xml", kCar))));
  options.robots[0].waypoints = {{4, 4, 0}, {0, 0, 0}};
  options.robots[0].loop = true;
  const auto once = open(options);
  (void)after(*once, 1, 2);
  const auto saved = once->save().or_throw();
  ASSERT_TRUE(once->advance({5'000'000'000}).ok());
  const auto again = open(options);
  ASSERT_TRUE(again->init(1, 1).ok());
  ASSERT_TRUE(again->restore(saved).ok());
  ASSERT_TRUE(again->advance({5'000'000'000}).ok());
  EXPECT_EQ(once->poses()[0].position, again->poses()[0].position);
  EXPECT_EQ(once->felt(0).or_throw(), again->felt(0).or_throw());
}

TEST_F(CosimUserWorld, a_model_that_lies_is_refused_with_file_and_line) {
  const auto refused = [&](const std::string& name, const std::string& text,
                           const std::string& where, const std::string& what) {
    MujocoOptions options;
    options.robots.push_back(robot(write(name, text)));
    const auto started = start(options);
    ASSERT_FALSE(started.ok()) << name;
    const std::string told = started.error().to_string();
    EXPECT_NE(told.find(where), std::string::npos) << told;
    EXPECT_NE(told.find(what), std::string::npos) << told;
  };
  write("secret.xml", "<mujoco/>");
  write("models/deep.xml", "<mujocoinclude><include file='deep.xml'/></mujocoinclude>");
  refused("a.xml", "<mujoco>\n<worldbody>\n<body><geom type='bx'/></body></worldbody></mujoco>",
          "a.xml:3", "bx");
  refused("b.xml", "<mujoco>\n<worldbody>", "b.xml:", "not valid XML");
  refused("c.xml", "<html>\n</html>", "c.xml:1", "<mujoco>");
  refused("d.xml", "<mujoco>\n<include file='/etc/passwd'/></mujoco>", "d.xml:2", "outside");
  refused("e.xml",
          "<mujoco>\n<asset><mesh name='m' file='../../../etc/hostname'/></asset></mujoco>",
          "e.xml:2", "outside");
  refused("f.xml", "<mujoco>\n<asset>\n<mesh name='m' file='none.stl'/></asset></mujoco>",
          "f.xml:3", "there is no file");
  refused("g.xml", "<mujoco>\n<include file='models/deep.xml'/></mujoco>", "deep.xml:1",
          "there is no file");
  refused("h.xml", "<mujoco><worldbody><body/><body/></worldbody></mujoco>", "h.xml", "2 bodies");
  refused("i.xml",
          "<mujoco><worldbody><body>\n<joint type='hinge'/><geom "
          "size='1'/></body></worldbody></mujoco>",
          "i.xml", "free joint");
  refused(
      "j.xml",
      "<mujoco><worldbody><body>\n<composite type='grid' count='1000 1000 1' spacing='1'/></body>"
      "</worldbody></mujoco>",
      "j.xml:2", "1000 parts");
  refused("k.xml",
          "<mujoco><asset>\n<hfield name='h' nrow='100000' ncol='100000' size='1 1 1 1'/></asset>"
          "</mujoco>",
          "k.xml:2", "1,000,000");
  refused("l.xml", "", "l.xml:1", "not valid XML");
  refused("m.xml", "<mujoco><worldbody><body><freejoint/></body></worldbody></mujoco>", "m.xml",
          "mass");
  fs::create_symlink("/etc/hostname", folder_ / "link.stl");
  refused("n.xml", "<mujoco>\n<asset><mesh name='m' file='link.stl'/></asset></mujoco>", "n.xml:2",
          "outside");
}

TEST_F(CosimUserWorld, a_file_that_includes_itself_ends) {
  MujocoOptions options;
  options.robots.push_back(
      robot(write("self.xml", "<mujoco>\n<include file='self.xml'/></mujoco>")));
  const auto started = start(options);
  ASSERT_FALSE(started.ok());
  EXPECT_NE(started.error().message.find("may include itself"), std::string::npos);
}

TEST_F(CosimUserWorld, an_actuator_that_does_not_exist_is_named) {
  MujocoOptions options;
  options.robots.push_back(wheeled(robot(write("car.xml", kCar))));
  options.robots[0].model.left = {"lft"};
  const auto started = start(options);
  ASSERT_FALSE(started.ok());
  EXPECT_NE(started.error().message.find("'lft'"), std::string::npos);
  EXPECT_NE(started.error().message.find("left, right, left2, right2"), std::string::npos);
}

TEST_F(CosimUserWorld, a_model_that_explodes_ends_the_run_with_its_name) {
  // A wheel servo that is far too strong for the step.
  std::string text = kCar;
  for (std::size_t at = 0; (at = text.find("kv=\"3\"", at)) != std::string::npos;) {
    text.replace(at, 6, "kv=\"9e7\"");
  }
  MujocoOptions options;
  options.step = Duration::from_ms(10);
  options.robots.push_back(wheeled(robot(write("bad.xml", text))));
  options.robots[0].name = "runaway";
  options.robots[0].waypoints = {{40, 0, 0}};
  const auto physics = open(options);
  ASSERT_TRUE(physics->init(1, 1).ok());
  const auto ran = physics->advance({20'000'000'000});
  ASSERT_FALSE(ran.ok());
  EXPECT_NE(ran.error().message.find("robot 'runaway'"), std::string::npos) << ran.error().message;
}

TEST_F(CosimUserWorld, terrain_carries_robots_and_stops_rays) {
  MujocoOptions options;
  options.terrain.emplace();
  options.terrain->size_x = options.terrain->size_y = 60;
  options.terrain->hills = {{10, 0, 6, 2}, {-20, 5, 4, -1}};
  options.terrain->rough = 0.05;
  MujocoRobot husky;
  husky.start = {0, 0, 0};
  husky.waypoints = {{10, 0, 0}};
  MujocoRobot other;
  other.start = {-20, 5, 0};
  options.robots = {husky, other};
  const auto physics = open(options);
  const auto poses = after(*physics, 2, 20);
  const Terrain terrain = load_terrain(*options.terrain).or_throw();
  EXPECT_GT(poses[0].position.x, 9) << "it climbs";
  for (const Pose& pose : poses) {
    EXPECT_NEAR(pose.position.z - terrain.height(pose.position.x, pose.position.y), 0.165, 0.12);
  }
  // Our heights and MuJoCo's are the same: a ray down from anywhere.
  Rays down{{0, 0, 0}, 50, {}};
  for (int i = 0; i < 40; ++i) {
    const double slope = 0.02 * i;
    down.directions.push_back({slope / std::hypot(1, slope), 0, -1 / std::hypot(1, slope)});
  }
  MujocoOptions flying = options;
  MujocoRobot drone;
  drone.kind = RobotKind::uav;
  drone.start = {3, 0.3, 9};
  flying.robots = {drone};
  const auto above = open(flying);
  ASSERT_TRUE(above->init(1, 1).ok());
  const auto distances = above->cast(0, down).or_throw();
  for (std::size_t i = 0; i < distances.size(); ++i) {
    const Vec3 hit = Vec3{3, 0.3, 9} + down.directions[i] * distances[i];
    EXPECT_NEAR(terrain.height(hit.x, hit.y), hit.z, 1e-3) << i;
  }
}

TEST_F(CosimUserWorld, a_mesh_is_solid) {
  // A wall of 1 by 6 by 2 m as an OBJ.
  std::string obj;
  for (int i = 0; i < 8; ++i) {
    obj += "v " + std::to_string(i & 1) + " " + std::to_string(i & 2 ? 3 : -3) + " " +
           std::to_string(i & 4 ? 2 : 0) + "\n";
  }
  obj +=
      "f 1 3 4\nf 1 4 2\nf 5 6 8\nf 5 8 7\nf 1 2 6\nf 1 6 5\nf 3 7 8\nf 3 8 4\nf 1 5 7\nf 1 7 3\n"
      "f 2 4 8\nf 2 8 6\n";
  MujocoOptions options;
  options.meshes.push_back({write("wall.obj", obj), {4, 0, 0}});
  MujocoRobot husky;
  husky.waypoints = {{10, 0, 0}};
  options.robots = {husky};
  const auto physics = open(options);
  const auto poses = after(*physics, 1, 12);
  EXPECT_GT(poses[0].position.x, 2.5);
  EXPECT_LT(poses[0].position.x, 4);
  const auto ray = physics->cast(0, {{0, 0, 1}, 30, {{1, 0, 0}}}).or_throw();
  EXPECT_NEAR(ray[0], 4 - poses[0].position.x, 0.05);
}

TEST_F(CosimUserWorld, sensors_agree_with_the_motion) {
  MujocoOptions options;
  options.boxes = {{{5, -2, 0}, {6, 2, 2}, 0}};
  MujocoRobot husky;
  MujocoRobot other;
  other.start = {0, 4, 0};
  options.robots = {husky, other};
  const auto physics = open(options);
  (void)after(*physics, 2, 2);
  const Vec3 still = physics->felt(0).or_throw();
  EXPECT_NEAR(still.z, 9.81, 0.05);
  EXPECT_NEAR(still.x, 0, 0.05);
  const auto rays =
      physics->cast(0, {{0, 0, 0.1}, 20, {{1, 0, 0}, {0, 1, 0}, {-1, 0, 0}, {0, 0, -1}}})
          .or_throw();
  EXPECT_NEAR(rays[0], 5, 0.02) << "the box";
  EXPECT_NEAR(rays[1], 4 - 0.26, 0.2) << "the side of the other robot";
  EXPECT_EQ(rays[2], std::numeric_limits<double>::infinity());
  EXPECT_NEAR(rays[3], 0.265, 0.03) << "not its own body";
  // The integral of the acceleration is the change of the velocity.
  ASSERT_TRUE(physics->steer(0, {{1.5, 0, 0}, 0}).ok());
  double speed = 0;
  for (std::int64_t ms = 2001; ms <= 3000; ++ms) {
    ASSERT_TRUE(physics->advance({ms * 1'000'000}).ok());
    speed += physics->felt(0).or_throw().x * 1e-3;
  }
  EXPECT_NEAR(speed, physics->poses()[0].velocity.x, 0.1);
  EXPECT_EQ(physics->felt(9).error().code, Code::not_found);
}

TEST_F(CosimUserWorld, a_robot_out_of_the_world_is_named) {
  MujocoOptions options;
  MujocoRobot drone;
  drone.kind = RobotKind::uav;
  drone.name = "iris";
  drone.start = {0, 0, -150};
  options.robots = {drone};
  const auto physics = open(options);
  ASSERT_TRUE(physics->init(1, 1).ok());
  const auto ran = physics->advance({1'000'000'000});
  ASSERT_FALSE(ran.ok());
  EXPECT_NE(ran.error().message.find("robot 'iris' is out of the world"), std::string::npos)
      << ran.error().message;
}

TEST_F(CosimUserWorld, a_ugv_in_front_of_a_wall_does_not_climb_it) {
  for (const double speed : {0.5, 1.0, 1.8, 3.0}) {
    MujocoOptions options;
    options.boxes = {{{8, -3, 0}, {9, 3, 3}, 10}};
    MujocoRobot husky;
    husky.speed = speed;
    husky.waypoints = {{40, 0, 0}};
    options.robots = {husky};
    const auto physics = open(options);
    ASSERT_TRUE(physics->init(1, 1).ok());
    double highest = 0;
    for (std::int64_t ms = 100; ms <= 30'000; ms += 100) {
      ASSERT_TRUE(physics->advance({ms * 1'000'000}).ok());
      highest = std::max(highest, physics->poses()[0].position.z);
    }
    const Pose& pose = physics->poses()[0];
    EXPECT_GT(turned(pose.orientation, {0, 0, 1}).z, 0.95) << speed;
    EXPECT_LT(highest, 0.3) << speed;
    EXPECT_LT(pose.position.x, 8);
  }
}

}  // namespace
}  // namespace hyphos::cosim
