#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "view/scene/gl.hpp"
#include "view/scene/painter.hpp"
#include "view/scene/store.hpp"

namespace hyphos::view {

/// The triangles of a shape of size 1, white.
[[nodiscard]] std::vector<MeshVertex> shape_triangles(Shape shape);

class GlTexture;

class GlMesh final : public Mesh {
 public:
  GlMesh(Gl& gl, std::span<const MeshVertex> triangles, const GlTexture* texture = nullptr);
  [[nodiscard]] std::size_t bytes() const override { return count_ * sizeof(MeshVertex); }
  [[nodiscard]] const Bounds& bounds() const override { return bounds_; }
  [[nodiscard]] GLuint buffer() const { return buffer_.get(); }
  [[nodiscard]] GLsizei count() const { return static_cast<GLsizei>(count_); }
  /// Null without one.
  [[nodiscard]] const GlTexture* texture() const { return texture_; }

 private:
  const GlTexture* texture_;
  GlName buffer_;
  std::size_t count_ = 0;
  Bounds bounds_;
};

class GlTexture final : public Texture {
 public:
  explicit GlTexture(Gl& gl) : gl_(gl) {}
  void set(int width, int height, PixelFormat format, std::size_t stride,
           std::span<const std::byte> rows) override;
  void set_colors(std::span<const Color> table) override;
  [[nodiscard]] int width() const override { return width_; }
  [[nodiscard]] int height() const override { return height_; }
  [[nodiscard]] std::size_t bytes() const override;
  [[nodiscard]] unsigned handle() const override { return image_.get(); }
  [[nodiscard]] GLuint table() const { return table_.get(); }

 private:
  Gl& gl_;
  GlName image_;
  GlName table_;
  int width_ = 0;
  int height_ = 0;
  PixelFormat format_ = PixelFormat::rgba8;
};

}  // namespace hyphos::view
