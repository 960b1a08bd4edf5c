#include "builtin/urdf.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <pugixml.hpp>
#include <span>
#include <unordered_map>
#include <unordered_set>

namespace hyphos::builtin {
namespace {

constexpr std::pair<std::string_view, JointKind> kKinds[] = {
    {"fixed", JointKind::fixed},           {"revolute", JointKind::revolute},
    {"continuous", JointKind::continuous}, {"prismatic", JointKind::prismatic},
    {"planar", JointKind::planar},         {"floating", JointKind::floating}};

class Reader {
 public:
  Reader(std::string_view text, std::string where) : text_(text), where_(std::move(where)) {}

  Result<Urdf> read() {
    if (text_.size() > kMaxUrdfBytes) {
      return problem(0, "the model has more than " + std::to_string(kMaxUrdfBytes >> 20) + " MiB");
    }
    pugi::xml_document document;
    const auto parsed = document.load_buffer(text_.data(), text_.size());
    if (!parsed) return problem(parsed.offset, std::string("not XML: ") + parsed.description());
    const pugi::xml_node robot = document.child("robot");
    if (!robot) {
      const std::string found = document.document_element().name();
      return problem(0, "the root element is <" + found + ">, a URDF file has <robot>");
    }
    if (robot.child("xacro:include") || robot.child("xacro:property")) {
      return problem(robot.offset_debug(), "this is a xacro file. Run `xacro FILE > robot.urdf`");
    }
    model_.name = robot.attribute("name").value();
    for (const pugi::xml_node link : robot.children("link")) {
      if (auto good = take_link(link); !good) return good.error();
    }
    for (const pugi::xml_node joint : robot.children("joint")) {
      if (auto good = take_joint(joint); !good) return good.error();
    }
    for (const pugi::xml_node link : robot.children("link")) {
      for (const pugi::xml_node each : link.children("visual")) {
        take_shape(robot, link, each, model_.visuals);
      }
      for (const pugi::xml_node each : link.children("collision")) {
        take_shape(robot, link, each, model_.collisions);
      }
    }
    if (auto good = check_tree(robot); !good) return good.error();
    if (auto good = check_mimics(); !good) return good.error();
    return std::move(model_);
  }

 private:
  [[nodiscard]] Error problem(std::ptrdiff_t offset, std::string message) const {
    const auto end = text_.begin() + std::clamp<std::ptrdiff_t>(
                                         offset, 0, static_cast<std::ptrdiff_t>(text_.size()));
    const auto line = 1 + std::count(text_.begin(), end, '\n');
    return Error{Code::invalid_config, std::move(message), where_ + ":" + std::to_string(line)};
  }

  Result<void> take_link(const pugi::xml_node& link) {
    std::string name = link.attribute("name").value();
    if (name.empty()) return problem(link.offset_debug(), "a <link> has no name");
    if (!links_.insert(name).second) {
      return problem(link.offset_debug(), "two links are named '" + name + "'");
    }
    if (links_.size() > kMaxUrdfLinks) {
      return problem(link.offset_debug(),
                     "the model has more than " + std::to_string(kMaxUrdfLinks) + " links");
    }
    model_.links.push_back(std::move(name));
    return success();
  }

  Result<void> take_joint(const pugi::xml_node& element) {
    UrdfJoint joint;
    joint.name = element.attribute("name").value();
    const auto bad = [&](const std::string& why) {
      return problem(element.offset_debug(), "joint '" + joint.name + "': " + why);
    };
    if (joint.name.empty()) return problem(element.offset_debug(), "a <joint> has no name");
    if (joints_.contains(joint.name)) return bad("two joints have this name");
    const std::string_view type = element.attribute("type").value();
    const auto* const kind =
        std::ranges::find(kKinds, type, &std::pair<std::string_view, JointKind>::first);
    if (kind == std::end(kKinds)) {
      return bad("unknown type '" + std::string(type) +
                 "'. Use fixed, revolute, continuous, prismatic, planar or floating");
    }
    joint.kind = kind->second;
    joint.parent = element.child("parent").attribute("link").value();
    joint.child = element.child("child").attribute("link").value();
    for (const auto& [role, link] : {std::pair{"parent", &joint.parent}, {"child", &joint.child}}) {
      if (!links_.contains(*link)) {
        return bad("its " + std::string(role) + " link '" + *link + "' is not in the model");
      }
    }
    if (!parent_.emplace(joint.child, joint.parent).second) {
      return bad("the link '" + joint.child + "' is already the child of another joint");
    }
    const pugi::xml_node origin = element.child("origin");
    const auto xyz = numbers(origin.attribute("xyz"), {0, 0, 0});
    const auto rpy = numbers(origin.attribute("rpy"), {0, 0, 0});
    auto axis = numbers(element.child("axis").attribute("xyz"), {1, 0, 0});
    if (!xyz || !rpy || !axis) return bad("origin and axis need three finite numbers");
    joint.origin = {*xyz, to_quaternion({rpy->x, rpy->y, rpy->z})};
    const double length = std::hypot(axis->x, axis->y, axis->z);
    if (joint.moves() && length < 1e-9) return bad("its axis has no direction");
    if (length > 0) joint.axis = {axis->x / length, axis->y / length, axis->z / length};
    if (const pugi::xml_node limit = element.child("limit")) {
      joint.lower = limit.attribute("lower").as_double();
      joint.upper = limit.attribute("upper").as_double();
      if (!(joint.lower <= joint.upper)) return bad("its lower limit is above its upper limit");
    }
    if (const pugi::xml_node mimic = element.child("mimic")) {
      joint.mimic =
          Mimic{mimic.attribute("joint").value(), mimic.attribute("multiplier").as_double(1),
                mimic.attribute("offset").as_double(0)};
    }
    joints_.emplace(joint.name, model_.joints.size());
    model_.joints.push_back(std::move(joint));
    return success();
  }

  // A shape that is wrong is left out and named. The kinematics do not need it.
  void take_shape(const pugi::xml_node& robot, const pugi::xml_node& link,
                  const pugi::xml_node& element, std::vector<UrdfVisual>& shapes) {
    UrdfVisual shape;
    shape.link = link.attribute("name").value();
    std::string why = read_shape(element, shape);
    if (why.empty() && model_.visuals.size() + model_.collisions.size() >= kMaxUrdfShapes) {
      why = "the model has more than " + std::to_string(kMaxUrdfShapes) + " shapes";
    }
    if (why.empty()) {
      shape.rgba = color_of(robot, element.child("material"));
      shapes.push_back(std::move(shape));
    } else if (model_.problems.size() < kMaxUrdfProblems) {
      const Error named = problem(element.offset_debug(), "link '" + shape.link + "': " + why);
      model_.problems.push_back(named.where + ": " + named.message);
    }
  }

  static std::string read_shape(const pugi::xml_node& element, UrdfVisual& shape) {
    const pugi::xml_node origin = element.child("origin");
    const auto xyz = numbers(origin.attribute("xyz"), {0, 0, 0});
    const auto rpy = numbers(origin.attribute("rpy"), {0, 0, 0});
    if (!xyz || !rpy) return "the origin of a shape needs three finite numbers";
    shape.origin = {*xyz, to_quaternion({rpy->x, rpy->y, rpy->z})};
    const pugi::xml_node form = element.child("geometry").first_child();
    const std::string_view kind = form.name();
    if (kind == "mesh") {
      shape.shape = UrdfShape::mesh;
      shape.mesh = form.attribute("filename").value();
      const auto scale = numbers(form.attribute("scale"), {1, 1, 1});
      if (shape.mesh.empty()) return "a mesh has no filename";
      if (!scale) return "the scale of a mesh needs three finite numbers";
      shape.size = *scale;
      return "";
    }
    if (kind == "box") {
      const auto size = numbers(form.attribute("size"), {0, 0, 0});
      if (!size || !(size->x > 0) || !(size->y > 0) || !(size->z > 0)) {
        return "a box needs three sizes above 0";
      }
      shape.size = *size;
      return "";
    }
    if (kind != "sphere" && kind != "cylinder" && kind != "capsule") {
      return "unknown shape '" + std::string(kind) +
             "'. Use box, sphere, cylinder, capsule or mesh";
    }
    shape.shape = kind == "sphere"     ? UrdfShape::sphere
                  : kind == "cylinder" ? UrdfShape::cylinder
                                       : UrdfShape::capsule;
    shape.radius = form.attribute("radius").as_double();
    shape.length = form.attribute("length").as_double();
    if (!(shape.radius > 0) || !std::isfinite(shape.radius)) {
      return "a " + std::string(kind) + " needs a radius above 0";
    }
    if (kind != "sphere" && (!(shape.length > 0) || !std::isfinite(shape.length))) {
      return "a " + std::string(kind) + " needs a length above 0";
    }
    return "";
  }

  // The colour of a material, which may be defined once for the whole robot.
  static std::optional<std::array<double, 4>> color_of(const pugi::xml_node& robot,
                                                       const pugi::xml_node& material) {
    pugi::xml_node color = material.child("color");
    const std::string_view name = material.attribute("name").value();
    if (!color && !name.empty()) {
      for (const pugi::xml_node each : robot.children("material")) {
        if (name == each.attribute("name").value()) color = each.child("color");
      }
    }
    if (!color) return std::nullopt;
    std::array<double, 4> rgba{};
    if (!read_numbers(color.attribute("rgba").value(), rgba)) return std::nullopt;
    for (double& each : rgba) each = std::clamp(each, 0.0, 1.0);
    return rgba;
  }

  // Numbers as URDF writes them, separated by white space.
  static std::optional<Vector3> numbers(const pugi::xml_attribute& attribute, Vector3 fallback) {
    if (!attribute) return fallback;
    std::array<double, 3> found{};
    if (!read_numbers(attribute.value(), found)) return std::nullopt;
    return Vector3{found[0], found[1], found[2]};
  }

  static bool read_numbers(std::string_view text, std::span<double> out) {
    for (double& number : out) {
      text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
      if (text.starts_with('+')) text.remove_prefix(1);
      const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (fault != std::errc() || !std::isfinite(number)) return false;
      text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    }
    return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
  }

  // One root, and every link below it. A link has at most one parent, so else there is a cycle.
  Result<void> check_tree(const pugi::xml_node& robot) {
    for (const std::string& link : model_.links) {
      if (parent_.contains(link)) continue;
      if (!model_.root.empty()) {
        return problem(robot.offset_debug(), "the links '" + model_.root + "' and '" + link +
                                                 "' both have no parent. Join them by a joint");
      }
      model_.root = link;
    }
    if (model_.root.empty()) {
      return problem(robot.offset_debug(),
                     model_.links.empty() ? "the model has no link" : "the joints form a cycle");
    }
    std::unordered_set<std::string_view> reached = {model_.root};
    std::unordered_multimap<std::string_view, std::string_view> children;
    for (const auto& [child, parent] : parent_) children.emplace(parent, child);
    std::vector<std::string_view> open = {model_.root};
    while (!open.empty()) {
      const auto [begin, end] = children.equal_range(open.back());
      open.pop_back();
      for (auto at = begin; at != end; ++at) {
        reached.insert(at->second);
        open.push_back(at->second);
      }
    }
    for (const std::string& link : model_.links) {
      if (!reached.contains(link)) {
        return problem(robot.offset_debug(), "the joints form a cycle through '" + link + "'");
      }
    }
    return success();
  }

  Result<void> check_mimics() {
    for (const UrdfJoint& joint : model_.joints) {
      const UrdfJoint* at = &joint;
      for (std::size_t steps = 0; at->mimic; ++steps) {
        const auto next = joints_.find(at->mimic->joint);
        if (next == joints_.end()) {
          return problem(0, "joint '" + at->name + "' mimics '" + at->mimic->joint +
                                "', which is not in the model");
        }
        if (steps > model_.joints.size()) {
          return problem(0, "joint '" + joint.name + "' mimics itself through other joints");
        }
        at = &model_.joints[next->second];
      }
    }
    return success();
  }

  std::string_view text_;
  std::string where_;
  Urdf model_;
  std::unordered_set<std::string> links_;
  std::unordered_map<std::string, std::size_t> joints_;
  std::unordered_map<std::string, std::string> parent_;
};

}  // namespace

Isometry UrdfJoint::at(double position) const {
  if (kind == JointKind::prismatic) {
    return origin * Isometry{{axis.x * position, axis.y * position, axis.z * position}, {}};
  }
  const double s = std::sin(position / 2);
  return origin * Isometry{{}, {axis.x * s, axis.y * s, axis.z * s, std::cos(position / 2)}};
}

double UrdfJoint::rest() const {
  return lower == upper || (lower <= 0 && upper >= 0) ? 0 : (lower + upper) / 2;
}

const UrdfJoint* Urdf::joint(std::string_view name) const {
  const auto found = std::ranges::find(joints, name, &UrdfJoint::name);
  return found == joints.end() ? nullptr : &*found;
}

Result<Urdf> parse_urdf(std::string_view text, const std::string& where) {
  return Reader(text, where).read();
}

}  // namespace hyphos::builtin
