#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "view/core/color.hpp"
#include "view/scene/math.hpp"

namespace hyphos::view {

/// A corner of a line or triangle, or a point. 16 bytes, as on the GPU.
struct Vertex {
  float x = 0;
  float y = 0;
  float z = 0;
  Color color;
};
static_assert(sizeof(Vertex) == 16);

/// A point whose colour comes from a value, by the colour map and range of its set. 16 bytes.
struct ValuePoint {
  float x = 0;
  float y = 0;
  float z = 0;
  float value = 0;
};
static_assert(sizeof(ValuePoint) == sizeof(Vertex));

/// How a set of points looks. A change costs a redraw and no upload.
struct PointStyle {
  enum class Coloring : std::uint8_t {
    rgb,    ///< the colour of each point
    value,  ///< the value of each point, by colour map and range
    axis,   ///< a coordinate in the fixed frame, by colour map and range
    flat,   ///< one colour
  };
  Coloring coloring = Coloring::flat;
  ColorMap map = ColorMap::turbo;
  double low = 0;  ///< range of the colour map
  double high = 1;
  int axis = 2;  ///< 0 x, 1 y, 2 z
  Color flat{255, 255, 255, 255};
  double size = 2;         ///< edge length
  bool size_in_m = false;  ///< size is in m, else in px of a screen of normal density
  bool round = false;      ///< discs instead of squares
  double alpha = 1;        ///< below 1: dithered, so that order does not matter

  bool operator==(const PointStyle&) const = default;
};

/// Points and lines that stay, in GPU memory only: 16 bytes a point, 32 a line.
///
/// Positions are in the fixed frame. Appending draws the new ones on top of the finished picture.
/// Everything else draws the set again. Batches leave in the order in which they came.
class Retained {
 public:
  virtual ~Retained() = default;
  /// One batch of points. `time_ns` orders the batches of all displays for the memory budget. The
  /// points are in single precision relative to `origin`, so that distant maps keep mm.
  virtual void append(std::span<const Vertex> points, const Vec3& origin, std::int64_t time_ns) = 0;
  virtual void append(std::span<const ValuePoint> points, const Vec3& origin,
                      std::int64_t time_ns) = 0;
  /// One batch of lines: pairs of vertices.
  virtual void append_lines(std::span<const Vertex> pairs, const Vec3& origin,
                            std::int64_t time_ns) = 0;
  virtual void drop_oldest() = 0;
  /// Removes the batches older than this.
  virtual void drop_before(std::int64_t time_ns) = 0;
  virtual void clear() = 0;
  virtual void set_style(const PointStyle& style) = 0;
  virtual void set_line_width(double px) = 0;
  virtual void set_visible(bool visible) = 0;
  /// Carries all batches to another fixed frame.
  virtual void move(const Pose& new_from_old) = 0;

  [[nodiscard]] virtual std::size_t batches() const = 0;
  [[nodiscard]] virtual std::size_t points() const = 0;  ///< points and ends of lines
  [[nodiscard]] virtual std::size_t bytes() const = 0;   ///< of GPU and CPU
  /// Of the oldest batch, the largest value without one.
  [[nodiscard]] virtual std::int64_t oldest_ns() const = 0;
  [[nodiscard]] virtual Bounds bounds() const = 0;  ///< in the fixed frame
  /// Least and largest value of the ValuePoints. {0, 0} without one.
  [[nodiscard]] virtual std::pair<float, float> value_range() const = 0;
  /// The point that is nearest to the eye within `radius` of a ray (an angle, rad).
  struct Nearest {
    Vec3 point;
    double distance = 0;  ///< along the ray, m
    float value = 0;      ///< of a ValuePoint
    Color color;          ///< of a coloured point
  };
  /// Reads GPU memory back: for a click, not for each frame.
  [[nodiscard]] virtual std::optional<Nearest> nearest(const Vec3& from, const Vec3& direction,
                                                       double radius) const = 0;
};

enum class PixelFormat : std::uint8_t { rgba8, rgb8, gray8 };

/// An image in GPU memory.
class Texture {
 public:
  virtual ~Texture() = default;
  /// Replaces the image. `rows` has at least height * stride bytes, top row first.
  virtual void set(int width, int height, PixelFormat format, std::size_t stride,
                   std::span<const std::byte> rows) = 0;
  /// Looks up each gray value in 256 colours. Empty: none.
  virtual void set_colors(std::span<const Color> table) = 0;
  [[nodiscard]] virtual int width() const = 0;
  [[nodiscard]] virtual int height() const = 0;
  [[nodiscard]] virtual std::size_t bytes() const = 0;
  /// For ImGui::Image(). 0 without OpenGL.
  [[nodiscard]] virtual unsigned handle() const = 0;
};

/// A shaded surface in GPU memory. Triangles of three vertices, normals from the triangles or
/// given.
class Mesh {
 public:
  virtual ~Mesh() = default;
  [[nodiscard]] virtual std::size_t bytes() const = 0;
  [[nodiscard]] virtual const Bounds& bounds() const = 0;
};

struct MeshVertex {
  Vec3f at;
  Vec3f normal;
  Color color;
  float u = 0;  ///< place in the texture, 0 left, 1 right
  float v = 0;  ///< 0 top, 1 bottom
};

/// Makes objects in GPU memory. The objects must not outlive it. For the thread with the context.
/// Tests use one that only counts (tests/view/fake_store.hpp).
class Store {
 public:
  virtual ~Store() = default;
  [[nodiscard]] virtual std::unique_ptr<Retained> retained() = 0;
  [[nodiscard]] virtual std::unique_ptr<Texture> texture() = 0;
  /// `texture` is multiplied with the colours. It repeats beyond its edges, and outlives the mesh.
  [[nodiscard]] virtual std::unique_ptr<Mesh> mesh(std::span<const MeshVertex> triangles,
                                                   const Texture* texture) = 0;
  [[nodiscard]] std::unique_ptr<Mesh> mesh(std::span<const MeshVertex> triangles) {
    return mesh(triangles, nullptr);
  }
  /// Number of uploads so far. Still while nothing changes.
  [[nodiscard]] virtual std::uint64_t uploads() const = 0;
};

}  // namespace hyphos::view
