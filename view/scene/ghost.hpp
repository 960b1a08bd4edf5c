#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "view/scene/painter.hpp"

namespace hyphos::view {

/// The places of several sources in the 3-D view.
enum class Arrange : std::uint8_t {
  ghost,    ///< over one another. The second one and those after it are tinted and translucent
  columns,  ///< beside one another, with one camera
};

/// The look of the things of one source beside those of another.
struct Ghost {
  Color tint{255, 255, 255, 255};
  double amount = 0;  ///< of the tint, 0 to 1
  double alpha = 1;   ///< of the opacity

  bool operator==(const Ghost&) const = default;
  [[nodiscard]] bool is_none() const { return amount <= 0 && alpha >= 1; }
  [[nodiscard]] Color of(Color color) const {
    const auto mix = [this](std::uint8_t from, std::uint8_t to) {
      return static_cast<std::uint8_t>(std::lround(from + (to - from) * amount));
    };
    return {mix(color.r, tint.r), mix(color.g, tint.g), mix(color.b, tint.b),
            static_cast<std::uint8_t>(std::lround(color.a * alpha))};
  }
};

/// The colour of a part in titles, and the tint of its ghost.
[[nodiscard]] constexpr Color part_color(std::size_t part) {
  constexpr Color kColors[] = {
      {91, 140, 240, 255}, {240, 140, 60, 255}, {64, 192, 160, 255}, {190, 120, 240, 255}};
  return kColors[part % 4];
}

/// Paints with the colours of a ghost. For one frame.
class GhostPainter final : public Painter {
 public:
  GhostPainter(Painter& to, const Ghost& ghost) : to_(to), ghost_(ghost) {}

  void lines(const Pose& pose, std::span<const Vertex> pairs, double width) override {
    to_.lines(pose, tinted(pairs), width);
  }
  void triangles(const Pose& pose, std::span<const Vertex> corners, bool lit) override {
    to_.triangles(pose, tinted(corners), lit);
  }
  void points(const Pose& pose, std::span<const Vertex> points, double size_px) override {
    to_.points(pose, tinted(points), size_px);
  }
  void shape(Shape shape, const Pose& pose, const Vec3& size, Color color) override {
    to_.shape(shape, pose, size, ghost_.of(color));
  }
  void mesh(const Mesh& mesh, const Pose& pose, const Vec3& scale, Color tint) override {
    to_.mesh(mesh, pose, scale, ghost_.of(tint));
  }
  void image(const Texture& texture, const Pose& pose, double width, double height, double alpha,
             bool smooth, bool flip) override {
    to_.image(texture, pose, width, height, alpha * ghost_.alpha, smooth, flip);
  }
  void label(const Vec3& at, std::string_view text, Color color, double height,
             Align align) override {
    to_.label(at, text, ghost_.of(color), height, align);
  }
  void text(const Vec3& at, std::string_view text, Color color, double height_m) override {
    to_.text(at, text, ghost_.of(color), height_m);
  }
  void overlay(const Texture& texture, double left, double top, double right, double bottom,
               double alpha) override {
    to_.overlay(texture, left, top, right, bottom, alpha * ghost_.alpha);
  }
  void caption(double left, double top, std::string_view text, Color color,
               double height) override {
    to_.caption(left, top, text, ghost_.of(color), height);
  }
  [[nodiscard]] double pixel_size(const Vec3& at) const override { return to_.pixel_size(at); }
  [[nodiscard]] double aspect() const override { return to_.aspect(); }

 private:
  std::span<const Vertex> tinted(std::span<const Vertex> from) {
    vertices_.assign(from.begin(), from.end());
    for (Vertex& each : vertices_) each.color = ghost_.of(each.color);
    return vertices_;
  }

  Painter& to_;
  const Ghost ghost_;
  std::vector<Vertex> vertices_;
};

}  // namespace hyphos::view
