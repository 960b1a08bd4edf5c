#include "cosim/physics/mujoco/model.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <locale>
#include <optional>
#include <sstream>
#include <vector>

namespace hyphos::cosim {
namespace {

std::ostream& operator<<(std::ostream& out, const Vec3& v) {
  return out << v.x << ' ' << v.y << ' ' << v.z;
}

/// The colours of things without a colour of their own.
constexpr Color kSolid{0.62, 0.6, 0.56};
constexpr const char* kUgvColor = "0.85 0.6 0.1 1";
constexpr const char* kTyreColor = "0.12 0.12 0.12 1";
constexpr const char* kUavColor = "0.15 0.2 0.35 1";
constexpr const char* kTerrainColor = "0.42 0.48 0.3 1";

std::string rgba(const Color& color) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << color.red << ' ' << color.green << ' ' << color.blue << " 1";
  return out.str();
}

/// The parts of a world that only pictures show. The pattern of the ground has squares of 1 m.
constexpr const char* kPictureAssets =
    "<texture name='hyphos_ground' type='2d' builtin='checker' rgb1='0.44 0.46 0.42' "
    "rgb2='0.5 0.52 0.47' width='128' height='128'/>"
    "<material name='hyphos_ground' texture='hyphos_ground' texuniform='true' "
    "texrepeat='0.5 0.5' specular='0' shininess='0'/>";
constexpr const char* kPictureBodies =
    "<light directional='true' castshadow='false' pos='0 0 100' dir='-0.4 0.3 -0.85' "
    "ambient='0 0 0' diffuse='0.5 0.5 0.5' specular='0 0 0'/>"
    "<camera name='hyphos_camera'/>";
constexpr const char* kPictureLight =
    "<visual><headlight ambient='0.4 0.4 0.4' diffuse='0.3 0.3 0.3' specular='0 0 0'/></visual>";

void write_ugv(std::ostream& out, std::size_t index) {
  out << "<body><freejoint/><geom name='part" << index
      << "_0' type='box' size='0.42 0.2 0.1' pos='0 0 0.08' mass='38' rgba='" << kUgvColor << "'/>";
  int wheel = 0;
  for (const double y : {0.5, -0.5}) {
    for (const double x : {0.5, -0.5}) {
      // Tyres are ellipsoids: one contact each.
      out << "<body pos='" << x * Ugv::kWheelBase << ' ' << y * Ugv::kTrack << " 0'>"
          << "<joint name='wheel" << index << '_' << wheel
          << "' type='hinge' axis='0 1 0' armature='0.05'/>"
          << "<geom name='part" << index << '_' << wheel + 1 << "' type='ellipsoid' size='"
          << Ugv::kWheelRadius << " 0.06 " << Ugv::kWheelRadius << "' mass='3' rgba='" << kTyreColor
          << "'/></body>";
      ++wheel;
    }
  }
  out << "</body>\n";
}

void write_uav(std::ostream& out, std::size_t index) {
  const auto& inertia = Uav::kInertia;
  out << "<body><freejoint/><inertial pos='0 0 0' mass='" << Uav::kMass << "' diaginertia='"
      << inertia[0] << ' ' << inertia[1] << ' ' << inertia[2] << "'/>"
      << "<geom name='part" << index << "_0' type='box' size='0.2 0.2 0.05' rgba='" << kUavColor
      << "'/>";
  for (int rotor = 0; rotor < 4; ++rotor) {
    const auto& [x, y] = Uav::kRotors[static_cast<std::size_t>(rotor)];
    out << "<site name='rotor" << index << '_' << rotor << "' pos='" << x * Uav::kArm << ' '
        << y * Uav::kArm << " 0'/>";
  }
  out << "</body>\n";
}

void write_actuators(std::ostream& out, std::size_t index, RobotKind kind) {
  for (int i = 0; i < 4; ++i) {
    if (kind == RobotKind::ugv) {
      out << "<velocity joint='wheel" << index << '_' << i << "' kv='20' forcelimited='true' "
          << "forcerange='" << -Ugv::kMostTorque << ' ' << Ugv::kMostTorque << "'/>";
    } else {
      const auto& [x, y] = Uav::kRotors[static_cast<std::size_t>(i)];
      out << "<motor site='rotor" << index << '_' << i << "' gear='0 0 1 0 0 " << x * y * Uav::kDrag
          << "' ctrllimited='true' ctrlrange='0 " << Uav::kMostThrust << "'/>";
    }
  }
}

/// With one robot, MuJoCo gets a list of the possible contacts, and need not search for them. The
/// parts of a robot do not touch each other.
void write_contacts(std::ostream& out, const std::vector<std::string>& solids, RobotKind kind) {
  out << "<contact>";
  for (const std::string& solid : solids) {
    for (int part = 0; part < (kind == RobotKind::ugv ? 5 : 1); ++part) {
      out << "<pair geom1='" << solid << "' geom2='part0_" << part << "'/>";
    }
  }
  out << "</contact>";
}

/// The height field gets its heights after compilation.
void write_terrain(std::ostream& assets, std::ostream& bodies, const Terrain& terrain) {
  const TerrainGrid& grid = terrain.grid();
  const Vec3 half{grid.cell_x * static_cast<double>(grid.columns - 1) / 2,
                  grid.cell_y * static_cast<double>(grid.rows - 1) / 2,
                  std::max(1e-3, terrain.highest() - terrain.lowest())};
  assets << "<hfield name='" << kTerrainName << "' nrow='" << grid.rows << "' ncol='"
         << grid.columns << "' size='" << half << " 1'/>\n";
  bodies << "<geom name='" << kTerrainName << "' type='hfield' hfield='" << kTerrainName
         << "' pos='" << terrain.low_x() + half.x << ' ' << terrain.low_y() + half.y << ' '
         << terrain.lowest() << "' rgba='" << kTerrainColor << "'/>\n";
}

/// A file name as the value of an attribute.
std::string quoted(const std::string& text) {
  std::string all;
  for (const char c : text) {
    if (c == '&' || c == '<' || c == '\'') {
      all += "&#" + std::to_string(static_cast<int>(c)) + ";";
    } else {
      all += c;
    }
  }
  return all;
}

void write_meshes(std::ostream& assets, std::ostream& bodies, const std::vector<Mesh>& meshes,
                  std::vector<std::string>& solids) {
  for (std::size_t i = 0; i < meshes.size(); ++i) {
    const Mesh& mesh = meshes[i];
    const std::string name = "hyphos_mesh" + std::to_string(i);
    assets << "<mesh name='" << name << "' file='"
           << quoted(std::filesystem::absolute(mesh.file).string()) << "' scale='"
           << Vec3{mesh.scale, mesh.scale, mesh.scale} << "'/>\n";
    bodies << "<geom name='" << name << "' type='mesh' mesh='" << name << "' pos='" << mesh.at
           << "' quat='" << std::cos(mesh.yaw / 2) << " 0 0 " << std::sin(mesh.yaw / 2)
           << "' rgba='" << rgba(kSolid) << "'/>\n";
    solids.push_back(name);
  }
}

/// Everything that stands still. Returns the names of its geometries.
std::vector<std::string> write_ground(std::ostream& assets, std::ostream& bodies,
                                      const Ground& ground) {
  const double low = ground.terrain != nullptr ? ground.terrain->lowest() : 0;
  bodies << "<geom name='ground' type='plane' pos='0 0 " << low << "' size='0 0 1'"
         << (ground.drawn ? " material='hyphos_ground'" : "") << "/>\n";
  std::vector<std::string> solids{"ground"};
  const auto& colors = ground.options->colors;
  for (std::size_t i = 0; i < ground.options->boxes.size(); ++i) {
    const Box& box = ground.options->boxes[i];
    const std::optional<Color> color = i < colors.size() ? colors[i] : std::nullopt;
    const Vec3 half = (box.high - box.low) * 0.5;
    if (half.x <= 0 || half.y <= 0 || half.z <= 0) continue;  // a flat box only attenuates signals
    solids.push_back("box" + std::to_string(solids.size()));
    bodies << "<geom name='" << solids.back() << "' type='box' pos='" << box.low + half
           << "' size='" << half << "' rgba='" << rgba(color.value_or(kSolid)) << "'/>\n";
  }
  if (ground.terrain != nullptr) {
    write_terrain(assets, bodies, *ground.terrain);
    solids.emplace_back(kTerrainName);
  }
  write_meshes(assets, bodies, ground.options->meshes, solids);
  return solids;
}

struct Sections {
  ModelParts parts;
  bool autolimits = false;
};

/// The robots of users' models, each with a prefix of its own.
Sections write_users(std::span<const UserModel> models, const RobotCounts& counts) {
  Sections all;
  std::size_t number = 0;
  for (std::size_t kind = 0; kind < models.size(); ++kind) {
    for (std::uint32_t i = 0; i < counts[kOwnKinds + kind]; ++i) {
      const ModelParts parts = models[kind].parts("user" + std::to_string(number++) + "/");
      all.autolimits = all.autolimits || models[kind].autolimits;
      all.parts.defaults += parts.defaults;
      all.parts.assets += parts.assets;
      all.parts.body += parts.body;
      all.parts.contact += parts.contact;
      all.parts.equality += parts.equality;
      all.parts.tendon += parts.tendon;
      all.parts.actuator += parts.actuator;
    }
  }
  return all;
}

}  // namespace

std::string mjcf(const Ground& ground, std::span<const UserModel> models,
                 const RobotCounts& counts) {
  const std::size_t ugvs = counts[0];
  const std::size_t own = counts[0] + counts[1];
  std::size_t users = 0;
  for (std::size_t i = kOwnKinds; i < counts.size(); ++i) users += counts[i];
  std::ostringstream assets;
  std::ostringstream bodies;
  for (std::ostringstream* out : {&assets, &bodies}) {
    out->imbue(std::locale::classic());
    out->precision(17);
  }
  const auto solids = write_ground(assets, bodies, ground);
  for (std::size_t i = 0; i < own; ++i) i < ugvs ? write_ugv(bodies, i) : write_uav(bodies, i);
  const Sections user = write_users(models, counts);
  const bool uneven = ground.terrain != nullptr || !ground.options->meshes.empty();
  const std::size_t contacts = ground.drawn ? 1 : 50 + (uneven ? 100 : 10) * own + 200 * users;
  const bool predefined = own == 1 && users == 0;
  if (ground.drawn) {
    assets << kPictureAssets;
    bodies << kPictureBodies;
  }
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out.precision(17);
  out << "<mujoco><compiler angle='radian'" << (user.autolimits ? " autolimits='true'" : "")
      << "/><option timestep='" << static_cast<double>(ground.options->step.ns) * 1e-9
      << "' tolerance='1e-6' collision='" << (predefined ? "predefined" : "all") << "'>"
      << (ground.drawn ? "<flag contact='disable'/>" : "") << "</option>"
      << (ground.drawn ? kPictureLight : "") << "<size nconmax='" << contacts << "' njmax='"
      << 4 * contacts << "'/>\n";
  if (!user.parts.defaults.empty()) out << "<default>" << user.parts.defaults << "</default>";
  out << "<asset>" << assets.str() << user.parts.assets << "</asset>\n<worldbody>" << bodies.str()
      << user.parts.body << "</worldbody>\n";
  if (predefined) write_contacts(out, solids, ugvs == 1 ? RobotKind::ugv : RobotKind::uav);
  if (!user.parts.contact.empty()) out << "<contact>" << user.parts.contact << "</contact>";
  if (!user.parts.equality.empty()) out << "<equality>" << user.parts.equality << "</equality>";
  if (!user.parts.tendon.empty()) out << "<tendon>" << user.parts.tendon << "</tendon>";
  out << "<actuator>";
  for (std::size_t i = 0; i < own; ++i) {
    write_actuators(out, i, i < ugvs ? RobotKind::ugv : RobotKind::uav);
  }
  out << user.parts.actuator << "</actuator></mujoco>\n";
  return out.str();
}

}  // namespace hyphos::cosim
