#include "cosim/physics/mujoco/user_model.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

#include "cosim/physics/mujoco/compile.hpp"
#include "cosim/physics/mujoco/model_file.hpp"

namespace hyphos::cosim {
namespace {

using tinyxml2::XMLDocument;
using tinyxml2::XMLElement;

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kWheelGain = 20;  // N m s/rad, of a wheel without an actuator

// Attributes that are or refer to names.
constexpr std::array<const char*, 22> kNames{
    "name",    "class", "childclass", "joint",      "joint1",  "joint2",  "body1",  "body2",
    "geom",    "geom1", "geom2",      "site",       "mesh",    "hfield",  "tendon", "tendon1",
    "tendon2", "body",  "cranksite",  "slidersite", "refsite", "sidesite"};

const std::string kAlone = "alone/";  // the prefix of a model that is measured

// Robots need no pictures: the parts of a model that only a camera could see are left out.
constexpr std::array<const char*, 8> kUnused{"light", "camera", "texture", "material",
                                             "skin",  "flex",   "visual",  "composite"};

Error bad(const std::string& where, std::string what) {
  return {Code::invalid_config, std::move(what), where};
}

/// The number after "line" in an error text of MuJoCo. 0 if there is none.
int line_in(std::string_view text) {
  for (const std::string_view word : {"line ", "Line number="}) {
    const std::size_t at = text.find(word);
    if (at == std::string_view::npos) continue;
    int line = 0;
    const std::string_view rest = text.substr(at + word.size());
    std::from_chars(rest.data(), rest.data() + rest.size(), line);
    return line;
  }
  return 0;
}

Error refused(const std::string& file, const ModelText& model, const Error& error) {
  std::string what = error.message;
  std::ranges::replace(what, '\n', ' ');
  std::string where = file;
  const auto line = model.lines.find(line_in(what));
  if (line != model.lines.end() && line->second > 0) where += ":" + std::to_string(line->second);
  // The line in MuJoCo's text is that of the expanded model.
  const std::size_t at = what.find(", line ");
  if (at != std::string::npos) what.erase(at);
  return bad(where, "MuJoCo refuses the model: " + what);
}

void rename(XMLElement& element, const std::string& prefix) {
  for (const char* name : kNames) {
    const char* const value = element.Attribute(name);
    if (value != nullptr) element.SetAttribute(name, (prefix + value).c_str());
  }
  element.DeleteAttribute("material");
  for (XMLElement* child = element.FirstChildElement(); child != nullptr;) {
    XMLElement* const next = child->NextSiblingElement();
    const std::string_view kind = child->Name();
    if (std::ranges::find(kUnused, kind) != kUnused.end()) {
      element.DeleteChild(child);
    } else {
      rename(*child, prefix);
    }
    child = next;
  }
}

/// The children of the sections with this name, each with its class.
std::string section(XMLElement& top, const char* name, const std::string& prefix, bool classes) {
  std::string text;
  for (XMLElement* at = top.FirstChildElement(name); at != nullptr;
       at = at->NextSiblingElement(name)) {
    for (XMLElement* child = at->FirstChildElement(); child != nullptr;
         child = child->NextSiblingElement()) {
      const std::string_view kind = child->Name();
      if (classes && kind != "exclude" && kind != "hfield" &&
          child->Attribute("class") == nullptr) {
        child->SetAttribute("class", (prefix + "main").c_str());
      }
      text += printed(*child);
    }
  }
  return text;
}

XMLElement* only_body(XMLElement& top, std::size_t& count) {
  XMLElement* body = nullptr;
  count = 0;
  for (XMLElement* world = top.FirstChildElement("worldbody"); world != nullptr;
       world = world->NextSiblingElement("worldbody")) {
    for (XMLElement* one = world->FirstChildElement("body"); one != nullptr;
         one = one->NextSiblingElement("body")) {
      body = one;
      ++count;
    }
  }
  return body;
}

/// The robot is the only body of the world, with a free joint. Adds the joint if there is none.
Result<void> make_free(XMLElement& top, const std::string& file) {
  std::size_t count = 0;
  XMLElement* const body = only_body(top, count);
  if (count != 1) {
    return bad(file, "has " + std::to_string(count) +
                         " bodies in <worldbody>, but a robot is one body with parts: make the "
                         "others its children or robots of their own");
  }
  bool free = false;
  bool other = false;
  for (XMLElement* child = body->FirstChildElement(); child != nullptr;
       child = child->NextSiblingElement()) {
    const std::string_view name = child->Name();
    const char* const type = child->Attribute("type");
    if (name == "freejoint") free = true;
    if (name != "joint") continue;
    (type != nullptr && std::string_view(type) == "free" ? free : other) = true;
  }
  if (other) {
    return bad(file,
               "its base has a joint to the world other than a free joint: remove the joint, "
               "or put a body without one around it");
  }
  if (!free) body->InsertFirstChild(body->GetDocument()->NewElement("freejoint"));
  return success();
}

void add_servo(XMLElement& top, const std::string& joint, double torque) {
  XMLElement* section = top.FirstChildElement("actuator");
  if (section == nullptr) section = top.InsertNewChildElement("actuator");
  XMLElement* servo = section->InsertNewChildElement("velocity");
  servo->SetAttribute("name", joint.c_str());
  servo->SetAttribute("joint", joint.c_str());
  servo->SetAttribute("kv", kWheelGain);
  servo->SetAttribute("forcelimited", "true");
  servo->SetAttribute("forcerange",
                      (std::to_string(-torque) + " " + std::to_string(torque)).c_str());
}

bool has_actuator(XMLElement& top, const std::string& name) {
  for (XMLElement* section = top.FirstChildElement("actuator"); section != nullptr;
       section = section->NextSiblingElement("actuator")) {
    for (XMLElement* one = section->FirstChildElement(); one != nullptr;
         one = one->NextSiblingElement()) {
      if (one->Attribute("name", name.c_str()) != nullptr) return true;
    }
  }
  return false;
}

bool has_joint(const XMLElement& at, const std::string& name) {
  if (std::string_view(at.Name()) == "joint" && at.Attribute("name", name.c_str()) != nullptr) {
    return true;
  }
  for (const XMLElement* child = at.FirstChildElement(); child != nullptr;
       child = child->NextSiblingElement()) {
    if (has_joint(*child, name)) return true;
  }
  return false;
}

/// How far a geometry reaches down from its centre.
double depth(const mjModel& m, const mjData& d, int geom) {
  const mjtNum* const s = m.geom_size + 3 * geom;
  const mjtNum* const r = d.geom_xmat + 9 * geom + 6;  // the world's z axis in the geometry
  switch (m.geom_type[geom]) {
    case mjGEOM_SPHERE:
      return s[0];
    case mjGEOM_CAPSULE:
      return s[0] + std::abs(r[2]) * s[1];
    case mjGEOM_CYLINDER:
      return s[0] * std::sqrt(std::max(0.0, 1 - r[2] * r[2])) + std::abs(r[2]) * s[1];
    case mjGEOM_ELLIPSOID:
      return std::hypot(std::hypot(r[0] * s[0], r[1] * s[1]), r[2] * s[2]);
    case mjGEOM_BOX:
      return std::abs(r[0]) * s[0] + std::abs(r[1]) * s[1] + std::abs(r[2]) * s[2];
    default:
      break;
  }
  if (m.geom_type[geom] != mjGEOM_MESH) return m.geom_rbound[geom];
  const int mesh = m.geom_dataid[geom];
  double least = 0;
  for (int i = 0; i < m.mesh_vertnum[mesh]; ++i) {
    const float* v = m.mesh_vert + 3 * (m.mesh_vertadr[mesh] + i);
    least = std::min(least, r[0] * v[0] + r[1] * v[1] + r[2] * v[2]);
  }
  return -least;
}

}  // namespace

Result<UserModel> UserModel::load(const RobotModel& robot) {
  auto read = read_model_file(robot);
  if (!read) return read.error();
  auto compiled = compile(read->text);
  if (!compiled) return refused(robot.file, *read, compiled.error());
  auto text = expanded(**compiled);
  if (!text) return text.error();
  XMLDocument document;
  if (document.Parse(text->data(), text->size()) != tinyxml2::XML_SUCCESS) {
    return bad(robot.file, "MuJoCo has expanded the model into XML that cannot be read");
  }
  XMLElement& top = *document.RootElement();
  if (auto made = make_free(top, robot.file); !made) return made.error();
  for (const auto* side : {&robot.left, &robot.right}) {
    for (const std::string& name : *side) {
      if (!has_actuator(top, name) && has_joint(top, name)) add_servo(top, name, robot.torque);
    }
  }
  UserModel model;
  model.file_ = robot.file;
  model.text_ = printed(document);
  const mjModel& m = **compiled;
  if (m.nkey > 0) model.start.assign(m.key_qpos, m.key_qpos + m.nq);  // the pose of its first key
  if (auto measured = model.measure(); !measured) return measured.error();
  return model;
}

ModelParts UserModel::parts(const std::string& prefix) const {
  XMLDocument document;
  (void)document.Parse(text_.data(), text_.size());
  XMLElement& top = *document.RootElement();
  rename(top, prefix);
  ModelParts parts;
  const std::string main = prefix + "main";
  if (XMLElement* defaults = top.FirstChildElement("default")) {
    defaults->SetAttribute("class", main.c_str());
    parts.defaults = printed(*defaults);
  } else {
    parts.defaults = "<default class='" + main + "'/>\n";
  }
  parts.assets = section(top, "asset", prefix, true);
  std::size_t count = 0;
  XMLElement* const body = only_body(top, count);
  if (body->Attribute("childclass") == nullptr) body->SetAttribute("childclass", main.c_str());
  parts.body = printed(*body);
  parts.contact = section(top, "contact", prefix, true);
  parts.equality = section(top, "equality", prefix, true);
  parts.tendon = section(top, "tendon", prefix, true);
  parts.actuator = section(top, "actuator", prefix, true);
  return parts;
}

namespace {

std::string alone(const ModelParts& parts, bool autolimits) {
  return std::string("<mujoco><compiler angle='radian' autolimits='") +
         (autolimits ? "true" : "false") + "'/><default>" + parts.defaults + "</default><asset>" +
         parts.assets + "</asset><worldbody>" + parts.body + "</worldbody><contact>" +
         parts.contact + "</contact><equality>" + parts.equality + "</equality><tendon>" +
         parts.tendon + "</tendon><actuator>" + parts.actuator + "</actuator></mujoco>";
}

}  // namespace

Result<void> UserModel::measure() {
  XMLDocument document;
  (void)document.Parse(text_.data(), text_.size());
  if (const XMLElement* compiler = document.RootElement()->FirstChildElement("compiler")) {
    autolimits = compiler->BoolAttribute("autolimits", false);
  }
  auto compiled = compile(alone(parts(kAlone), autolimits));
  if (!compiled) return bad(file_, "cannot be inserted into a world: " + compiled.error().message);
  const mjModel& m = **compiled;
  const DataPointer data = data_of(m);
  if (data == nullptr) return Error{Code::exhausted, "no memory for the model", file_};
  if (m.nq < 7 || m.nv < 6 || m.jnt_type[0] != mjJNT_FREE) {
    return bad(file_, "its first joint is not the free joint of its base");
  }
  if (start.size() != static_cast<std::size_t>(m.nq)) start.assign(m.qpos0, m.qpos0 + m.nq);
  std::ranges::copy(std::array<double, 7>{0, 0, 0, 1, 0, 0, 0}, start.begin());
  velocities = static_cast<std::size_t>(m.nv);
  activations = static_cast<std::size_t>(m.na);
  for (int i = 0; i < m.nu; ++i) {
    const std::string_view name = m.names + m.name_actuatoradr[i];
    actuators.emplace_back(name.substr(std::min(name.size(), kAlone.size())));
    const mjtNum* range = m.actuator_ctrlrange + 2 * i;
    if (m.actuator_ctrllimited[i] != 0) {
      limits.push_back({range[0], range[1]});
    } else {
      limits.push_back({-kInfinite, kInfinite});
    }
  }
  std::ranges::copy(start, data->qpos);
  measure_body(m, *data);
  measure_efforts(m, *data);
  return success();
}

void UserModel::measure_body(const mjModel& m, mjData& d) {
  mj_forward(&m, &d);
  for (int i = 0; i < m.ngeom; ++i) {
    if (m.geom_contype[i] == 0 && m.geom_conaffinity[i] == 0) continue;
    const mjtNum* p = d.geom_xpos + 3 * i;
    reach = std::max(reach, mju_norm3(p) + m.geom_rbound[i]);
    stand = std::max(stand, depth(m, d, i) - p[2]);
  }
  // Joints may move parts outwards.
  reach *= 1.5;
  mass = mj_getTotalmass(&m);
  std::vector<mjtNum> full(velocities * velocities);
  mj_fullM(&m, full.data(), d.qM);
  for (std::size_t i = 0; i < 3; ++i) inertia[i] = full[(3 + i) * velocities + 3 + i];
}

void UserModel::measure_efforts(const mjModel& m, mjData& d) {
  std::array<double, 6> idle{};
  std::copy_n(d.qfrc_actuator, 6, idle.begin());
  for (std::size_t i = 0; i < actuators.size(); ++i) {
    d.ctrl[i] = 1;
    mj_forward(&m, &d);
    d.ctrl[i] = 0;
    const mjtNum* f = d.qfrc_actuator;
    efforts.push_back({f[2] - idle[2], f[3] - idle[3], f[4] - idle[4], f[5] - idle[5]});
  }
}

}  // namespace hyphos::cosim
