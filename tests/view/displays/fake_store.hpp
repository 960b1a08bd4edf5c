#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "view/scene/painter.hpp"
#include "view/scene/store.hpp"

/// A Store and a Painter without OpenGL, which keep what displays give them.
namespace hyphos::view::testing {

class FakeRetained final : public Retained {
 public:
  struct Batch {
    std::int64_t time_ns;
    std::vector<Vec3> points;
    std::vector<float> values;
    std::vector<Color> colors;
    bool lines = false;
  };
  explicit FakeRetained(std::uint64_t& uploads) : uploads_(uploads) {}

  void append(std::span<const Vertex> points, const Vec3& origin, std::int64_t time_ns) override {
    add(points, origin, time_ns, false);
  }
  void append(std::span<const ValuePoint> points, const Vec3& origin,
              std::int64_t time_ns) override {
    if (points.empty()) return;
    Batch made{time_ns, {}, {}, {}, false};
    for (const ValuePoint& each : points) {
      made.points.push_back(origin + Vec3(each.x, each.y, each.z));
      made.values.push_back(each.value);
    }
    batches_.push_back(std::move(made));
    ++uploads_;
  }
  void append_lines(std::span<const Vertex> pairs, const Vec3& origin,
                    std::int64_t time_ns) override {
    add(pairs, origin, time_ns, true);
  }
  void drop_oldest() override {
    if (!batches_.empty()) batches_.pop_front();
  }
  void drop_before(std::int64_t time_ns) override {
    while (!batches_.empty() && batches_.front().time_ns < time_ns) batches_.pop_front();
  }
  void clear() override { batches_.clear(); }
  void set_style(const PointStyle& style) override { style_ = style; }
  void set_line_width(double px) override { width_ = px; }
  void set_visible(bool visible) override { visible_ = visible; }
  void move(const Pose& new_from_old) override {
    for (Batch& batch : batches_) {
      for (Vec3& each : batch.points) each = new_from_old * each;
    }
  }
  [[nodiscard]] std::size_t batches() const override { return batches_.size(); }
  [[nodiscard]] std::size_t points() const override {
    std::size_t sum = 0;
    for (const Batch& each : batches_) sum += each.points.size();
    return sum;
  }
  [[nodiscard]] std::size_t bytes() const override { return points() * 16; }
  [[nodiscard]] std::int64_t oldest_ns() const override {
    return batches_.empty() ? std::numeric_limits<std::int64_t>::max() : batches_.front().time_ns;
  }
  [[nodiscard]] Bounds bounds() const override {
    Bounds all;
    for (const Batch& batch : batches_) {
      for (const Vec3& each : batch.points) all.add(each);
    }
    return all;
  }
  [[nodiscard]] std::pair<float, float> value_range() const override { return {0, 0}; }
  [[nodiscard]] std::optional<Nearest> nearest(const Vec3&, const Vec3&, double) const override {
    return std::nullopt;
  }

  std::deque<Batch> batches_;
  PointStyle style_;
  double width_ = 0;
  bool visible_ = true;

 private:
  void add(std::span<const Vertex> points, const Vec3& origin, std::int64_t time_ns, bool lines) {
    if (points.empty()) return;
    Batch made{time_ns, {}, {}, {}, lines};
    for (const Vertex& each : points) {
      made.points.push_back(origin + Vec3(each.x, each.y, each.z));
      made.colors.push_back(each.color);
    }
    batches_.push_back(std::move(made));
    ++uploads_;
  }
  std::uint64_t& uploads_;
};

class FakeTexture final : public Texture {
 public:
  void set(int width, int height, PixelFormat format, std::size_t,
           std::span<const std::byte> rows) override {
    width_ = width;
    height_ = height;
    bytes_ = rows.size();
    format_ = format;
  }
  void set_colors(std::span<const Color> table) override {
    table_.assign(table.begin(), table.end());
  }
  [[nodiscard]] int width() const override { return width_; }
  [[nodiscard]] int height() const override { return height_; }
  [[nodiscard]] std::size_t bytes() const override { return bytes_; }
  [[nodiscard]] unsigned handle() const override { return 0; }

  int width_ = 0;
  int height_ = 0;
  std::size_t bytes_ = 0;
  PixelFormat format_ = PixelFormat::rgba8;
  std::vector<Color> table_;
};

class FakeMesh final : public Mesh {
 public:
  explicit FakeMesh(std::size_t bytes) : bytes_(bytes) {}
  [[nodiscard]] std::size_t bytes() const override { return bytes_; }
  [[nodiscard]] const Bounds& bounds() const override { return bounds_; }

 private:
  std::size_t bytes_;
  Bounds bounds_;
};

class FakeStore final : public Store {
 public:
  std::unique_ptr<Retained> retained() override {
    auto made = std::make_unique<FakeRetained>(uploads_);
    sets.push_back(made.get());
    return made;
  }
  std::unique_ptr<Texture> texture() override {
    auto made = std::make_unique<FakeTexture>();
    textures.push_back(made.get());
    return made;
  }
  std::unique_ptr<Mesh> mesh(std::span<const MeshVertex> triangles, const Texture*) override {
    return std::make_unique<FakeMesh>(triangles.size_bytes());
  }
  [[nodiscard]] std::uint64_t uploads() const override { return uploads_; }

  std::vector<FakeRetained*> sets;
  std::vector<FakeTexture*> textures;

 private:
  std::uint64_t uploads_ = 0;
};

/// Counts the calls, and keeps the last of each kind.
class FakePainter final : public Painter {
 public:
  struct Solid {
    Shape shape;
    Pose pose;
    Vec3 size;
    Color color;
  };
  void lines(const Pose& pose, std::span<const Vertex> pairs, double) override {
    for (const Vertex& each : pairs) line_ends.push_back(pose * Vec3(each.x, each.y, each.z));
  }
  void triangles(const Pose&, std::span<const Vertex> corners, bool) override {
    triangle_corners += corners.size();
  }
  void points(const Pose&, std::span<const Vertex> points, double) override {
    point_count += points.size();
  }
  void shape(Shape shape, const Pose& pose, const Vec3& size, Color color) override {
    solids.push_back({shape, pose, size, color});
  }
  void mesh(const Mesh&, const Pose&, const Vec3&, Color) override { ++meshes; }
  void image(const Texture&, const Pose& pose, double width, double height, double, bool,
             bool) override {
    image_pose = pose;
    image_size = {width, height};
    ++images;
  }
  void label(const Vec3&, std::string_view text, Color, double, Align) override {
    labels.emplace_back(text);
  }
  void text(const Vec3&, std::string_view text, Color, double) override {
    labels.emplace_back(text);
  }
  void overlay(const Texture&, double, double, double, double, double) override { ++overlays; }
  void caption(double, double, std::string_view text, Color, double) override {
    labels.emplace_back(text);
  }
  [[nodiscard]] double pixel_size(const Vec3&) const override { return 0.01; }
  [[nodiscard]] double aspect() const override { return 4.0 / 3; }

  std::vector<Vec3> line_ends;
  std::vector<Solid> solids;
  std::vector<std::string> labels;
  std::size_t triangle_corners = 0;
  std::size_t point_count = 0;
  std::size_t meshes = 0;
  std::size_t images = 0;
  std::size_t overlays = 0;
  Pose image_pose = Pose::Identity();
  Vec2 image_size{0, 0};
};

}  // namespace hyphos::view::testing
