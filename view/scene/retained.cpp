#include "view/scene/retained.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <numeric>

#include "view/scene/shaders.hpp"

namespace hyphos::view {
namespace {

constexpr std::uint32_t kLeastBlock = 4'096;     // items
constexpr std::uint32_t kMostBlock = 1U << 18U;  // items: 4 MiB of points
constexpr double kFarFromOrigin = 1'000;         // m: single precision has 0.06 mm there
constexpr std::size_t kWholeSet = 5'000;         // items that are always drawn completely
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

// A step through `count` items that visits each once, far apart from the one before (the golden
// ratio). So every run of items is spread evenly over the batch.
std::size_t shuffle_step(std::size_t count) {
  auto step = static_cast<std::size_t>(static_cast<double>(count) * 0.6180339887498949) | 1U;
  while (std::gcd(step, count) != 1) ++step;
  return step % std::max<std::size_t>(count, 1);
}

void add_color_maps(Gl& gl, GlName& texture) {
  constexpr int kWidth = 256;
  constexpr std::array kMaps = {ColorMap::turbo, ColorMap::viridis, ColorMap::gray};
  std::vector<Color> rows;
  for (const ColorMap map : kMaps) {
    for (int i = 0; i < kWidth; ++i) rows.push_back(map_color(map, i / (kWidth - 1.0)));
  }
  texture = make_texture(gl);
  gl.BindTexture(GL_TEXTURE_2D, texture.get());
  gl.TexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, kWidth, kMaps.size(), 0, GL_RGBA, GL_UNSIGNED_BYTE,
                rows.data());
  gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
}

float float_at(const std::byte* from) {
  float value = 0;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

}  // namespace

Result<RetainedPrograms> RetainedPrograms::build(Gl& gl) {
  RetainedPrograms made;
  auto points = GlProgram::build(gl, "points", shaders::kPointVertex, shaders::kPointFragment);
  if (!points) return points.error();
  made.points = std::move(*points);
  auto opaque =
      GlProgram::build(gl, "opaque squares", shaders::kPointVertex, shaders::kOpaqueSquareFragment);
  if (!opaque) return opaque.error();
  made.opaque_squares = std::move(*opaque);
  auto lines = GlProgram::build(gl, "lines", shaders::kLineVertex, shaders::kLineFragment);
  if (!lines) return lines.error();
  made.lines = std::move(*lines);
  made.vertex_array = make_vertex_array(gl);
  add_color_maps(gl, made.maps);
  return made;
}

GlRetained::GlRetained(Gl& gl, const RetainedPrograms& programs, std::size_t part,
                       std::function<void(GlRetained*)> gone)
    : gl_(gl), programs_(programs), part_(part), gone_(std::move(gone)) {}

GlRetained::~GlRetained() { gone_(this); }

void GlRetained::append(std::span<const Vertex> points, const Vec3& origin, std::int64_t time_ns) {
  add(Kind::colored, std::as_bytes(points), origin, time_ns);
}

void GlRetained::append(std::span<const ValuePoint> points, const Vec3& origin,
                        std::int64_t time_ns) {
  add(Kind::valued, std::as_bytes(points), origin, time_ns);
}

void GlRetained::append_lines(std::span<const Vertex> pairs, const Vec3& origin,
                              std::int64_t time_ns) {
  add(Kind::lines, std::as_bytes(pairs.first(pairs.size() / 2 * 2)), origin, time_ns);
}

void GlRetained::add(Kind kind, std::span<const std::byte> items, const Vec3& origin,
                     std::int64_t time_ns) {
  const std::size_t most = kMostBlock * item_bytes(kind);
  // A huge batch becomes several of the same time.
  for (std::size_t at = 0; at < items.size(); at += most) {
    add_piece(kind, items.subspan(at, std::min(most, items.size() - at)), origin, time_ns);
  }
}

GlRetained::Block& GlRetained::block_for(Kind kind, std::uint32_t count, const Vec3& origin) {
  if (!blocks_.empty()) {
    Block& last = blocks_.back();
    const double away = (last.fixed_from_block.translation() - origin).norm();
    if (last.kind == kind && !last.moved && last.end + count <= last.capacity &&
        away < kFarFromOrigin) {
      return last;
    }
  }
  if (spare_ && spare_->kind == kind && count <= spare_->capacity) {
    Block& again = blocks_.emplace_back(std::move(*spare_));
    spare_.reset();
    again.fixed_from_block.translation() = origin;
    return again;
  }
  spare_.reset();
  const std::uint32_t before = blocks_.empty() ? 0 : blocks_.back().capacity;
  Block& made = blocks_.emplace_back();
  made.kind = kind;
  made.capacity = std::max(count, std::clamp(before * 2, kLeastBlock, kMostBlock));
  made.fixed_from_block.translation() = origin;
  made.buffer = make_buffer(gl_);
  gl_.BindBuffer(GL_ARRAY_BUFFER, made.buffer.get());
  gl_.BufferData(GL_ARRAY_BUFFER, static_cast<GLsizeiptr>(made.capacity * item_bytes(kind)),
                 nullptr, GL_DYNAMIC_DRAW);
  return made;
}

void GlRetained::add_piece(Kind kind, std::span<const std::byte> items, const Vec3& origin,
                           std::int64_t time_ns) {
  const std::size_t size = item_bytes(kind);
  const auto count = static_cast<std::uint32_t>(items.size() / size);
  if (count == 0) return;
  Block& block = block_for(kind, count, origin);
  const Vec3f shift = (origin - block.fixed_from_block.translation()).cast<float>();
  std::vector<std::byte> shuffled(count * size);
  Bounds bounds;
  Batch batch;
  batch.low = std::numeric_limits<float>::max();
  batch.high = std::numeric_limits<float>::lowest();
  Vec3f least = Vec3f::Constant(std::numeric_limits<float>::max());
  Vec3f largest = -least;
  const std::size_t step = shuffle_step(count);
  for (std::size_t i = 0, from = 0; i < count; ++i, from = (from + step) % count) {
    std::byte* const to = shuffled.data() + i * size;
    std::memcpy(to, items.data() + from * size, size);
    for (std::size_t vertex = 0; vertex < size; vertex += sizeof(Vertex)) {
      Vec3f at;
      std::memcpy(at.data(), to + vertex, sizeof(at));
      at += shift;
      std::memcpy(to + vertex, at.data(), sizeof(at));
      least = least.cwiseMin(at);
      largest = largest.cwiseMax(at);
    }
    if (kind == Kind::valued) {
      const float value = float_at(to + offsetof(ValuePoint, value));
      batch.low = std::min(batch.low, value);
      batch.high = std::max(batch.high, value);
    }
  }
  batch.bounds.add(least.cast<double>());
  batch.bounds.add(largest.cast<double>());
  gl_.BindBuffer(GL_ARRAY_BUFFER, block.buffer.get());
  gl_.BufferSubData(GL_ARRAY_BUFFER, static_cast<GLintptr>(block.end * size),
                    static_cast<GLsizeiptr>(shuffled.size()), shuffled.data());
  ++gl_.uploads;
  block.end += count;
  batch.end = block.end;
  batch.time_ns = time_ns;
  block.batches.push_back(batch);
}

void GlRetained::pop_batch() {
  Block& block = blocks_.front();
  block.first = block.batches.front().end;
  block.drawn = std::max(block.drawn, block.first);
  block.batches.pop_front();
  if (block.batches.empty()) blocks_.pop_front();
  aged_ = true;
}

void GlRetained::drop_oldest() {
  if (!blocks_.empty()) pop_batch();
}

void GlRetained::drop_before(std::int64_t time_ns) {
  while (!blocks_.empty() && blocks_.front().batches.front().time_ns < time_ns) pop_batch();
}

void GlRetained::clear() {
  if (blocks_.empty()) return;
  stale_ = true;
  // The newest block is used again, as one cloud often follows another of the same size.
  blocks_.erase(blocks_.begin(), blocks_.end() - 1);
  Block& last = blocks_.back();
  if (last.moved || last.end * 4 < last.capacity) return blocks_.clear();
  Block kept;
  kept.kind = last.kind;
  kept.capacity = last.capacity;
  kept.buffer = std::move(last.buffer);
  blocks_.clear();
  spare_ = std::move(kept);
}

void GlRetained::set_style(const PointStyle& style) {
  if (style == style_) return;
  style_ = style;
  stale_ = stale_ || !blocks_.empty();
}

void GlRetained::set_line_width(double px) {
  if (px == line_width_) return;
  line_width_ = px;
  stale_ = stale_ || !blocks_.empty();
}

void GlRetained::set_visible(bool visible) {
  if (visible == visible_) return;
  visible_ = visible;
  stale_ = stale_ || !blocks_.empty();
}

void GlRetained::move(const Pose& new_from_old) {
  for (Block& block : blocks_) {
    block.fixed_from_block = new_from_old * block.fixed_from_block;
    block.moved = true;
  }
  stale_ = stale_ || !blocks_.empty();
}

std::size_t GlRetained::batches() const {
  std::size_t sum = 0;
  for (const Block& block : blocks_) sum += block.batches.size();
  return sum;
}

std::size_t GlRetained::points() const {
  std::size_t sum = 0;
  for (const Block& block : blocks_) {
    sum += std::size_t{block.end - block.first} * (block.kind == Kind::lines ? 2U : 1U);
  }
  return sum;
}

std::size_t GlRetained::bytes() const {
  std::size_t sum = spare_ ? spare_->capacity * item_bytes(spare_->kind) : 0;
  for (const Block& block : blocks_) {
    sum += block.capacity * item_bytes(block.kind) + sizeof(Block) +
           block.batches.size() * sizeof(Batch);
  }
  return sum;
}

std::int64_t GlRetained::oldest_ns() const {
  return blocks_.empty() ? kNever : blocks_.front().batches.front().time_ns;
}

Bounds GlRetained::bounds() const {
  Bounds all;
  for (const Block& block : blocks_) {
    Bounds inside;
    for (const Batch& batch : block.batches) inside.add(batch.bounds);
    for (int corner = 0; corner < 8; ++corner) {
      const Vec3 at((corner & 1) != 0 ? inside.max.x() : inside.min.x(),
                    (corner & 2) != 0 ? inside.max.y() : inside.min.y(),
                    (corner & 4) != 0 ? inside.max.z() : inside.min.z());
      all.add(block.fixed_from_block * at);
    }
  }
  return all;
}

std::pair<float, float> GlRetained::value_range() const {
  std::pair range{std::numeric_limits<float>::max(), std::numeric_limits<float>::lowest()};
  for (const Block& block : blocks_) {
    if (block.kind != Kind::valued) continue;
    for (const Batch& batch : block.batches) {
      range.first = std::min(range.first, batch.low);
      range.second = std::max(range.second, batch.high);
    }
  }
  return range.first <= range.second ? range : std::pair{0.0F, 0.0F};
}

std::optional<Retained::Nearest> GlRetained::nearest(const Vec3& from, const Vec3& direction,
                                                     double radius) const {
  std::optional<Nearest> best;
  std::vector<std::byte> bytes;
  for (const Block& block : blocks_) {
    if (block.kind == Kind::lines) continue;
    bytes.resize((block.end - block.first) * sizeof(Vertex));
    gl_.BindBuffer(GL_ARRAY_BUFFER, block.buffer.get());
    gl_.GetBufferSubData(GL_ARRAY_BUFFER, static_cast<GLintptr>(block.first * sizeof(Vertex)),
                         static_cast<GLsizeiptr>(bytes.size()), bytes.data());
    const Pose block_from_fixed = block.fixed_from_block.inverse();
    const Vec3f eye = (block_from_fixed * from).cast<float>();
    const Vec3f along = (block_from_fixed.linear() * direction).cast<float>();
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(Vertex)) {
      Vec3f point;
      std::memcpy(point.data(), bytes.data() + at, sizeof(point));
      const Vec3f arm = point - eye;
      const double distance = arm.dot(along);
      if (distance <= 0 || (best && distance >= best->distance)) continue;
      if ((arm - along * static_cast<float>(distance)).norm() > radius * distance) continue;
      Nearest found;
      found.point = block.fixed_from_block * point.cast<double>();
      found.distance = distance;
      std::memcpy(block.kind == Kind::valued ? static_cast<void*>(&found.value) : &found.color,
                  bytes.data() + at + offsetof(Vertex, color), sizeof(Color));
      best = found;
    }
  }
  return best;
}

bool GlRetained::incomplete() const {
  return visible_ &&
         std::ranges::any_of(blocks_, [](const Block& each) { return each.drawn < each.end; });
}

std::size_t GlRetained::items() const {
  if (!visible_) return 0;
  std::size_t sum = 0;
  for (const Block& block : blocks_) sum += block.end - block.first;
  return sum;
}

void GlRetained::start_picture() {
  stale_ = aged_ = false;
  for (Block& block : blocks_) block.drawn = block.first;
}

const GlProgram& GlRetained::program_of(Kind kind) const {
  if (kind == Kind::lines) return programs_.lines;
  return style_.round || style_.alpha < 1 ? programs_.points : programs_.opaque_squares;
}

void GlRetained::begin(const PassView& view, Kind kind) const {
  gl_.BindVertexArray(programs_.vertex_array.get());
  const bool lines = kind == Kind::lines;
  for (GLuint each = 0; each < 4; ++each) {
    const bool used = lines || each == 0 || each == (kind == Kind::colored ? 1U : 2U);
    used ? gl_.EnableVertexAttribArray(each) : gl_.DisableVertexAttribArray(each);
    gl_.VertexAttribDivisor(each, lines ? 1 : 0);
  }
  const GlProgram& program = program_of(kind);
  program.use();
  program.set("clip_from_eye", view.clip_from_eye);
  program.set("ghost", view.ghost.tint.with_alpha(view.ghost.amount));
  if (lines) {
    gl_.Enable(GL_BLEND);
    program.set("alpha", static_cast<float>(view.ghost.alpha));
    program.set("half_size", static_cast<float>(view.width) / 2,
                static_cast<float>(view.height) / 2);
    program.set("half_width", static_cast<float>(line_width_ * view.density / 2));
    return;
  }
  gl_.Disable(GL_BLEND);
  gl_.ActiveTexture(GL_TEXTURE0);
  gl_.BindTexture(GL_TEXTURE_2D, programs_.maps.get());
  program.set("maps", 0);
  // Blocks of coloured points have no values, and the other way round.
  PointStyle::Coloring coloring = style_.coloring;
  if (coloring == PointStyle::Coloring::value && kind == Kind::colored) {
    coloring = PointStyle::Coloring::rgb;
  } else if (coloring == PointStyle::Coloring::rgb && kind == Kind::valued) {
    coloring = PointStyle::Coloring::value;
  }
  program.set("coloring", static_cast<int>(coloring));
  program.set("flat_color", style_.flat);
  const double range = style_.high - style_.low;
  program.set("low", static_cast<float>(style_.low));
  program.set("per_range", std::abs(range) > 1e-12 ? static_cast<float>(1 / range) : 0.0F);
  program.set("map_row", (static_cast<float>(style_.map) + 0.5F) / 3);
  program.set("size_px", style_.size_in_m ? 0.0F : static_cast<float>(style_.size * view.density));
  program.set("size_m", static_cast<float>(style_.size));
  program.set("px_per_slope", view.px_per_slope);
  program.set("perspective", view.perspective ? 1.0F : 0.0F);
  if (&program == &programs_.opaque_squares) return;
  program.set("is_round", style_.round ? 1 : 0);
  program.set("alpha", static_cast<float>(style_.alpha * view.ghost.alpha));
}

void GlRetained::draw(const PassView& view, const Block& block, std::uint32_t first,
                      std::uint32_t count, std::size_t stride) const {
  if (count == 0) return;
  begin(view, block.kind);
  const bool lines = block.kind == Kind::lines;
  const GlProgram& program = program_of(block.kind);
  const Mat4 eye_from_block = view.eye_from_fixed * block.fixed_from_block.matrix();
  program.set("eye_from_block", Mat4f(eye_from_block.cast<float>()));
  gl_.BindBuffer(GL_ARRAY_BUFFER, block.buffer.get());
  const std::size_t size = item_bytes(block.kind);
  const std::size_t at = first * size;
  const auto step = static_cast<GLsizei>(stride * size);
  gl_.VertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, step, offset_pointer(at));
  gl_.VertexAttribPointer(1, 4, GL_UNSIGNED_BYTE, GL_TRUE, step, offset_pointer(at + 12));
  const auto drawn = static_cast<GLsizei>((count + stride - 1) / stride);
  if (lines) {
    gl_.VertexAttribPointer(2, 3, GL_FLOAT, GL_FALSE, step, offset_pointer(at + 16));
    gl_.VertexAttribPointer(3, 4, GL_UNSIGNED_BYTE, GL_TRUE, step, offset_pointer(at + 28));
    gl_.DrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, drawn);
    return;
  }
  gl_.VertexAttribPointer(2, 1, GL_FLOAT, GL_FALSE, step, offset_pointer(at + 12));
  const Eigen::Vector4d plane = block.fixed_from_block.matrix().row(std::clamp(style_.axis, 0, 2));
  gl_.Uniform4f(program.at("axis_plane"), static_cast<float>(plane.x()),
                static_cast<float>(plane.y()), static_cast<float>(plane.z()),
                static_cast<float>(plane.w()));
  gl_.DrawArrays(GL_POINTS, 0, drawn);
}

std::size_t GlRetained::draw_part(const PassView& view, std::size_t stride) {
  if (!visible_) return 0;
  if (items() <= kWholeSet) stride = 1;
  std::size_t drawn = 0;
  for (Block& block : blocks_) {
    const std::size_t step = block.kind == Kind::lines ? std::min<std::size_t>(stride, 64) : stride;
    draw(view, block, block.first, block.end - block.first, step);
    drawn += (block.end - block.first + step - 1) / step;
    if (step == 1) block.drawn = block.end;
  }
  return drawn;
}

std::size_t GlRetained::draw_missing(const PassView& view, std::size_t most) {
  if (!visible_) return 0;
  std::size_t drawn = 0;
  // The newest first, because a user waits for it.
  for (auto block = blocks_.rbegin(); block != blocks_.rend() && drawn < most; ++block) {
    const auto count =
        static_cast<std::uint32_t>(std::min<std::size_t>(block->end - block->drawn, most - drawn));
    draw(view, *block, block->drawn, count, 1);
    block->drawn += count;
    drawn += count;
  }
  return drawn;
}

}  // namespace hyphos::view
