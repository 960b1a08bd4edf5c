#include "cosim/scenario/scene_lines.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "cosim/core/json_line.hpp"
#include "cosim/scenario/pose_json.hpp"
#include "cosim/scenario/scenario.hpp"

namespace hyphos::cosim {
namespace {

constexpr Duration kRobotLife = Duration::from_ms(500);
constexpr Duration kLostLife = Duration::from_ms(700);
constexpr double kWeak = 5;     // dB: red
constexpr double kStrong = 30;  // dB: green

// Foxglove draws messages with this schema name. These are the fields that the file uses.
constexpr const char* kSceneSchema = R"({"type":"object","properties":{
"deletions":{"type":"array","items":{"type":"object"}},
"entities":{"type":"array","items":{"type":"object","properties":{
"timestamp":{"type":"object","properties":{"sec":{"type":"integer"},"nsec":{"type":"integer"}}},
"frame_id":{"type":"string"},"id":{"type":"string"},
"lifetime":{"type":"object","properties":{"sec":{"type":"integer"},"nsec":{"type":"integer"}}},
"frame_locked":{"type":"boolean"},
"metadata":{"type":"array","items":{"type":"object"}},
"arrows":{"type":"array","items":{"type":"object"}},
"cubes":{"type":"array","items":{"type":"object"}},
"spheres":{"type":"array","items":{"type":"object"}},
"cylinders":{"type":"array","items":{"type":"object"}},
"lines":{"type":"array","items":{"type":"object"}},
"triangles":{"type":"array","items":{"type":"object"}},
"texts":{"type":"array","items":{"type":"object"}},
"models":{"type":"array","items":{"type":"object"}}}}}}})";

constexpr const char* kLinksSchema = R"({"type":"object","properties":{
"links":{"type":"array","items":{"type":"object","properties":{
"from":{"type":"string"},"to":{"type":"string"},"snr_db":{"type":"number"}}}}}})";

std::string colour(double r, double g, double b, double a) {
  return JsonLine().add("r", r).add("g", g).add("b", b).add("a", a).take();
}

/// From red over yellow to green.
std::string colour_of(double snr_db) {
  const double share = std::clamp((snr_db - kWeak) / (kStrong - kWeak), 0.0, 1.0);
  return colour(std::min(1.0, 2 - 2 * share), std::min(1.0, 2 * share), 0, 0.9);
}

/// One entity with the given primitives. Foxglove requires all lists.
std::string entity(const std::string& id, std::int64_t now_ns, Duration life,
                   std::initializer_list<std::pair<std::string_view, std::string>> primitives) {
  JsonLine line;
  line.json("timestamp", time_json(Time{now_ns})).text("frame_id", "world").text("id", id);
  line.json("lifetime", time_json(Time{life.ns}))
      .truth("frame_locked", false)
      .json("metadata", "[]");
  for (const char* const kind :
       {"arrows", "cubes", "spheres", "cylinders", "lines", "triangles", "texts", "models"}) {
    const auto given =
        std::ranges::find(primitives, kind, &std::pair<std::string_view, std::string>::first);
    line.json(kind, given == primitives.end() ? "[]" : given->second);
  }
  return line.take();
}

std::string update(const std::vector<std::string>& entities) {
  return JsonLine()
      .json("deletions", "[]")
      .json("entities", json_list(entities, [](const std::string& one) { return one; }))
      .take();
}

}  // namespace

SceneLines::SceneLines(const Scenario& scenario)
    : names_(scenario.robots),
      boxes_(scenario.scene.boxes()),
      scene_(std::make_shared<const Scene>(scenario.scene)) {
  const bool has_radio =
      scenario.network == NetworkKind::analytic || scenario.network == NetworkKind::ns3;
  if (!has_radio || names_.size() > kMostRobots) return;
  auto model = RadioModel::make(scenario.radio, scene_.get(), scenario.seed);
  if (model) radio_ = std::make_shared<const RadioModel>(std::move(*model));
}

const char* SceneLines::scene_schema() { return kSceneSchema; }
const char* SceneLines::links_schema() { return kLinksSchema; }

std::string SceneLines::world() const {
  const auto cube = [](const Box& box) {
    const Vec3 size = box.high - box.low;
    return JsonLine()
        .json("pose", pose_json((box.low + box.high) * 0.5))
        .json("size",
              vector_json({std::max(size.x, 0.05), std::max(size.y, 0.05), std::max(size.z, 0.05)}))
        .json("color", colour(0.5, 0.5, 0.55, 0.6))
        .take();
  };
  return update({entity("obstacles", 0, Duration{0}, {{"cubes", json_list(boxes_, cube)}})});
}

std::vector<SceneLines::Link> SceneLines::measured(Time now, std::span<const Pose> poses) const {
  std::vector<Link> all;
  if (!radio_) return all;
  for (NodeId a = 0; a < poses.size(); ++a) {
    for (NodeId b = a + 1; b < poses.size(); ++b) {
      const auto power = radio_->received_dbm(a, poses[a], b, poses[b], now);
      if (power) all.push_back({a, b, *power - radio_->noise_dbm()});
    }
  }
  return all;
}

std::string SceneLines::links(Time now, std::span<const Pose> poses) const {
  const auto link = [&](const Link& one) {
    return JsonLine()
        .text("from", names_[one.a])
        .text("to", names_[one.b])
        .add("snr_db", one.snr_db)
        .take();
  };
  return JsonLine().json("links", json_list(measured(now, poses), link)).take();
}

std::string SceneLines::robot(NodeId node, Time now, const Pose& pose) const {
  const std::string cube = JsonLine()
                               .json("pose", pose_json(pose.position, pose.orientation))
                               .json("size", vector_json({0.7, 0.5, 0.35}))
                               .json("color", colour(0.1, 0.4, 0.8, 1))
                               .take();
  const std::string arrow = JsonLine()
                                .json("pose", pose_json(pose.position, pose.orientation))
                                .add("shaft_length", 1.2)
                                .add("shaft_diameter", 0.12)
                                .add("head_length", 0.4)
                                .add("head_diameter", 0.3)
                                .json("color", colour(0.95, 0.6, 0.1, 1))
                                .take();
  const std::string name = JsonLine()
                               .json("pose", pose_json(pose.position + Vec3{0, 0, 1}))
                               .truth("billboard", true)
                               .add("font_size", 0.6)
                               .truth("scale_invariant", false)
                               .json("color", colour(1, 1, 1, 1))
                               .text("text", names_[node])
                               .take();
  return entity(
      "robot/" + names_[node], now.ns, kRobotLife,
      {{"cubes", "[" + cube + "]"}, {"arrows", "[" + arrow + "]"}, {"texts", "[" + name + "]"}});
}

std::string SceneLines::sample(Time now, std::span<const Pose> poses) {
  std::vector<std::string> entities;
  for (NodeId node = 0; node < poses.size(); ++node) {
    entities.push_back(robot(node, now, poses[node]));
  }
  std::vector<Vec3> points;
  std::vector<std::string> colours;
  for (const Link& link : measured(now, poses)) {
    for (const NodeId node : {link.a, link.b}) {
      points.push_back(poses[node].position);
      colours.push_back(colour_of(link.snr_db));
    }
  }
  const std::string lines = JsonLine()
                                .add("type", std::int64_t{2})  // LINE_LIST
                                .json("pose", pose_json({}))
                                .add("thickness", 2.0)
                                .truth("scale_invariant", true)
                                .json("points", json_list(points, vector_json))
                                .json("color", colour(0, 0, 0, 0))
                                .json("colors", json_list(colours, [](const auto& c) { return c; }))
                                .json("indices", "[]")
                                .take();
  entities.push_back(
      entity("links", now.ns, kRobotLife, {{"lines", points.empty() ? "[]" : "[" + lines + "]"}}));
  if (!lost_.empty()) {
    const auto sphere = [](const Vec3& at) {
      return JsonLine()
          .json("pose", pose_json(at + Vec3{0, 0, 0.5}))
          .json("size", vector_json({0.5, 0.5, 0.5}))
          .json("color", colour(0.9, 0.1, 0.1, 0.8))
          .take();
    };
    entities.push_back(entity("lost/" + std::to_string(marks_++), now.ns, kLostLife,
                              {{"spheres", json_list(lost_, sphere)}}));
    lost_.clear();
  }
  return update(entities);
}

void SceneLines::lost(const Packet& packet, NodeId to, std::span<const Pose> poses) {
  if (lost_.size() >= kMostLost || packet.from >= poses.size()) return;
  const Vec3& from = poses[packet.from].position;
  // Near the receiver, or at the sender if no receiver is named.
  lost_.push_back(to < poses.size() ? from + (poses[to].position - from) * 0.8 : from);
}

}  // namespace hyphos::cosim
