#include "cosim/physics/mujoco/pictures.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

namespace hyphos::cosim {
namespace {

/// The body of the free joint of a robot, by its place among the robots.
int root_of(const mjModel& model, std::size_t robot) {
  for (int joint = 0; joint < model.njnt; ++joint) {
    if (model.jnt_type[joint] == mjJNT_FREE && robot-- == 0) return model.jnt_bodyid[joint];
  }
  return -1;
}

/// Turns the rows round: OpenGL begins with the lowest one.
template <typename T>
void turn_over(std::vector<T>& values, std::size_t row) {
  const std::size_t rows = values.size() / row;
  for (std::size_t i = 0; i < rows / 2; ++i) {
    auto* const upper = values.data() + i * row;
    std::swap_ranges(upper, upper + row, values.data() + (rows - 1 - i) * row);
  }
}

/// OpenGL's depth from 0 (nearest) to 1 (farthest) as distance along the axis.
float metres(float depth, double nearest, double farthest) {
  if (depth >= 1) return std::numeric_limits<float>::infinity();
  return static_cast<float>(nearest * farthest /
                            (farthest - static_cast<double>(depth) * (farthest - nearest)));
}

}  // namespace

/// The objects of MuJoCo's renderer. The context of OpenGL must be current whenever one is made or
/// freed.
struct Pictures::Renderer {
  explicit Renderer(const mjModel& model) {
    mjv_defaultScene(&scene);
    mjv_makeScene(&model, &scene, model.ngeom + kSpare);
    for (mjtByte& flag : scene.flags) flag = 0;
    scene.flags[mjRND_CULL_FACE] = 1;
    mjv_defaultOption(&option);
    std::ranges::fill(option.sitegroup, mjtByte{0});
    std::ranges::fill(option.tendongroup, mjtByte{0});
    mjv_defaultCamera(&camera);
    camera.type = mjCAMERA_FIXED;
    camera.fixedcamid = 0;
    mjr_defaultContext(&context);
  }
  ~Renderer() {
    mjr_freeContext(&context);
    mjv_freeScene(&scene);
  }
  Renderer(const Renderer&) = delete;
  Renderer& operator=(const Renderer&) = delete;

  static constexpr int kSpare = 100;  // for things that MuJoCo adds to a scene

  mjvScene scene{};
  mjvOption option{};
  mjvCamera camera{};
  mjrContext context{};
};

Pictures::Pictures(std::unique_ptr<World> world, std::unique_ptr<EglContext> context)
    : world_(std::move(world)),
      context_(std::move(context)),
      renderer_(std::make_unique<Renderer>(world_->model())) {}

Result<std::unique_ptr<Pictures>> Pictures::make(const Ground& ground,
                                                 std::span<const UserModel> models,
                                                 const RobotCounts& counts) {
  auto context = EglContext::open();
  if (!context) return context.error();
  Ground drawn = ground;
  drawn.drawn = true;
  auto world = World::make(drawn, models, counts);
  if (!world) return world.error();
  return std::unique_ptr<Pictures>(new Pictures(std::move(*world), std::move(*context)));
}

Pictures::~Pictures() {
  // Without a context there is nothing that OpenGL could free.
  const auto current = EglContext::Current::make(*context_);
  renderer_.reset();
}

/// Makes the buffers as large as the largest picture until now.
void Pictures::fit(const View& view) {
  mjModel& model = world_->model();
  auto& size = model.vis.global;
  mjrContext& context = renderer_->context;
  const int width = static_cast<int>(view.width);
  const int height = static_cast<int>(view.height);
  if (context.offWidth >= width && context.offHeight >= height) return;
  size.offwidth = std::max(context.offWidth, width);
  size.offheight = std::max(context.offHeight, height);
  model.vis.quality.offsamples = 0;  // so that a pixel has the colour and depth of one point
  mjr_freeContext(&context);
  mjr_makeContext(&model, &context, mjFONTSCALE_100);
}

/// Moves the camera of the model. MuJoCo's cameras look along −z, and y is up.
void Pictures::aim(const Pose& pose, const View& view) {
  mjModel& model = world_->model();
  mjData& data = world_->data();
  const Quaternion turn = pose.orientation * view.aim;
  const Vec3 from = pose.position + turned(pose.orientation, view.mount);
  const Vec3 right = turned(turn, {0, -1, 0});
  const Vec3 up = turned(turn, {0, 0, 1});
  const Vec3 back = turned(turn, {-1, 0, 0});
  std::ranges::copy(std::initializer_list<mjtNum>{from.x, from.y, from.z}, data.cam_xpos);
  std::ranges::copy(std::initializer_list<mjtNum>{right.x, up.x, back.x, right.y, up.y, back.y,
                                                  right.z, up.z, back.z},
                    data.cam_xmat);
  model.cam_fovy[0] = 2 * std::atan(view.height / (2 * view.focal_px)) * 180 / std::numbers::pi;
  model.stat.extent = 1;  // so that the distances are in metres
  model.vis.map.znear = static_cast<float>(view.nearest_m);
  model.vis.map.zfar = static_cast<float>(view.range_m);
}

/// Removes the robot that has the camera.
void Pictures::hide(std::size_t own) {
  const mjModel& model = world_->model();
  const int root = root_of(model, own);
  mjvScene& scene = renderer_->scene;
  const auto end = std::remove_if(scene.geoms, scene.geoms + scene.ngeom, [&](const mjvGeom& geom) {
    return geom.objtype == mjOBJ_GEOM && geom.objid >= 0 &&
           model.body_rootid[model.geom_bodyid[geom.objid]] == root;
  });
  scene.ngeom = static_cast<int>(end - scene.geoms);
}

/// Colours the pixels without a thing by the elevation of their rays. MuJoCo's own sky has a depth.
void Pictures::paint_sky(const Pose& pose, const View& view, std::span<const float> depth,
                         std::span<std::byte> rgb) {
  constexpr std::array<double, 3> kHorizon{0.75, 0.85, 0.95};
  constexpr std::array<double, 3> kZenith{0.35, 0.55, 0.8};
  const Quaternion turn = pose.orientation * view.aim;
  const double ahead = turned(turn, {1, 0, 0}).z;
  const double left = turned(turn, {0, 1, 0}).z / view.focal_px;
  const double up = turned(turn, {0, 0, 1}).z / view.focal_px;
  for (std::uint32_t row = 0; row < view.height; ++row) {
    for (std::uint32_t column = 0; column < view.width; ++column) {
      const std::size_t i = std::size_t{row} * view.width + column;
      if (depth[i] < 1) continue;
      const double x = (view.width - 1) / 2.0 - column;
      const double y = (view.height - 1) / 2.0 - row;
      const double length = std::sqrt(1 + (x * x + y * y) / (view.focal_px * view.focal_px));
      const double height = std::clamp((ahead + left * x + up * y) / length, 0.0, 1.0);
      for (std::size_t part = 0; part < 3; ++part) {
        const double value = kHorizon[part] + (kZenith[part] - kHorizon[part]) * height;
        rgb[3 * i + part] = static_cast<std::byte>(std::lround(255 * value));
      }
    }
  }
}

Result<Picture> Pictures::draw(std::span<RobotState* const> robots, std::size_t own,
                               const Pose& pose, const View& view) {
  const auto current = EglContext::Current::make(*context_);
  if (!current) return current.error();
  world_->place(robots);
  mjModel& model = world_->model();
  mjData& data = world_->data();
  mj_kinematics(&model, &data);
  mj_comPos(&model, &data);
  mj_camlight(&model, &data);
  aim(pose, view);
  fit(view);  // after aim(): MuJoCo's renderer copies some distances of the model
  auto& [scene, option, camera, context] = *renderer_;
  mjv_updateScene(&model, &data, &option, nullptr, &camera, mjCAT_STATIC | mjCAT_DYNAMIC, &scene);
  hide(own);
  const mjrRect area{0, 0, static_cast<int>(view.width), static_cast<int>(view.height)};
  mjr_setBuffer(mjFB_OFFSCREEN, &context);
  mjr_render(area, &scene, &context);
  const std::size_t pixels = std::size_t{view.width} * view.height;
  Picture picture;
  picture.rgb.resize(3 * pixels);
  picture.depth.resize(pixels);
  mjr_readPixels(reinterpret_cast<unsigned char*>(picture.rgb.data()), picture.depth.data(), area,
                 &context);
  turn_over(picture.rgb, std::size_t{3} * view.width);
  turn_over(picture.depth, view.width);
  paint_sky(pose, view, picture.depth, picture.rgb);
  if (!view.depth) picture.depth.clear();
  for (float& depth : picture.depth) depth = metres(depth, view.nearest_m, view.range_m);
  return picture;
}

}  // namespace hyphos::cosim
