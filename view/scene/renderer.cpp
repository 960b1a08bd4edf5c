#include "view/scene/renderer.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "view/scene/frame_painter.hpp"
#include "view/scene/gl.hpp"
#include "view/scene/retained.hpp"
#include "view/scene/surfaces.hpp"

namespace hyphos::view {
namespace {

// A stride is at most 2,048 bytes in OpenGL 4.4: 128 points or 64 lines.
constexpr std::size_t kMostStride = 128;
constexpr std::size_t kSlice = 1U << 16U;         // items between two looks at the clock
constexpr std::size_t kLeastMoving = 20'000;      // points of a moving picture
constexpr GLuint64 kLongestWait = 1'000'000'000;  // ns, for one slice
constexpr double kMovingTarget = 35;              // ms for the points of a moving picture

double elapsed_ms(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - since)
      .count();
}

class GlRenderer final : public Renderer {
 public:
  Result<void> start(GlLoader loader, const RendererOptions& options) {
    if (auto good = gl_.load(loader); !good) return good.error();
    auto programs = RetainedPrograms::build(gl_);
    if (!programs) return programs.error();
    programs_ = std::move(*programs);
    auto resources = FrameResources::build(gl_);
    if (!resources) return resources.error();
    resources_ = std::move(*resources);
    gl_.uploads = 0;
    set_options(options);
    return success();
  }

  void set_options(const RendererOptions& options) override {
    options_ = options;
    moving_points_ = options.moving_points;
    erased_ = true;
  }
  [[nodiscard]] const RendererOptions& options() const override { return options_; }

  std::unique_ptr<Retained> retained() override { return retained_of(0); }
  Store& part(std::size_t index) override {
    if (index == 0) return *this;
    while (parts_.size() < index) {
      parts_.push_back(std::make_unique<PartStore>(*this, parts_.size() + 1));
    }
    return *parts_[index - 1];
  }
  void set_ghosts(std::span<const Ghost> by_part) override {
    if (std::ranges::equal(ghosts_, by_part)) return;
    ghosts_.assign(by_part.begin(), by_part.end());
    erased_ = true;
  }
  std::unique_ptr<Texture> texture() override { return std::make_unique<GlTexture>(gl_); }
  std::unique_ptr<Mesh> mesh(std::span<const MeshVertex> triangles,
                             const Texture* texture) override {
    return std::make_unique<GlMesh>(gl_, triangles, static_cast<const GlTexture*>(texture));
  }
  [[nodiscard]] std::uint64_t uploads() const override { return gl_.uploads; }

  void draw(std::span<const Camera> panes,
            const std::function<void(Painter&, std::size_t)>& paint) override {
    if (panes.empty()) return;
    const int width = panes.front().width() * static_cast<int>(panes.size());
    const int height = panes.front().height();
    if (!still_.resize(gl_, width, height) || !final_.resize(gl_, width, height)) return;
    ++counters_.frames;
    cameras_.assign(panes.begin(), panes.end());
    gl_.BlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
    gl_.Enable(GL_PROGRAM_POINT_SIZE);
    draw_retained();
    gl_.BindFramebuffer(GL_READ_FRAMEBUFFER, still_.framebuffer.get());
    gl_.BindFramebuffer(GL_DRAW_FRAMEBUFFER, final_.framebuffer.get());
    gl_.BlitFramebuffer(0, 0, width, height, 0, 0, width, height,
                        GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT, GL_NEAREST);
    gl_.BindFramebuffer(GL_FRAMEBUFFER, final_.framebuffer.get());
    for (std::size_t i = 0; i < cameras_.size() && paint; ++i) {
      use_pane(i);
      FramePainter painter(gl_, *resources_, programs_, cameras_[i], views_[i]);
      paint(painter, i);
      painter.flush();
    }
    gl_.BindVertexArray(0);
    gl_.UseProgram(0);
    gl_.Disable(GL_DEPTH_TEST);
    gl_.Disable(GL_BLEND);
    gl_.BindFramebuffer(GL_FRAMEBUFFER, 0);
  }

  // Points that came after a complete picture are a change, and no refinement: they can wait.
  [[nodiscard]] bool refining() const override { return !complete_ && incomplete(); }
  [[nodiscard]] bool changed() const override {
    return erased_ || incomplete() || std::ranges::any_of(sets_, &GlRetained::stale) ||
           (aged() && *redraw_in_ms() <= 0);
  }
  [[nodiscard]] std::optional<double> redraw_in_ms() const override {
    if (!aged()) return std::nullopt;
    // Pictures of files do not depend on the time.
    if (options_.moving_points == 0 || cost_items_ == 0) return 0;
    const double grown = static_cast<double>(items()) / static_cast<double>(cost_items_);
    return cost_ms_ * grown * options_.aged_share - elapsed_ms(started_);
  }
  [[nodiscard]] unsigned texture() const override { return final_.color.get(); }

  [[nodiscard]] std::optional<Vec3> point_at(double x, double y) const override {
    if (!final_.framebuffer) return std::nullopt;
    const int column = static_cast<int>(std::floor(x));
    const int row = final_.height - 1 - static_cast<int>(std::floor(y));
    // The nearest of a few pixels around, as lines and points are thin.
    constexpr int kReach = 3;
    const int left = std::max(column - kReach, 0);
    const int bottom = std::max(row - kReach, 0);
    const int wide = std::min(column + kReach + 1, final_.width) - left;
    const int high = std::min(row + kReach + 1, final_.height) - bottom;
    if (wide <= 0 || high <= 0) return std::nullopt;
    std::vector<float> depths(static_cast<std::size_t>(wide) * static_cast<std::size_t>(high));
    gl_.BindFramebuffer(GL_FRAMEBUFFER, final_.framebuffer.get());
    gl_.PixelStorei(GL_PACK_ALIGNMENT, 1);
    gl_.ReadPixels(left, bottom, wide, high, GL_DEPTH_COMPONENT, GL_FLOAT, depths.data());
    gl_.BindFramebuffer(GL_FRAMEBUFFER, 0);
    const auto nearest = std::ranges::min_element(depths);
    if (*nearest >= 1) return std::nullopt;
    const std::size_t pane = std::min(static_cast<std::size_t>(std::max(x, 0.0)) /
                                          static_cast<std::size_t>(cameras_.front().width()),
                                      cameras_.size() - 1);
    const double left_edge = static_cast<double>(pane) * cameras_[pane].width();
    return cameras_[pane].unproject(x - left_edge, y, *nearest);
  }

  [[nodiscard]] std::vector<std::uint8_t> read() const override {
    gl_.BindFramebuffer(GL_FRAMEBUFFER, final_.framebuffer.get());
    auto rows = read_window(0, 0, final_.width, final_.height);
    gl_.BindFramebuffer(GL_FRAMEBUFFER, 0);
    return rows;
  }
  [[nodiscard]] std::vector<std::uint8_t> read_window(int left, int bottom, int width,
                                                      int height) const override {
    const auto row = static_cast<std::size_t>(std::max(width, 0)) * 4;
    std::vector<std::uint8_t> upside(row * static_cast<std::size_t>(std::max(height, 0)));
    if (upside.empty()) return upside;
    gl_.PixelStorei(GL_PACK_ALIGNMENT, 1);
    gl_.ReadPixels(left, bottom, width, height, GL_RGBA, GL_UNSIGNED_BYTE, upside.data());
    std::vector<std::uint8_t> rows;
    rows.reserve(upside.size());
    for (std::size_t at = upside.size(); at > 0; at -= row) {
      rows.insert(rows.end(), upside.begin() + static_cast<std::ptrdiff_t>(at - row),
                  upside.begin() + static_cast<std::ptrdiff_t>(at));
    }
    return rows;
  }

  [[nodiscard]] std::size_t bytes() const override { return still_.bytes() + final_.bytes(); }
  [[nodiscard]] RenderCounters counters() const override {
    RenderCounters now = counters_;
    now.uploads = gl_.uploads;
    for (const GlRetained* each : sets_) now.points += each->points();
    return now;
  }
  [[nodiscard]] std::string description() const override { return gl_.description(); }

 private:
  [[nodiscard]] PassView pass_view(const Camera& camera) const {
    PassView view;
    view.eye_from_fixed = camera.view();
    const Mat4 projection = camera.projection();
    view.clip_from_eye = projection.cast<float>();
    view.width = camera.width();
    view.height = camera.height();
    view.density = options_.density;
    view.px_per_slope = static_cast<float>(projection(1, 1) * camera.height() / 2);
    view.perspective = !camera.orthographic();
    return view;
  }

  std::unique_ptr<GlRetained> retained_of(std::size_t part) {
    auto made = std::make_unique<GlRetained>(gl_, programs_, part, [this](GlRetained* gone) {
      std::erase(sets_, gone);
      erased_ = true;
    });
    sets_.push_back(made.get());
    return made;
  }

  /// The store of the things of one part.
  class PartStore final : public Store {
   public:
    PartStore(GlRenderer& renderer, std::size_t part) : renderer_(renderer), part_(part) {}
    std::unique_ptr<Retained> retained() override { return renderer_.retained_of(part_); }
    std::unique_ptr<Texture> texture() override { return renderer_.texture(); }
    std::unique_ptr<Mesh> mesh(std::span<const MeshVertex> triangles,
                               const Texture* texture) override {
      return renderer_.mesh(triangles, texture);
    }
    [[nodiscard]] std::uint64_t uploads() const override { return renderer_.uploads(); }

   private:
    GlRenderer& renderer_;
    std::size_t part_;
  };

  void use_pane(std::size_t pane) {
    const PassView& view = views_[pane];
    gl_.Viewport(static_cast<int>(pane) * view.width, 0, view.width, view.height);
  }

  /// Prepares the pane of a set. The set looks as its part.
  PassView view_of(const GlRetained& set) {
    const std::size_t pane = std::min(set.part(), views_.size() - 1);
    use_pane(pane);
    PassView view = views_[pane];
    if (set.part() < ghosts_.size()) view.ghost = ghosts_[set.part()];
    return view;
  }

  void draw_retained() {
    std::vector<PassView> views;
    views.reserve(cameras_.size());
    for (const Camera& each : cameras_) views.push_back(pass_view(each));
    const auto same = [](const PassView& a, const PassView& b) {
      return a.width == b.width && a.height == b.height && a.eye_from_fixed == b.eye_from_fixed &&
             a.clip_from_eye == b.clip_from_eye;
    };
    const bool moved = !std::ranges::equal(views, views_, same);
    views_ = std::move(views);
    const bool stale = erased_ || std::ranges::any_of(sets_, &GlRetained::stale) ||
                       (aged() && !refining() && *redraw_in_ms() <= 0);
    gl_.BindFramebuffer(GL_FRAMEBUFFER, still_.framebuffer.get());
    gl_.DepthMask(GL_TRUE);
    gl_.Enable(GL_DEPTH_TEST);
    gl_.DepthFunc(GL_LESS);
    if (moved || stale) {
      start_picture();
      erased_ = false;
    } else {
      refine();
    }
  }

  [[nodiscard]] bool incomplete() const {
    return std::ranges::any_of(sets_, [](const GlRetained* each) { return each->incomplete(); });
  }
  [[nodiscard]] std::size_t items() const {
    std::size_t sum = 0;
    for (const GlRetained* each : sets_) sum += each->items();
    return sum;
  }
  [[nodiscard]] bool aged() const { return std::ranges::any_of(sets_, &GlRetained::aged); }

  void start_picture() {
    const auto start = std::chrono::steady_clock::now();
    started_ = start;
    cost_ms_ = 0;
    complete_ = false;
    ++counters_.full_redraws;
    const Color back = options_.background;
    gl_.ClearColor(static_cast<float>(back.r) / 255, static_cast<float>(back.g) / 255,
                   static_cast<float>(back.b) / 255, 1);
    gl_.Clear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    for (GlRetained* each : sets_) each->start_picture();
    const std::size_t items = this->items();
    cost_items_ = items;
    if (items == 0) return;
    const bool all = options_.moving_points == 0;
    const std::size_t stride =
        all ? 1
            : std::clamp<std::size_t>((items + moving_points_ - 1) / moving_points_, 1,
                                      kMostStride);
    std::size_t drawn = 0;
    for (GlRetained* each : sets_) drawn += each->draw_part(view_of(*each), stride);
    counters_.points_drawn += drawn;
    complete_ = !incomplete();
    if (all || items < kLeastMoving) return;
    // The number of points follows the speed of this machine.
    gl_.Finish();
    cost_ms_ = elapsed_ms(start);
    const double factor = std::clamp(kMovingTarget / std::max(cost_ms_, 0.1), 0.5, 1.5);
    const double wanted = static_cast<double>(std::min(drawn, moving_points_)) * factor;
    if (factor < 1 || drawn * 2 > moving_points_) {
      moving_points_ = std::max(kLeastMoving, static_cast<std::size_t>(wanted));
    }
  }

  void refine() {
    const auto start = std::chrono::steady_clock::now();
    const bool done = draw_missing(start);
    if (!complete_) {
      cost_ms_ += elapsed_ms(start);
      cost_items_ = items();
    }
    complete_ = done;
  }

  /// False if the time of this frame was too short. While the driver draws a slice, the next one
  /// is prepared, so that a driver without a graphics card uses all processors.
  bool draw_missing(std::chrono::steady_clock::time_point start) {
    GLsync before = nullptr;
    bool late = false;
    while (!late && incomplete()) {
      for (GlRetained* each : sets_) {
        if (late || !each->incomplete()) continue;
        counters_.points_drawn += each->draw_missing(view_of(*each), kSlice);
        const GLsync fence = gl_.FenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
        wait_for(before);
        before = fence;
        late = elapsed_ms(start) > options_.refine_ms;
      }
    }
    wait_for(before);
    return !incomplete();
  }
  void wait_for(GLsync fence) {
    if (fence == nullptr) return;
    gl_.ClientWaitSync(fence, GL_SYNC_FLUSH_COMMANDS_BIT, kLongestWait);
    gl_.DeleteSync(fence);
  }

  // Sets, meshes and textures of displays use gl_ when they are destroyed, so it comes first.
  mutable Gl gl_;
  RendererOptions options_;
  RetainedPrograms programs_;
  std::unique_ptr<FrameResources> resources_;
  GlTarget still_;
  GlTarget final_;
  std::vector<GlRetained*> sets_;
  std::vector<std::unique_ptr<PartStore>> parts_;  // from part 1
  std::vector<Ghost> ghosts_;                      // by part
  std::vector<Camera> cameras_;                    // of the last picture, by pane
  std::vector<PassView> views_;
  std::size_t moving_points_ = 0;
  bool erased_ = true;
  bool complete_ = true;  // all points of the last start_picture() are drawn
  std::chrono::steady_clock::time_point started_;  // of the picture
  double cost_ms_ = 0;                             // of the picture until it was complete
  std::size_t cost_items_ = 0;                     // points and lines in it
  RenderCounters counters_;
};

}  // namespace

Result<std::unique_ptr<Renderer>> Renderer::open(GlLoader loader, RendererOptions options) {
  auto made = std::make_unique<GlRenderer>();
  if (auto good = made->start(loader, options); !good) return good.error();
  return std::unique_ptr<Renderer>(std::move(made));
}

}  // namespace hyphos::view
