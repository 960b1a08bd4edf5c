#include "builtin/robot_model.hpp"

#include <cmath>
#include <fstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/mutex.hpp"
#include "builtin/urdf.hpp"
#include "hyphos/hyphos.hpp"
#include "hyphos/msgs/sensor.pb.h"
#include "hyphos/msgs/std.pb.h"
#include "hyphos/plan.hpp"

namespace hyphos::builtin {
namespace {

Policy latched_policy() {
  Policy policy;
  policy.latched = true;
  return policy;
}

std::string read_model(const Node& node, const std::string& given) {
  if (given.empty()) {
    throw Exception(Error{Code::invalid_config, "it needs the parameter model, a URDF file",
                          "nodes." + node.name() + ".params.model"});
  }
  const Plan* plan = node.runtime().plan();
  const std::string path = plan == nullptr ? given : plan->resolve(given).string();
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Exception(Error{Code::not_found, "cannot read the URDF model", path});
  std::string text(kMaxUrdfBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

class RobotModel final : public Builtin {
 public:
  explicit RobotModel(const Node& node)
      : node_(node),
        refusals_(node),
        prefix_(node.param("frame_prefix", "")),
        file_(node.param("model", "")),
        text_(read_model(node, file_)),
        model_(parse_urdf(text_, file_).or_throw()),
        position_(model_.joints.size()),
        transforms_(node.transforms()),
        description_(
            node.publisher<msgs::String>("robot_description", {.policy = latched_policy()})) {
    collect();
    msgs::String description;
    description.set_data(text_);
    description_.publish(std::move(description));
    node.subscribe<msgs::JointState>("joint_states", serial,
                                     [this](const Message<msgs::JointState>& m) { take(*m); });
    const double rate_hz = node.param("rest_rate_hz", 10.0);
    if (rate_hz > 0 && !moving_.empty()) {
      node.every(Duration::from_seconds(1 / rate_hz), [this] { show_rest(); });
    }
  }

 private:
  struct Moving {
    std::size_t joint = 0;   // index in the model
    std::size_t source = 0;  // the joint whose position it follows, itself without mimic
    double multiplier = 1;
    double offset = 0;
  };

  void collect() {
    const MutexLock lock(mutex_);
    std::vector<Transform> fixed;
    for (std::size_t i = 0; i < model_.joints.size(); ++i) {
      const UrdfJoint& joint = model_.joints[i];
      index_.emplace(joint.name, i);
      position_[i] = joint.rest();
      if (joint.kind == JointKind::fixed) fixed.push_back(transform(joint, joint.origin, Time{}));
      if (joint.kind == JointKind::planar || joint.kind == JointKind::floating) {
        node_.log().info("joint '", joint.name, "' has more than one position. Its transform ",
                         joint.parent, " → ", joint.child, " must come from another node");
      }
    }
    for (std::size_t i = 0; i < model_.joints.size(); ++i) {
      if (!model_.joints[i].moves()) continue;
      Moving moving{i, i};
      for (const UrdfJoint* at = &model_.joints[i]; at->mimic; at = &model_.joints[moving.source]) {
        moving.offset += moving.multiplier * at->mimic->offset;
        moving.multiplier *= at->mimic->multiplier;
        moving.source = index_.at(at->mimic->joint);
      }
      moving_.push_back(moving);
    }
    known_.resize(model_.joints.size());
    if (!fixed.empty()) transforms_.set_static(fixed).or_throw();
    node_.log().info("model '", model_.name, "': ", model_.links.size(), " links, ", moving_.size(),
                     " moving joints, root '", prefix_, model_.root, "'");
  }

  [[nodiscard]] Transform transform(const UrdfJoint& joint, const Isometry& pose, Time at) const {
    return {prefix_ + joint.parent, prefix_ + joint.child, at, pose.translation, pose.rotation};
  }

  static std::string unusable(const msgs::JointState& state) {
    if (state.position_size() != 0 && state.position_size() != state.name_size()) {
      return std::to_string(state.name_size()) + " names and " +
             std::to_string(state.position_size()) + " positions";
    }
    for (int i = 0; i < state.position_size(); ++i) {
      if (!std::isfinite(state.position(i)))
        return "the position of '" + state.name(i) + "' is not finite";
    }
    return "";
  }

  void take(const msgs::JointState& state) {
    if (refusals_.refuse("joint_states", unusable(state))) return;
    const Time at{state.header().stamp_ns() != 0 ? state.header().stamp_ns()
                                                 : node_.clock().now().ns};
    const MutexLock lock(mutex_);
    std::vector<bool> changed(model_.joints.size());
    for (int i = 0; i < state.position_size(); ++i) {
      const auto found = index_.find(state.name(i));
      if (found == index_.end()) {
        node_.log()
            .every(Duration::from_seconds(10))
            .warn("joint_states has the joint '", state.name(i), "', which is not in the model");
        continue;
      }
      position_[found->second] = state.position(i);
      changed[found->second] = true;
      known_[found->second] = true;
    }
    publish(at, [&](std::size_t source) { return changed[source]; });
  }

  // Joints that no message has named stand still, so that the whole model is visible.
  void show_rest() {
    const MutexLock lock(mutex_);
    publish(node_.clock().now(), [&](std::size_t source) { return !known_[source]; });
  }

  template <typename Chosen>
  void publish(Time at, Chosen chosen) HYPHOS_REQUIRES(mutex_) {
    batch_.clear();
    for (const Moving& moving : moving_) {
      if (!chosen(moving.source)) continue;
      const UrdfJoint& joint = model_.joints[moving.joint];
      const double position = moving.multiplier * position_[moving.source] + moving.offset;
      batch_.push_back(transform(joint, joint.at(position), at));
    }
    if (batch_.empty()) return;
    if (const auto good = transforms_.set(batch_); !good) {
      node_.log().every(Duration::from_seconds(1)).warn(good.error().to_string());
    }
  }

  const Node node_;
  const Refusals refusals_;
  const std::string prefix_;
  const std::string file_;
  const std::string text_;
  const Urdf model_;
  std::unordered_map<std::string, std::size_t> index_;  // by the name of the joint
  std::vector<Moving> moving_;
  Mutex mutex_;
  std::vector<double> position_ HYPHOS_GUARDED_BY(mutex_);  // rad or m, by joint
  std::vector<bool> known_ HYPHOS_GUARDED_BY(mutex_);       // a message has named it
  std::vector<Transform> batch_ HYPHOS_GUARDED_BY(mutex_);
  const Transforms transforms_;
  Publisher<msgs::String> description_;
};

}  // namespace

std::unique_ptr<Builtin> open_robot_model(const Node& node) {
  return std::make_unique<RobotModel>(node);
}

}  // namespace hyphos::builtin
