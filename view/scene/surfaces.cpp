#include "view/scene/surfaces.hpp"

#include <cmath>
#include <numbers>

namespace hyphos::view {
namespace {

using Triangles = std::vector<MeshVertex>;
constexpr int kSides = 32;  // of a cylinder and cone
constexpr int kRings = 16;  // of a sphere, from pole to pole
constexpr float kHalf = 0.5F;

void add(Triangles& out, const Vec3f& a, const Vec3f& b, const Vec3f& c, const Vec3f& na,
         const Vec3f& nb, const Vec3f& nc) {
  out.push_back({a, na, {}});
  out.push_back({b, nb, {}});
  out.push_back({c, nc, {}});
}

Vec3f around(int step) {
  const double angle = 2 * std::numbers::pi * step / kSides;
  return {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle)), 0};
}

Triangles box() {
  Triangles out;
  for (int axis = 0; axis < 3; ++axis) {
    for (const float side : {-kHalf, kHalf}) {
      Vec3f normal = Vec3f::Zero();
      normal[axis] = side * 2;
      const auto corner = [&](float u, float v) {
        Vec3f at;
        at[axis] = side;
        at[(axis + 1) % 3] = u;
        at[(axis + 2) % 3] = v;
        return at;
      };
      const Vec3f a = corner(-kHalf, -kHalf);
      const Vec3f b = corner(kHalf, -kHalf);
      const Vec3f c = corner(kHalf, kHalf);
      const Vec3f d = corner(-kHalf, kHalf);
      add(out, a, b, c, normal, normal, normal);
      add(out, a, c, d, normal, normal, normal);
    }
  }
  return out;
}

Triangles sphere() {
  Triangles out;
  const auto at = [](int ring, int side) {
    const double polar = std::numbers::pi * ring / kRings;
    const Vec3f flat = around(side) * static_cast<float>(std::sin(polar));
    return Vec3f(flat.x(), flat.y(), static_cast<float>(std::cos(polar)));
  };
  for (int ring = 0; ring < kRings; ++ring) {
    for (int side = 0; side < kSides; ++side) {
      const Vec3f a = at(ring, side);
      const Vec3f b = at(ring + 1, side);
      const Vec3f c = at(ring + 1, side + 1);
      const Vec3f d = at(ring, side + 1);
      add(out, a * kHalf, b * kHalf, c * kHalf, a, b, c);
      add(out, a * kHalf, c * kHalf, d * kHalf, a, c, d);
    }
  }
  return out;
}

Triangles cylinder() {
  Triangles out;
  const Vec3f up = Vec3f::UnitZ();
  for (int side = 0; side < kSides; ++side) {
    const Vec3f a = around(side);
    const Vec3f b = around(side + 1);
    const Vec3f a0 = (a - up) * kHalf;
    const Vec3f b0 = (b - up) * kHalf;
    const Vec3f a1 = (a + up) * kHalf;
    const Vec3f b1 = (b + up) * kHalf;
    add(out, a0, b0, b1, a, b, b);
    add(out, a0, b1, a1, a, b, a);
    add(out, up * kHalf, a1, b1, up, up, up);
    add(out, -up * kHalf, b0, a0, -up, -up, -up);
  }
  return out;
}

Triangles cone() {
  Triangles out;
  const Vec3f up = Vec3f::UnitZ();
  for (int side = 0; side < kSides; ++side) {
    const Vec3f a = around(side);
    const Vec3f b = around(side + 1);
    // The slope of a cone of diameter 1 and height 1.
    const Vec3f na = (a + up * kHalf).normalized();
    const Vec3f nb = (b + up * kHalf).normalized();
    add(out, (a - up) * kHalf, (b - up) * kHalf, up * kHalf, na, nb, (na + nb).normalized());
    add(out, -up * kHalf, (b - up) * kHalf, (a - up) * kHalf, -up, -up, -up);
  }
  return out;
}

struct GlFormat {
  GLint inside;
  GLenum outside;
  int bytes;
};

GlFormat gl_format(PixelFormat format) {
  switch (format) {
    case PixelFormat::rgba8:
      return {GL_RGBA8, GL_RGBA, 4};
    case PixelFormat::rgb8:
      return {GL_RGB8, GL_RGB, 3};
    case PixelFormat::gray8:
      return {GL_R8, GL_RED, 1};
  }
  return {GL_RGBA8, GL_RGBA, 4};
}

}  // namespace

std::vector<MeshVertex> shape_triangles(Shape shape) {
  switch (shape) {
    case Shape::box:
      return box();
    case Shape::sphere:
      return sphere();
    case Shape::cylinder:
      return cylinder();
    case Shape::cone:
      return cone();
  }
  return {};
}

GlMesh::GlMesh(Gl& gl, std::span<const MeshVertex> triangles, const GlTexture* texture)
    : texture_(texture), buffer_(make_buffer(gl)), count_(triangles.size() / 3 * 3) {
  for (const MeshVertex& each : triangles) bounds_.add(each.at.cast<double>());
  gl.BindBuffer(GL_ARRAY_BUFFER, buffer_.get());
  gl.BufferData(GL_ARRAY_BUFFER, static_cast<GLsizeiptr>(bytes()), triangles.data(),
                GL_STATIC_DRAW);
  ++gl.uploads;
}

void GlTexture::set(int width, int height, PixelFormat format, std::size_t stride,
                    std::span<const std::byte> rows) {
  const GlFormat kind = gl_format(format);
  const bool same = image_ && width == width_ && height == height_ && format == format_;
  if (!same) image_ = make_texture(gl_);
  gl_.BindTexture(GL_TEXTURE_2D, image_.get());
  gl_.PixelStorei(GL_UNPACK_ALIGNMENT, 1);
  const bool whole_pixels = stride % static_cast<std::size_t>(kind.bytes) == 0;
  std::vector<std::byte> packed;
  const std::byte* pixels = rows.data();
  const std::size_t row = static_cast<std::size_t>(width) * static_cast<std::size_t>(kind.bytes);
  if (whole_pixels) {
    gl_.PixelStorei(GL_UNPACK_ROW_LENGTH,
                    static_cast<GLint>(stride / static_cast<std::size_t>(kind.bytes)));
  } else {
    for (std::size_t y = 0; y < static_cast<std::size_t>(height); ++y) {
      const auto line = rows.subspan(y * stride, row);
      packed.insert(packed.end(), line.begin(), line.end());
    }
    pixels = packed.data();
  }
  if (same) {
    gl_.TexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, width, height, kind.outside, GL_UNSIGNED_BYTE,
                      pixels);
  } else {
    gl_.TexImage2D(GL_TEXTURE_2D, 0, kind.inside, width, height, 0, kind.outside, GL_UNSIGNED_BYTE,
                   pixels);
    gl_.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    gl_.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    gl_.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    if (format == PixelFormat::gray8) {
      const GLint gray[] = {GL_RED, GL_RED, GL_RED, GL_ONE};
      gl_.TexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_SWIZZLE_RGBA, gray);
    }
  }
  gl_.PixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  width_ = width;
  height_ = height;
  format_ = format;
  ++gl_.uploads;
}

void GlTexture::set_colors(std::span<const Color> table) {
  if (table.size() != 256) {
    table_ = {};
    return;
  }
  table_ = make_texture(gl_);
  gl_.BindTexture(GL_TEXTURE_2D, table_.get());
  gl_.TexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 256, 1, 0, GL_RGBA, GL_UNSIGNED_BYTE, table.data());
  gl_.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  gl_.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  ++gl_.uploads;
}

std::size_t GlTexture::bytes() const {
  // Drivers keep three bytes as four.
  const std::size_t pixel = format_ == PixelFormat::gray8 ? 1 : 4;
  return static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_) * pixel;
}

}  // namespace hyphos::view
