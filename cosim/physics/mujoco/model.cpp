#include "cosim/physics/mujoco/model.hpp"

#include <locale>
#include <sstream>
#include <vector>

namespace hyphos::cosim {
namespace {

std::ostream& operator<<(std::ostream& out, const Vec3& v) {
  return out << v.x << ' ' << v.y << ' ' << v.z;
}

void write_ugv(std::ostream& out, std::size_t index) {
  out << "<body><freejoint/><geom name='part" << index
      << "_0' type='box' size='0.42 0.2 0.1' pos='0 0 0.08' mass='38'/>";
  int wheel = 0;
  for (const double y : {0.5, -0.5}) {
    for (const double x : {0.5, -0.5}) {
      // Tyres are ellipsoids: one contact each.
      out << "<body pos='" << x * Ugv::kWheelBase << ' ' << y * Ugv::kTrack << " 0'>"
          << "<joint name='wheel" << index << '_' << wheel
          << "' type='hinge' axis='0 1 0' armature='0.05'/>"
          << "<geom name='part" << index << '_' << wheel + 1 << "' type='ellipsoid' size='"
          << Ugv::kWheelRadius << " 0.06 " << Ugv::kWheelRadius << "' mass='3'/></body>";
      ++wheel;
    }
  }
  out << "</body>\n";
}

void write_uav(std::ostream& out, std::size_t index) {
  const auto& inertia = Uav::kInertia;
  out << "<body><freejoint/><inertial pos='0 0 0' mass='" << Uav::kMass << "' diaginertia='"
      << inertia[0] << ' ' << inertia[1] << ' ' << inertia[2] << "'/>"
      << "<geom name='part" << index << "_0' type='box' size='0.2 0.2 0.05'/>";
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

}  // namespace

std::string mjcf(const MujocoOptions& options, std::size_t ugvs, std::size_t uavs) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out.precision(17);
  const std::size_t robots = ugvs + uavs;
  const std::size_t contacts = 50 + 10 * robots;
  out << "<mujoco><compiler angle='radian'/><option timestep='"
      << static_cast<double>(options.step.ns) * 1e-9 << "' tolerance='1e-6' collision='"
      << (robots == 1 ? "predefined" : "all") << "'/><size nconmax='" << contacts << "' njmax='"
      << 4 * contacts << "'/>\n<worldbody><geom name='ground' type='plane' size='0 0 1'/>\n";
  std::vector<std::string> solids{"ground"};
  for (const Box& box : options.boxes) {
    const Vec3 half = (box.high - box.low) * 0.5;
    if (half.x <= 0 || half.y <= 0 || half.z <= 0) continue;  // a flat box only attenuates signals
    solids.push_back("box" + std::to_string(solids.size()));
    out << "<geom name='" << solids.back() << "' type='box' pos='" << box.low + half << "' size='"
        << half << "'/>\n";
  }
  for (std::size_t i = 0; i < robots; ++i) i < ugvs ? write_ugv(out, i) : write_uav(out, i);
  out << "</worldbody>\n";
  if (robots == 1) write_contacts(out, solids, ugvs == 1 ? RobotKind::ugv : RobotKind::uav);
  out << "<actuator>";
  for (std::size_t i = 0; i < robots; ++i) {
    write_actuators(out, i, i < ugvs ? RobotKind::ugv : RobotKind::uav);
  }
  out << "</actuator></mujoco>\n";
  return out.str();
}

}  // namespace hyphos::cosim
