#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hyphos/result.hpp"
#include "hyphos/transforms.hpp"

namespace hyphos::builtin {

/// A URDF file (https://wiki.ros.org/urdf/XML): links, joints and shapes. Masses are ignored.

enum class JointKind : std::uint8_t { fixed, revolute, continuous, prismatic, planar, floating };

struct Mimic {
  std::string joint;  ///< this joint follows that one: multiplier * position + offset
  double multiplier = 1;
  double offset = 0;  ///< rad or m
};

struct UrdfJoint {
  std::string name;
  JointKind kind = JointKind::fixed;
  std::string parent;  ///< links
  std::string child;
  Isometry origin;        ///< of the joint in the parent link, m
  Vector3 axis{1, 0, 0};  ///< of unit length, in the frame of the joint
  double lower = 0;       ///< limits, rad or m. Equal: none
  double upper = 0;
  std::optional<Mimic> mimic;

  /// True if one number is its position.
  [[nodiscard]] bool moves() const {
    return kind == JointKind::revolute || kind == JointKind::continuous ||
           kind == JointKind::prismatic;
  }
  /// The pose of the child link in the parent link at a position in rad or m.
  [[nodiscard]] Isometry at(double position) const;
  /// The position 0, or the middle of the limits if they exclude 0.
  [[nodiscard]] double rest() const;
};

enum class UrdfShape : std::uint8_t { box, sphere, cylinder, capsule, mesh };

/// A shape of a link, to be seen or to collide.
struct UrdfVisual {
  std::string link;
  Isometry origin;  ///< in the link, m
  UrdfShape shape = UrdfShape::box;
  Vector3 size{1, 1, 1};                      ///< box: edges. mesh: factors
  double radius = 0;                          ///< sphere, cylinder and capsule, m
  double length = 0;                          ///< cylinder and capsule (without caps) along z, m
  std::string mesh;                           ///< "package://robot/base.dae", as written
  std::optional<std::array<double, 4>> rgba;  ///< each in [0, 1]
};

struct Urdf {
  std::string name;
  std::string root;  ///< the only link without a parent
  std::vector<std::string> links;
  std::vector<UrdfJoint> joints;
  std::vector<UrdfVisual> visuals;
  std::vector<UrdfVisual> collisions;
  /// Shapes that were left out, as "robot.urdf:12: link 'a': …". A robot moves without them.
  std::vector<std::string> problems;

  [[nodiscard]] const UrdfJoint* joint(std::string_view name) const;
};

inline constexpr std::size_t kMaxUrdfBytes = 64 << 20;
inline constexpr std::size_t kMaxUrdfLinks = 4'096;  // as the frames of a transform tree
inline constexpr std::size_t kMaxUrdfShapes = 16'384;
inline constexpr std::size_t kMaxUrdfProblems = 16;

/// Parses a URDF text. `where` names it in errors. The links form one tree, every name is unique,
/// and mimic joints have no cycle. Else the error names the line and the element.
[[nodiscard]] Result<Urdf> parse_urdf(std::string_view text, const std::string& where);

}  // namespace hyphos::builtin
