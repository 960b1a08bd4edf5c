#pragma once

#include <array>
#include <map>
#include <vector>

#include "view/scene/camera.hpp"
#include "view/scene/font.hpp"
#include "view/scene/gl.hpp"
#include "view/scene/painter.hpp"
#include "view/scene/retained.hpp"
#include "view/scene/surfaces.hpp"

namespace hyphos::view {

/// The programs and buffers of FramePainter, which last for the whole session.
struct FrameResources {
  GlProgram surface;
  GlProgram image;
  GlProgram text;
  GlName vertex_array;
  GlName stream;     // vertices of one frame
  GlName instances;  // of surfaces
  std::array<std::unique_ptr<GlMesh>, 4> shapes;
  Fonts fonts;

  static Result<std::unique_ptr<FrameResources>> build(Gl& gl);
};

/// Collects the calls of one frame, and then draws them in the order that blending needs.
///
/// Positions become relative to the eye in double precision.
class FramePainter final : public Painter {
 public:
  FramePainter(Gl& gl, FrameResources& resources, const RetainedPrograms& retained,
               const Camera& camera, const PassView& view);

  void lines(const Pose& pose, std::span<const Vertex> pairs, double width) override;
  void triangles(const Pose& pose, std::span<const Vertex> corners, bool lit) override;
  void points(const Pose& pose, std::span<const Vertex> points, double size_px) override;
  void shape(Shape shape, const Pose& pose, const Vec3& size, Color color) override;
  void mesh(const Mesh& mesh, const Pose& pose, const Vec3& scale, Color tint) override;
  void image(const Texture& texture, const Pose& pose, double width, double height, double alpha,
             bool smooth, bool flip) override;
  void label(const Vec3& at, std::string_view text, Color color, double height,
             Align align) override;
  void text(const Vec3& at, std::string_view text, Color color, double height_m) override;
  void overlay(const Texture& texture, double left, double top, double right, double bottom,
               double alpha) override;
  void caption(double left, double top, std::string_view text, Color color, double height) override;
  [[nodiscard]] double pixel_size(const Vec3& at) const override {
    return camera_.pixel_size(at) * view_.density;
  }
  [[nodiscard]] double aspect() const override {
    return static_cast<double>(view_.width) / view_.height;
  }

  /// Draws everything into the bound framebuffer, which has the depth of the retained picture.
  void flush();

 private:
  struct Instance {
    std::array<float, 12> rows{};  // model matrix, relative to the eye
    Color tint;
    float distance = 0;
  };
  struct Surface {
    const GlMesh* mesh = nullptr;
    Instance instance;
  };
  struct Picture {
    const GlTexture* texture = nullptr;
    std::array<float, 20> corners{};  // x y z u v of a strip
    float alpha = 1;
    bool smooth = true;
    bool on_screen = false;
  };
  struct Letters {
    std::vector<TextVertex> behind;  // hidden by nearer things
    std::vector<TextVertex> front;
  };

  [[nodiscard]] Instance instance(const Pose& pose, const Vec3& scale, Color tint) const;
  [[nodiscard]] Vertex seen(const Pose& pose, const Vertex& vertex) const;
  void add_surface(const GlMesh& mesh, const Instance& at);
  void write(Font& font, std::string_view text, double x, double y, double depth, double scale,
             Color color, bool behind);
  void upload(const GlName& buffer, const void* data, std::size_t bytes) const;
  void draw_surfaces(std::span<const Surface> surfaces, bool lit) const;
  void draw_triangles(std::span<const MeshVertex> corners, bool lit) const;
  void draw_images(bool on_screen) const;
  void draw_points() const;
  void draw_lines() const;
  void draw_text() const;
  void set_instance(const Instance& at) const;

  Gl& gl_;
  FrameResources& resources_;
  const RetainedPrograms& retained_;
  const Camera& camera_;
  const PassView view_;
  const Vec3 eye_;
  Mat4 turn_ = Mat4::Identity();  // fixed frame → eye, without the translation
  std::vector<Surface> opaque_;
  std::vector<Surface> clear_;
  std::vector<MeshVertex> opaque_triangles_;
  std::vector<MeshVertex> plain_triangles_;  // not lit
  std::vector<MeshVertex> clear_triangles_;
  std::vector<Picture> pictures_;
  std::map<double, std::vector<Vertex>> lines_;   // by width
  std::map<double, std::vector<Vertex>> points_;  // by size
  std::map<Font*, Letters> letters_;
};

}  // namespace hyphos::view
