#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "view/scene/math.hpp"
#include "view/scene/store.hpp"

namespace hyphos::view {

/// Shapes of size 1 about the origin: a box has edges of 1, a sphere a diameter of 1. Cylinder and
/// cone have the diameter 1 and the height 1 along z. A cone points along z.
enum class Shape : std::uint8_t { box, sphere, cylinder, cone };

/// The colours of axes, x y z. Softer than pure red, green and blue on a dark background.
inline constexpr Color kAxisX{235, 77, 75, 255};
inline constexpr Color kAxisY{106, 190, 69, 255};
inline constexpr Color kAxisZ{66, 135, 245, 255};

enum class Align : std::uint8_t { left, center, right };

/// Draws one frame of things that move or are few. All positions are in the fixed frame, in m.
/// Calls may come in any order: opaque things are drawn first, labels last.
///
/// For clouds and long trails see Retained (store.hpp).
class Painter {
 public:
  virtual ~Painter() = default;

  /// Pairs of ends, in the frame of `pose`. Smooth edges. `width` in px of normal density.
  virtual void lines(const Pose& pose, std::span<const Vertex> pairs, double width = 1.5) = 0;
  /// Three corners each, seen from both sides. `lit`: shaded by the light of the camera.
  virtual void triangles(const Pose& pose, std::span<const Vertex> corners, bool lit = true) = 0;
  virtual void points(const Pose& pose, std::span<const Vertex> points, double size_px) = 0;
  virtual void shape(Shape shape, const Pose& pose, const Vec3& size, Color color) = 0;
  virtual void mesh(const Mesh& mesh, const Pose& pose, const Vec3& scale, Color tint) = 0;
  /// An image on the rectangle (0, 0) to (width, height), m, of the xy plane of `pose`. Row 0 is at
  /// y = 0 (a map), or at y = height with `flip` (a photograph).
  virtual void image(const Texture& texture, const Pose& pose, double width, double height,
                     double alpha, bool smooth, bool flip = false) = 0;
  /// Text that faces the camera, at a point. `height` in px, never hidden by other things.
  virtual void label(const Vec3& at, std::string_view text, Color color, double height = 14,
                     Align align = Align::left) = 0;
  /// Text of a height in m that faces the camera (TEXT_VIEW_FACING of markers).
  virtual void text(const Vec3& at, std::string_view text, Color color, double height_m) = 0;
  /// An image in front of the scene. The rectangle is in fractions of the view, (0, 0) top left.
  virtual void overlay(const Texture& texture, double left, double top, double right, double bottom,
                       double alpha) = 0;
  /// Text in front of the scene at a place in fractions of the view.
  virtual void caption(double left, double top, std::string_view text, Color color,
                       double height = 14) = 0;

  /// The length of one px of normal density at a point, m. For widths that are given in m.
  [[nodiscard]] virtual double pixel_size(const Vec3& at) const = 0;
  /// Width by height of the view.
  [[nodiscard]] virtual double aspect() const = 0;

  // Made of the calls above.

  /// x red, y green, z blue, `length` in m.
  void axes(const Pose& pose, double length, double width = 2, double alpha = 1);
  void line(const Vec3& from, const Vec3& to, Color color, double width = 1.5);
  /// From `from` to `to`, with a head of a cone. Diameters in m.
  void arrow(const Vec3& from, const Vec3& to, double shaft, double head, Color color);
  /// A capsule about z, `length` without its caps.
  void capsule(const Pose& pose, double radius, double length, Color color);
};

}  // namespace hyphos::view
