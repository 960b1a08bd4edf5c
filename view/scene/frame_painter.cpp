#include "view/scene/frame_painter.hpp"

#include <algorithm>
#include <cmath>

#include "view/scene/shaders.hpp"

namespace hyphos::view {
namespace {

constexpr Color kHalo{10, 12, 16, 170};  // behind labels, so that they are legible on anything
constexpr int kWorldFont = 40;           // px, scaled to the height of texts in m
constexpr GLuint kAttributes = 8;        // of all shaders
constexpr GLuint kPlace = 7;             // of a surface, in its image

bool is_clear(Color color) { return color.a < 255; }

}  // namespace

Result<std::unique_ptr<FrameResources>> FrameResources::build(Gl& gl) {
  auto made = std::make_unique<FrameResources>();
  auto surface =
      GlProgram::build(gl, "surface", shaders::kSurfaceVertex, shaders::kSurfaceFragment);
  if (!surface) return surface.error();
  made->surface = std::move(*surface);
  auto image = GlProgram::build(gl, "image", shaders::kImageVertex, shaders::kImageFragment);
  if (!image) return image.error();
  made->image = std::move(*image);
  auto text = GlProgram::build(gl, "text", shaders::kTextVertex, shaders::kTextFragment);
  if (!text) return text.error();
  made->text = std::move(*text);
  made->vertex_array = make_vertex_array(gl);
  made->stream = make_buffer(gl);
  made->instances = make_buffer(gl);
  for (std::size_t i = 0; i < made->shapes.size(); ++i) {
    made->shapes[i] = std::make_unique<GlMesh>(gl, shape_triangles(static_cast<Shape>(i)));
  }
  return made;
}

FramePainter::FramePainter(Gl& gl, FrameResources& resources, const RetainedPrograms& retained,
                           const Camera& camera, const PassView& view)
    : gl_(gl),
      resources_(resources),
      retained_(retained),
      camera_(camera),
      view_(view),
      eye_(camera.eye()) {
  turn_.topLeftCorner<3, 3>() = camera.view().topLeftCorner<3, 3>();
}

FramePainter::Instance FramePainter::instance(const Pose& pose, const Vec3& scale,
                                              Color tint) const {
  Instance made;
  const Mat3 linear = pose.linear() * scale.asDiagonal();
  const Vec3 at = pose.translation() - eye_;
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 3; ++column) {
      made.rows[static_cast<std::size_t>(row * 4 + column)] =
          static_cast<float>(linear(row, column));
    }
    made.rows[static_cast<std::size_t>(row * 4 + 3)] = static_cast<float>(at[row]);
  }
  made.tint = tint;
  made.distance = static_cast<float>(at.norm());
  return made;
}

Vertex FramePainter::seen(const Pose& pose, const Vertex& vertex) const {
  const Vec3 at = pose * Vec3(vertex.x, vertex.y, vertex.z) - eye_;
  return {static_cast<float>(at.x()), static_cast<float>(at.y()), static_cast<float>(at.z()),
          vertex.color};
}

void FramePainter::lines(const Pose& pose, std::span<const Vertex> pairs, double width) {
  auto& to = lines_[width];
  for (const Vertex& each : pairs.first(pairs.size() / 2 * 2)) to.push_back(seen(pose, each));
}

void FramePainter::points(const Pose& pose, std::span<const Vertex> points, double size_px) {
  auto& to = points_[size_px];
  for (const Vertex& each : points) to.push_back(seen(pose, each));
}

void FramePainter::triangles(const Pose& pose, std::span<const Vertex> corners, bool lit) {
  for (std::size_t i = 0; i + 2 < corners.size(); i += 3) {
    std::array<MeshVertex, 3> made;
    for (std::size_t j = 0; j < 3; ++j) {
      const Vertex at = seen(pose, corners[i + j]);
      made[j] = {{at.x, at.y, at.z}, Vec3f::UnitZ(), at.color};
    }
    const Vec3f across = (made[1].at - made[0].at).cross(made[2].at - made[0].at);
    if (!(across.squaredNorm() > 0)) continue;
    const bool clear =
        is_clear(made[0].color) || is_clear(made[1].color) || is_clear(made[2].color);
    auto& to = clear ? clear_triangles_ : lit ? opaque_triangles_ : plain_triangles_;
    for (MeshVertex& each : made) {
      each.normal = across.normalized();
      to.push_back(each);
    }
  }
}

void FramePainter::add_surface(const GlMesh& mesh, const Instance& at) {
  (is_clear(at.tint) ? clear_ : opaque_).push_back({&mesh, at});
}

void FramePainter::shape(Shape shape, const Pose& pose, const Vec3& size, Color color) {
  if (!size.allFinite() || !pose.matrix().allFinite()) return;
  add_surface(*resources_.shapes[static_cast<std::size_t>(shape)], instance(pose, size, color));
}

void FramePainter::mesh(const Mesh& mesh, const Pose& pose, const Vec3& scale, Color tint) {
  if (!scale.allFinite() || !pose.matrix().allFinite()) return;
  add_surface(static_cast<const GlMesh&>(mesh), instance(pose, scale, tint));
}

void FramePainter::image(const Texture& texture, const Pose& pose, double width, double height,
                         double alpha, bool smooth, bool flip) {
  if (texture.width() == 0) return;
  Picture made;
  made.texture = &static_cast<const GlTexture&>(texture);
  made.alpha = static_cast<float>(alpha);
  made.smooth = smooth;
  for (std::size_t i = 0; i < 4; ++i) {
    const double u = (i & 1U) != 0 ? 1 : 0;
    const double v = (i & 2U) != 0 ? 1 : 0;
    const Vec3 at = pose * Vec3(u * width, v * height, 0) - eye_;
    float* const to = made.corners.data() + i * 5;
    for (int axis = 0; axis < 3; ++axis) to[axis] = static_cast<float>(at[axis]);
    to[3] = static_cast<float>(u);
    to[4] = static_cast<float>(flip ? 1 - v : v);
  }
  pictures_.push_back(made);
}

void FramePainter::overlay(const Texture& texture, double left, double top, double right,
                           double bottom, double alpha) {
  if (texture.width() == 0) return;
  Picture made;
  made.texture = &static_cast<const GlTexture&>(texture);
  made.alpha = static_cast<float>(alpha);
  made.on_screen = true;
  for (std::size_t i = 0; i < 4; ++i) {
    const bool at_right = (i & 1U) != 0;
    const bool at_top = (i & 2U) != 0;
    float* const to = made.corners.data() + i * 5;
    to[0] = static_cast<float>(2 * (at_right ? right : left) - 1);
    to[1] = static_cast<float>(1 - 2 * (at_top ? top : bottom));
    to[3] = at_right ? 1 : 0;
    to[4] = at_top ? 0 : 1;
  }
  pictures_.push_back(made);
}

void FramePainter::write(Font& font, std::string_view text, double x, double y, double depth,
                         double scale, Color color, bool behind) {
  Letters& letters = letters_[&font];
  auto& to = behind ? letters.behind : letters.front;
  const auto put = [&](double dx, double dy, Color with) {
    font.append(text, static_cast<float>(x + dx), static_cast<float>(y + dy),
                static_cast<float>(depth), static_cast<float>(scale), with, to);
  };
  if (!behind) {
    const Color halo = kHalo.with_alpha(kHalo.a / 255.0 * color.a / 255.0);
    const double d = view_.density;
    for (const auto& [dx, dy] : {std::pair{-d, 0.0}, {d, 0.0}, {0.0, -d}, {0.0, d}}) {
      put(dx, dy, halo);
    }
  }
  put(0, 0, color);
}

void FramePainter::label(const Vec3& at, std::string_view text, Color color, double height,
                         Align align) {
  const auto pixel = camera_.project(at);
  if (!pixel || text.empty()) return;
  Font& font = resources_.fonts.get(height * view_.density);
  const double width = font.width(text);
  // Clear of the point itself, on the base line that centres small letters on it.
  const double gap = 4 * view_.density;
  double x = pixel->x() + gap;
  if (align == Align::center) x = pixel->x() - width / 2;
  if (align == Align::right) x = pixel->x() - width - gap;
  write(font, text, std::round(x), std::round(pixel->y() + font.ascent() * 0.35), 0, 1, color,
        false);
}

void FramePainter::text(const Vec3& at, std::string_view text, Color color, double height_m) {
  const auto pixel = camera_.project(at);
  if (!pixel || text.empty() || !(height_m > 0)) return;
  Font& font = resources_.fonts.get(kWorldFont);
  const double height = std::min(height_m / camera_.pixel_size(at), 4.0 * camera_.height());
  if (height < 2) return;
  const double scale = height / kWorldFont;
  double y = pixel->y() + font.ascent() * 0.35 * scale;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    write(font, line, pixel->x() - font.width(line) * scale / 2, y, pixel->z(), scale, color, true);
    y += font.line_height() * scale;
  }
}

void FramePainter::caption(double left, double top, std::string_view text, Color color,
                           double height) {
  Font& font = resources_.fonts.get(height * view_.density);
  write(font, text, std::round(left * camera_.width()),
        std::round(top * camera_.height() + font.ascent()), 0, 1, color, false);
}

void FramePainter::upload(const GlName& buffer, const void* data, std::size_t bytes) const {
  gl_.BindBuffer(GL_ARRAY_BUFFER, buffer.get());
  gl_.BufferData(GL_ARRAY_BUFFER, static_cast<GLsizeiptr>(bytes), data, GL_STREAM_DRAW);
}

void FramePainter::set_instance(const Instance& at) const {
  for (GLuint row = 0; row < 3; ++row) {
    gl_.DisableVertexAttribArray(3 + row);
    const float* const v = at.rows.data() + static_cast<std::size_t>(row) * 4;
    gl_.VertexAttrib4f(3 + row, v[0], v[1], v[2], v[3]);
  }
  gl_.DisableVertexAttribArray(6);
  const Color c = at.tint;
  gl_.VertexAttrib4f(6, static_cast<float>(c.r) / 255, static_cast<float>(c.g) / 255,
                     static_cast<float>(c.b) / 255, static_cast<float>(c.a) / 255);
}

namespace {

void point_to_mesh(Gl& gl, GLuint buffer) {
  gl.BindBuffer(GL_ARRAY_BUFFER, buffer);
  constexpr GLsizei kStep = sizeof(MeshVertex);
  gl.VertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, kStep, offset_pointer(offsetof(MeshVertex, at)));
  gl.VertexAttribPointer(1, 3, GL_FLOAT, GL_FALSE, kStep,
                         offset_pointer(offsetof(MeshVertex, normal)));
  gl.VertexAttribPointer(2, 4, GL_UNSIGNED_BYTE, GL_TRUE, kStep,
                         offset_pointer(offsetof(MeshVertex, color)));
  gl.VertexAttribPointer(kPlace, 2, GL_FLOAT, GL_FALSE, kStep,
                         offset_pointer(offsetof(MeshVertex, u)));
  for (const GLuint each : {0U, 1U, 2U, kPlace}) {
    gl.EnableVertexAttribArray(each);
    gl.VertexAttribDivisor(each, 0);
  }
}

void use_image(Gl& gl, const GlProgram& program, const GlTexture* texture) {
  const bool has_image = texture != nullptr && texture->width() > 0;
  program.set("has_image", has_image ? 1 : 0);
  if (!has_image) return;
  gl.ActiveTexture(GL_TEXTURE0);
  gl.BindTexture(GL_TEXTURE_2D, texture->handle());
  gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_REPEAT);
  gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_REPEAT);
  gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
}

}  // namespace

void FramePainter::draw_surfaces(std::span<const Surface> surfaces, bool lit) const {
  const GlProgram& program = resources_.surface;
  program.use();
  program.set("clip_from_eye", view_.clip_from_eye);
  program.set("eye_turn", Mat4f(turn_.cast<float>()));
  program.set("lit", lit ? 1.0F : 0.0F);
  program.set("image", 0);
  // Neighbours with the same mesh are one call.
  std::vector<Instance> run;
  for (std::size_t i = 0; i < surfaces.size();) {
    const GlMesh* const mesh = surfaces[i].mesh;
    run.clear();
    for (; i < surfaces.size() && surfaces[i].mesh == mesh; ++i) {
      run.push_back(surfaces[i].instance);
    }
    point_to_mesh(gl_, mesh->buffer());
    use_image(gl_, program, mesh->texture());
    if (run.size() == 1) {
      set_instance(run.front());
      gl_.DrawArrays(GL_TRIANGLES, 0, mesh->count());
      continue;
    }
    upload(resources_.instances, run.data(), run.size() * sizeof(Instance));
    for (GLuint each = 3; each < 7; ++each) {
      gl_.EnableVertexAttribArray(each);
      gl_.VertexAttribDivisor(each, 1);
      if (each < 6) {
        gl_.VertexAttribPointer(each, 4, GL_FLOAT, GL_FALSE, sizeof(Instance),
                                offset_pointer((each - 3) * 16));
      } else {
        gl_.VertexAttribPointer(each, 4, GL_UNSIGNED_BYTE, GL_TRUE, sizeof(Instance),
                                offset_pointer(offsetof(Instance, tint)));
      }
    }
    gl_.DrawArraysInstanced(GL_TRIANGLES, 0, mesh->count(), static_cast<GLsizei>(run.size()));
  }
}

void FramePainter::draw_triangles(std::span<const MeshVertex> corners, bool lit) const {
  if (corners.empty()) return;
  const GlProgram& program = resources_.surface;
  program.use();
  program.set("clip_from_eye", view_.clip_from_eye);
  program.set("eye_turn", Mat4f(turn_.cast<float>()));
  program.set("lit", lit ? 1.0F : 0.0F);
  use_image(gl_, program, nullptr);
  upload(resources_.stream, corners.data(), corners.size_bytes());
  point_to_mesh(gl_, resources_.stream.get());
  Instance identity;
  identity.rows = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  set_instance(identity);
  gl_.DrawArrays(GL_TRIANGLES, 0, static_cast<GLsizei>(corners.size()));
}

void FramePainter::draw_images(bool on_screen) const {
  const GlProgram& program = resources_.image;
  program.use();
  const Mat4f turned = view_.clip_from_eye * turn_.cast<float>();
  program.set("clip_from_local", on_screen ? Mat4f(Mat4f::Identity()) : turned);
  program.set("image", 0);
  program.set("table", 1);
  for (const Picture& each : pictures_) {
    if (each.on_screen != on_screen) continue;
    upload(resources_.stream, each.corners.data(), sizeof(each.corners));
    gl_.VertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, 20, offset_pointer(0));
    gl_.VertexAttribPointer(1, 2, GL_FLOAT, GL_FALSE, 20, offset_pointer(12));
    for (GLuint attribute = 0; attribute < kAttributes; ++attribute) {
      attribute < 2 ? gl_.EnableVertexAttribArray(attribute)
                    : gl_.DisableVertexAttribArray(attribute);
      gl_.VertexAttribDivisor(attribute, 0);
    }
    gl_.ActiveTexture(GL_TEXTURE1);
    gl_.BindTexture(GL_TEXTURE_2D, each.texture->table());
    gl_.ActiveTexture(GL_TEXTURE0);
    gl_.BindTexture(GL_TEXTURE_2D, each.texture->handle());
    // A table of colours has no colours between its entries.
    const bool table = each.texture->table() != 0;
    gl_.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER,
                      each.smooth && !table ? GL_LINEAR : GL_NEAREST);
    gl_.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, table ? GL_NEAREST : GL_LINEAR);
    program.set("has_table", table ? 1 : 0);
    program.set("alpha", each.alpha);
    gl_.DrawArrays(GL_TRIANGLE_STRIP, 0, 4);
  }
}

void FramePainter::draw_points() const {
  const GlProgram& program = retained_.points;
  program.use();
  program.set("clip_from_eye", view_.clip_from_eye);
  program.set("eye_from_block", Mat4f(turn_.cast<float>()));
  program.set("coloring", 0);
  program.set("px_per_slope", view_.px_per_slope);
  program.set("perspective", view_.perspective ? 1.0F : 0.0F);
  program.set("is_round", 1);
  program.set("alpha", 1.0F);
  program.set("ghost", Color{0, 0, 0, 0});  // GhostPainter has changed the colours
  for (const auto& [size, vertices] : points_) {
    program.set("size_px", static_cast<float>(size * view_.density));
    upload(resources_.stream, vertices.data(), vertices.size() * sizeof(Vertex));
    gl_.VertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, sizeof(Vertex), offset_pointer(0));
    gl_.VertexAttribPointer(1, 4, GL_UNSIGNED_BYTE, GL_TRUE, sizeof(Vertex), offset_pointer(12));
    for (GLuint attribute = 0; attribute < kAttributes; ++attribute) {
      attribute < 2 ? gl_.EnableVertexAttribArray(attribute)
                    : gl_.DisableVertexAttribArray(attribute);
      gl_.VertexAttribDivisor(attribute, 0);
    }
    gl_.DrawArrays(GL_POINTS, 0, static_cast<GLsizei>(vertices.size()));
  }
}

void FramePainter::draw_lines() const {
  const GlProgram& program = retained_.lines;
  program.use();
  program.set("clip_from_eye", view_.clip_from_eye);
  program.set("eye_from_block", Mat4f(turn_.cast<float>()));
  program.set("half_size", static_cast<float>(view_.width) / 2,
              static_cast<float>(view_.height) / 2);
  program.set("alpha", 1.0F);
  program.set("ghost", Color{0, 0, 0, 0});
  for (const auto& [width, vertices] : lines_) {
    program.set("half_width", static_cast<float>(width * view_.density / 2));
    upload(resources_.stream, vertices.data(), vertices.size() * sizeof(Vertex));
    constexpr GLsizei kStep = 2 * sizeof(Vertex);
    gl_.VertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, kStep, offset_pointer(0));
    gl_.VertexAttribPointer(1, 4, GL_UNSIGNED_BYTE, GL_TRUE, kStep, offset_pointer(12));
    gl_.VertexAttribPointer(2, 3, GL_FLOAT, GL_FALSE, kStep, offset_pointer(16));
    gl_.VertexAttribPointer(3, 4, GL_UNSIGNED_BYTE, GL_TRUE, kStep, offset_pointer(28));
    for (GLuint attribute = 0; attribute < kAttributes; ++attribute) {
      attribute < 4 ? gl_.EnableVertexAttribArray(attribute)
                    : gl_.DisableVertexAttribArray(attribute);
      gl_.VertexAttribDivisor(attribute, attribute < 4 ? 1 : 0);
    }
    gl_.DrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, static_cast<GLsizei>(vertices.size() / 2));
  }
}

void FramePainter::draw_text() const {
  const GlProgram& program = resources_.text;
  program.use();
  program.set("half_size", static_cast<float>(view_.width) / 2,
              static_cast<float>(view_.height) / 2);
  program.set("glyphs", 0);
  for (GLuint attribute = 0; attribute < kAttributes; ++attribute) {
    attribute < 3 ? gl_.EnableVertexAttribArray(attribute)
                  : gl_.DisableVertexAttribArray(attribute);
    gl_.VertexAttribDivisor(attribute, 0);
  }
  gl_.ActiveTexture(GL_TEXTURE0);
  for (const bool behind : {true, false}) {
    behind ? gl_.Enable(GL_DEPTH_TEST) : gl_.Disable(GL_DEPTH_TEST);
    for (const auto& [font, letters] : letters_) {
      const auto& vertices = behind ? letters.behind : letters.front;
      if (vertices.empty()) continue;
      gl_.BindTexture(GL_TEXTURE_2D, font->texture(gl_));
      upload(resources_.stream, vertices.data(), vertices.size() * sizeof(TextVertex));
      constexpr GLsizei kStep = sizeof(TextVertex);
      gl_.VertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, kStep, offset_pointer(0));
      gl_.VertexAttribPointer(1, 2, GL_FLOAT, GL_FALSE, kStep, offset_pointer(12));
      gl_.VertexAttribPointer(2, 4, GL_UNSIGNED_BYTE, GL_TRUE, kStep, offset_pointer(20));
      gl_.DrawArrays(GL_TRIANGLES, 0, static_cast<GLsizei>(vertices.size()));
    }
  }
}

void FramePainter::flush() {
  gl_.BindVertexArray(resources_.vertex_array.get());
  gl_.Enable(GL_DEPTH_TEST);
  gl_.DepthFunc(GL_LEQUAL);
  gl_.DepthMask(GL_TRUE);
  gl_.Disable(GL_BLEND);
  std::ranges::stable_sort(opaque_, {}, &Surface::mesh);
  draw_surfaces(opaque_, true);
  draw_triangles(opaque_triangles_, true);
  draw_triangles(plain_triangles_, false);
  draw_points();
  gl_.Enable(GL_BLEND);
  // Maps lie below the lines and axes of the same height, and above a ground.
  gl_.Enable(GL_POLYGON_OFFSET_FILL);
  gl_.PolygonOffset(1, 1);
  gl_.DepthMask(GL_FALSE);
  draw_images(false);
  gl_.Disable(GL_POLYGON_OFFSET_FILL);
  gl_.DepthMask(GL_TRUE);
  draw_lines();
  gl_.DepthMask(GL_FALSE);
  std::ranges::sort(clear_, [](const Surface& a, const Surface& b) {
    return a.instance.distance > b.instance.distance;
  });
  draw_surfaces(clear_, true);
  draw_triangles(clear_triangles_, true);
  gl_.Disable(GL_DEPTH_TEST);
  draw_images(true);
  draw_text();
  gl_.DepthMask(GL_TRUE);
}

}  // namespace hyphos::view
