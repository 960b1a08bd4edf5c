#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "view/scene/ghost.hpp"
#include "view/scene/gl.hpp"
#include "view/scene/store.hpp"

namespace hyphos::view {

/// The projection of one pass.
struct PassView {
  Mat4 eye_from_fixed;
  Mat4f clip_from_eye;
  int width = 0;  ///< px
  int height = 0;
  double density = 1;
  float px_per_slope = 1;  ///< size of 1 m at a depth of 1 m, orthographic: at any depth, px
  bool perspective = true;
  Ghost ghost = {};
};

/// The programs and vertex arrays that all retained sets share.
struct RetainedPrograms {
  GlProgram points;
  GlProgram opaque_squares;  // points of the usual style
  GlProgram lines;
  GlName vertex_array;
  GlName maps;  // texture with one row for each ColorMap

  static Result<RetainedPrograms> build(Gl& gl);
};

/// A Retained set in blocks of one buffer each.
///
/// A block has items (points, or lines of two vertices) of consecutive batches, with positions
/// relative to its origin. Batches are shuffled when they come, so that any part of a block is a
/// uniform sample of it. A stride in vertex items draws such a part without a second copy.
/// Invariant of a block: first <= drawn <= end <= capacity. Items in [first, drawn) are in the
/// retained picture.
class GlRetained final : public Retained {
 public:
  /// `gone` is called by the destructor.
  GlRetained(Gl& gl, const RetainedPrograms& programs, std::size_t part,
             std::function<void(GlRetained*)> gone);
  ~GlRetained() override;

  void append(std::span<const Vertex> points, const Vec3& origin, std::int64_t time_ns) override;
  void append(std::span<const ValuePoint> points, const Vec3& origin,
              std::int64_t time_ns) override;
  void append_lines(std::span<const Vertex> pairs, const Vec3& origin,
                    std::int64_t time_ns) override;
  void drop_oldest() override;
  void drop_before(std::int64_t time_ns) override;
  void clear() override;
  void set_style(const PointStyle& style) override;
  void set_line_width(double px) override;
  void set_visible(bool visible) override;
  void move(const Pose& new_from_old) override;
  [[nodiscard]] std::size_t batches() const override;
  [[nodiscard]] std::size_t points() const override;
  [[nodiscard]] std::size_t bytes() const override;
  [[nodiscard]] std::int64_t oldest_ns() const override;
  [[nodiscard]] Bounds bounds() const override;
  [[nodiscard]] std::pair<float, float> value_range() const override;
  [[nodiscard]] std::optional<Nearest> nearest(const Vec3& from, const Vec3& direction,
                                               double radius) const override;

  // For the renderer.
  [[nodiscard]] std::size_t part() const { return part_; }
  /// True if the retained picture shows things that are gone or look different.
  [[nodiscard]] bool stale() const { return stale_; }
  /// True if the retained picture shows points that have left since.
  [[nodiscard]] bool aged() const { return aged_; }
  /// True if items are not yet in the retained picture.
  [[nodiscard]] bool incomplete() const;
  /// Number of visible items.
  [[nodiscard]] std::size_t items() const;
  /// The picture was erased: no item is in it.
  void start_picture();
  /// Draws every `stride`th item of each block. With 1, the set is then complete.
  std::size_t draw_part(const PassView& view, std::size_t stride);
  /// Draws at most `most` of the missing items. Returns their number.
  std::size_t draw_missing(const PassView& view, std::size_t most);

 private:
  enum class Kind : std::uint8_t { colored, valued, lines };
  struct Batch {
    std::uint32_t end = 0;  // index after the last item
    std::int64_t time_ns = 0;
    Bounds bounds;  // in the frame of the block
    float low = 0;  // of the values
    float high = 0;
  };
  struct Block {
    Kind kind = Kind::colored;
    GlName buffer;
    std::uint32_t capacity = 0;
    std::uint32_t first = 0;
    std::uint32_t drawn = 0;
    std::uint32_t end = 0;
    Pose fixed_from_block = Pose::Identity();
    bool moved = false;  // no more batches may join
    std::deque<Batch> batches;
  };

  [[nodiscard]] static std::size_t item_bytes(Kind kind) { return kind == Kind::lines ? 32 : 16; }
  void add(Kind kind, std::span<const std::byte> items, const Vec3& origin, std::int64_t time_ns);
  void add_piece(Kind kind, std::span<const std::byte> items, const Vec3& origin,
                 std::int64_t time_ns);
  Block& block_for(Kind kind, std::uint32_t count, const Vec3& origin);
  [[nodiscard]] const GlProgram& program_of(Kind kind) const;
  void begin(const PassView& view, Kind kind) const;
  void draw(const PassView& view, const Block& block, std::uint32_t first, std::uint32_t count,
            std::size_t stride) const;
  void pop_batch();

  Gl& gl_;
  const RetainedPrograms& programs_;
  const std::size_t part_;
  std::function<void(GlRetained*)> gone_;
  std::deque<Block> blocks_;
  std::optional<Block> spare_;  // emptied by clear(), for the next batch
  PointStyle style_;
  double line_width_ = 1.5;
  bool visible_ = true;
  bool stale_ = false;
  bool aged_ = false;
};

}  // namespace hyphos::view
