#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "builtin/urdf.hpp"
#include "hyphos/msgs/sensor.pb.h"
#include "hyphos/msgs/std.pb.h"
#include "view/core/words.hpp"
#include "view/displays/kinds.hpp"
#include "view/displays/mesh_file.hpp"
#include "view/displays/message.hpp"

namespace hyphos::view {
namespace {

using builtin::Urdf;
using builtin::UrdfJoint;
using builtin::UrdfShape;
using builtin::UrdfVisual;

/// The links of a URDF model, at the poses of their frames, or by joint states where no transform
/// comes.
class RobotModel final : public Display {
 public:
  RobotModel() {
    properties_.add("visual", &visual_, "shapes that are meant to be seen");
    properties_.add("collision", &collision_, "shapes that collide");
    properties_.add("alpha", &alpha_, "opacity", "", 0, 1);
    properties_.add("frame_prefix", &prefix_, "text before the links' names in the frames");
    properties_.add("joint_states", &joint_states_, "channel of the joints, empty: joint_states");
    properties_.add("packages", &packages_, "folders of package:// meshes, separated by ':'");
  }

  void take(const Sample& sample) override {
    ++counters_.taken;
    msgs::String message;
    if (!parse(sample, message)) return refuse(not_a("hyphos.msgs.String", sample));
    if (message.data() == text_) return;
    auto parsed = builtin::parse_urdf(message.data(), "robot_description");
    if (!parsed) return refuse(parsed.error().where + ": " + parsed.error().message);
    text_ = message.data();
    model_ = std::move(*parsed);
    positions_.clear();
    meshes_.clear();
    problems_ = model_.problems;
    load_meshes();
    place();
  }
  void take_companion(std::string_view, const Sample& sample) override {
    msgs::JointState state;
    if (!parse(sample, state) || state.position_size() != state.name_size()) return;
    for (int i = 0; i < state.name_size(); ++i) {
      if (std::isfinite(state.position(i))) positions_[state.name(i)] = state.position(i);
    }
    place();
  }
  void clear() override {}
  bool settings_changed() override {
    meshes_.clear();
    problems_ = model_.problems;
    if (!text_.empty()) {
      load_meshes();
      place();
    }
    return false;
  }
  bool update() override {
    if (text_.empty() || surroundings().frames->version() == seen_frames_) return false;
    return place();
  }
  void fixed_frame_changed(const std::string&) override { place(); }

  void paint(Painter& painter) override {
    if (visual_) {
      for (const UrdfVisual& each : model_.visuals) paint(painter, each, {200, 204, 212, 255});
    }
    if (collision_) {
      for (const UrdfVisual& each : model_.collisions) paint(painter, each, {240, 170, 80, 120});
    }
  }
  [[nodiscard]] Bounds bounds() const override {
    Bounds all;
    for (const auto& [link, pose] : poses_) all.add(pose.translation());
    return all;
  }
  [[nodiscard]] std::size_t bytes() const override {
    std::size_t sum = text_.size();
    for (const auto& [name, mesh] : meshes_) sum += mesh->bytes();
    return sum;
  }

 private:
  void load_meshes() {
    for (const auto* shapes : {&model_.visuals, &model_.collisions}) {
      for (const UrdfVisual& each : *shapes) {
        if (each.shape != UrdfShape::mesh || meshes_.contains(each.mesh)) continue;
        auto path = resolve_resource(each.mesh, packages_);
        if (!path) {
          problems_.push_back("mesh '" + each.mesh + "': " + path.error().message);
          continue;
        }
        auto file = load_mesh(*path);
        if (!file) {
          problems_.push_back("mesh '" + *path + "': " + file.error().message);
          continue;
        }
        for (const std::string& problem : file->problems) {
          problems_.push_back("mesh '" + *path + "': " + problem);
        }
        meshes_[each.mesh] = std::make_unique<MeshModel>(store(), *file);
      }
    }
  }

  // True if a link moved.
  bool place() {
    seen_frames_ = surroundings().frames->version();
    std::unordered_map<std::string, Pose> poses;
    std::vector<std::string> lost;
    for (const std::string& link : model_.links) {
      if (auto found = known(link)) poses[link] = *found;
    }
    // Links without a frame follow their joints, the root stands at the origin.
    const bool none = poses.empty();
    if (none && !model_.root.empty()) poses[model_.root] = Pose::Identity();
    bool added = true;
    while (added) {
      added = false;
      for (const UrdfJoint& joint : model_.joints) {
        const auto parent = poses.find(joint.parent);
        if (parent == poses.end() || poses.contains(joint.child)) continue;
        poses[joint.child] = parent->second * to_eigen(joint.at(position(joint)));
        added = true;
      }
    }
    for (const std::string& link : model_.links) {
      if (!poses.contains(link)) lost.push_back(link);
    }
    const bool changed = differs(poses);
    poses_ = std::move(poses);
    describe(lost, none);
    return changed;
  }

  [[nodiscard]] std::optional<Pose> known(const std::string& link) const {
    const std::string frame = prefix_ + link;
    if (frame == surroundings().fixed_frame) return Pose::Identity();
    if (surroundings().fixed_frame.empty()) return std::nullopt;
    const auto found = try_pose(frame, latest);
    if (!found) return std::nullopt;
    return *found;
  }

  [[nodiscard]] double position(const UrdfJoint& joint) const {
    const UrdfJoint* at = &joint;
    double factor = 1;
    double offset = 0;
    while (at->mimic) {
      const UrdfJoint* const leader = model_.joint(at->mimic->joint);
      if (leader == nullptr) break;
      offset += factor * at->mimic->offset;
      factor *= at->mimic->multiplier;
      at = leader;
    }
    const auto found = positions_.find(at->name);
    return factor * (found == positions_.end() ? at->rest() : found->second) + offset;
  }

  [[nodiscard]] bool differs(const std::unordered_map<std::string, Pose>& poses) const {
    if (poses.size() != poses_.size()) return true;
    return std::ranges::any_of(poses, [&](const auto& each) {
      const auto old = poses_.find(each.first);
      return old == poses_.end() || !old->second.isApprox(each.second, 1e-9);
    });
  }

  void describe(const std::vector<std::string>& lost, bool none) {
    std::string text = "'" + model_.name + "', " + grouped(model_.links.size()) + " links";
    if (!problems_.empty()) {
      if (problems_.size() > 1) {
        text = grouped(problems_.size()) + " problems, the first: ";
      } else {
        text.clear();
      }
      return report(Health::error, text + problems_.front());
    }
    if (!lost.empty()) {
      return report(Health::warning, text + ". No transform of '" + prefix_ + lost.front() + "'" +
                                         (lost.size() > 1 ? " and others" : ""));
    }
    if (none && !surroundings().fixed_frame.empty()) {
      return report(Health::warning, text + ". No transform to '" + surroundings().fixed_frame +
                                         "', so that the robot stands at its origin");
    }
    report(Health::good, text);
  }

  void paint(Painter& painter, const UrdfVisual& visual, Color fallback) const {
    const auto link = poses_.find(visual.link);
    if (link == poses_.end()) return;
    const Pose pose = link->second * to_eigen(visual.origin);
    Color color = fallback;
    if (visual.rgba) {
      const auto byte = [](double v) { return static_cast<std::uint8_t>(std::lround(v * 255)); };
      color = {byte((*visual.rgba)[0]), byte((*visual.rgba)[1]), byte((*visual.rgba)[2]),
               byte((*visual.rgba)[3])};
    }
    color = color.with_alpha(color.a / 255.0 * alpha_);
    const double wide = 2 * visual.radius;
    switch (visual.shape) {
      case UrdfShape::box:
        return painter.shape(Shape::box, pose, to_eigen(visual.size), color);
      case UrdfShape::sphere:
        return painter.shape(Shape::sphere, pose, Vec3::Constant(wide), color);
      case UrdfShape::cylinder:
        return painter.shape(Shape::cylinder, pose, {wide, wide, visual.length}, color);
      case UrdfShape::capsule:
        return painter.capsule(pose, visual.radius, visual.length, color);
      case UrdfShape::mesh:
        if (const auto mesh = meshes_.find(visual.mesh); mesh != meshes_.end()) {
          // The materials of a file win over that of the model, as in RViz.
          const Color tint = mesh->second->colored() ? Color{}.with_alpha(alpha_) : color;
          mesh->second->paint(painter, pose, to_eigen(visual.size), tint);
        }
    }
  }

  bool visual_ = true;
  bool collision_ = false;
  double alpha_ = 1;
  std::string prefix_;
  std::string joint_states_;
  std::string packages_;
  std::string text_;
  Urdf model_;
  std::vector<std::string> problems_;
  std::unordered_map<std::string, double> positions_;  // rad or m, by joint
  std::unordered_map<std::string, Pose> poses_;        // in the fixed frame, by link
  std::map<std::string, std::unique_ptr<MeshModel>> meshes_;
  std::uint64_t seen_frames_ = 0;
};

}  // namespace

std::unique_ptr<Display> make_robot_model() { return std::make_unique<RobotModel>(); }

}  // namespace hyphos::view
