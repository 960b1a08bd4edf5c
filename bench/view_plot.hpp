#pragma once

#include <cstddef>

namespace hyphos::view {

/// Frames of a whole window with one plot, from the input to the finished picture.
struct PlotFigures {
  std::size_t samples = 0;
  double pan_p50_ms = 0;
  double pan_p95_ms = 0;
  double zoom_p50_ms = 0;
  double zoom_p95_ms = 0;
  double cpu_ms = 0;  ///< of one frame, all threads
};

/// Draws by EGL. The context is made and destroyed inside.
PlotFigures run_plot(std::size_t samples, int width, int height);

}  // namespace hyphos::view
