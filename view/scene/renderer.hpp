#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "hyphos/result.hpp"
#include "view/scene/camera.hpp"
#include "view/scene/ghost.hpp"
#include "view/scene/painter.hpp"
#include "view/scene/store.hpp"

namespace hyphos::view {

/// Finds an OpenGL function: eglGetProcAddress or glfwGetProcAddress.
using GlLoader = void (*(*)(const char* name))();

struct RendererOptions {
  Color background{24, 26, 31, 255};
  double density = 1;  ///< pixels per px of the styles: HiDPI, or the supersampling of pictures
  /// Points drawn in one frame while the camera moves. The rest follows when it stands still.
  std::size_t moving_points = 150'000;
  /// Time for the refinement in one frame.
  double refine_ms = 50;
  /// Points that leave by age or budget stay in the picture until it was there for so many times
  /// the cost of drawing it again. So a cloud of millions that loses points all the time costs a
  /// twelfth of a core.
  double aged_share = 12;
};

struct RenderCounters {
  std::uint64_t frames = 0;        ///< draw() calls that drew
  std::uint64_t uploads = 0;       ///< to vertex buffers and textures
  std::uint64_t points_drawn = 0;  ///< of retained sets, over all frames
  std::uint64_t full_redraws = 0;  ///< of the retained picture
  std::uint64_t points = 0;        ///< of retained sets, now
};

/// Draws the scene into a picture of its own, and keeps it.
///
/// Two pictures, each with colour and depth. The retained one has all Retained sets: with a still
/// camera only appended batches are drawn into it. While the camera moves it has a uniform part of
/// the points, and afterwards the others are added within some frames. The final one is a copy of
/// it, plus everything that displays paint in each frame. Memory: two pictures of 8 bytes a pixel.
///
/// All functions need the OpenGL context, which must be 3.3 core or newer. draw() changes bindings,
/// viewport and state, and leaves the default framebuffer bound.
class Renderer : public Store {
 public:
  /// unsupported if the context is older than OpenGL 3.3, with the name of the driver and a remedy.
  static Result<std::unique_ptr<Renderer>> open(GlLoader loader, RendererOptions options = {});

  virtual void set_options(const RendererOptions& options) = 0;
  [[nodiscard]] virtual const RendererOptions& options() const = 0;
  /// Makes the objects of one part of the scene. The renderer itself makes those of part 0.
  [[nodiscard]] virtual Store& part(std::size_t index) = 0;
  /// The look of the retained things of each part. Without an entry: their own.
  virtual void set_ghosts(std::span<const Ghost> by_part) = 0;
  /// Draws one frame in panes beside one another, each of the size of its camera. All have the same
  /// size. One pane has all parts. Otherwise a pane has the part of its number. `paint` is called
  /// once for each pane.
  virtual void draw(std::span<const Camera> panes,
                    const std::function<void(Painter&, std::size_t pane)>& paint) = 0;
  /// Draws one frame of one pane.
  void draw(const Camera& camera, const std::function<void(Painter&)>& paint) {
    draw(std::span(&camera, 1), [&paint](Painter& painter, std::size_t) {
      if (paint) paint(painter);
    });
  }
  /// True if the retained picture is incomplete: call draw() again soon.
  [[nodiscard]] virtual bool refining() const = 0;
  /// True if a Retained set changed since the last draw().
  [[nodiscard]] virtual bool changed() const = 0;
  /// Time until changed() becomes true by itself, because points have left. Nothing if none have.
  [[nodiscard]] virtual std::optional<double> redraw_in_ms() const = 0;
  /// The finished picture, for ImGui::Image() with (0, 1) to (1, 0).
  [[nodiscard]] virtual unsigned texture() const = 0;
  /// The visible point at a pixel of the last picture, over all panes. Nothing on the background.
  [[nodiscard]] virtual std::optional<Vec3> point_at(double x, double y) const = 0;
  /// The last picture, RGBA, top row first.
  [[nodiscard]] virtual std::vector<std::uint8_t> read() const = 0;
  /// A rectangle of the window that is being drawn, RGBA, top row first. `bottom` counts upwards.
  [[nodiscard]] virtual std::vector<std::uint8_t> read_window(int left, int bottom, int width,
                                                              int height) const = 0;
  /// GPU memory of the pictures, without that of displays.
  [[nodiscard]] virtual std::size_t bytes() const = 0;
  [[nodiscard]] virtual RenderCounters counters() const = 0;
  [[nodiscard]] virtual std::string description() const = 0;  ///< "llvmpipe, OpenGL 4.5"
};

}  // namespace hyphos::view
