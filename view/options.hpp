#pragma once

#include <string>
#include <vector>

#include "hyphos/result.hpp"
#include "view/app.hpp"

namespace hyphos::view {

/// The command line of hyphos-view.
struct Options {
  AppOptions app;
  std::string png;          ///< write one picture and exit
  std::string compare;      ///< a picture that the new one must equal
  double tolerance = 0.5;   ///< percent of the pixels that may differ from it
  std::string video;        ///< write a video and exit
  double from_s = 0;        ///< its first instant, s after the begin of the recording
  double to_s = -1;         ///< its end. Below 0: that of the recording
  double fps = 30;          ///< frames per second
  std::string save_layout;  ///< write the layout at the end
  std::string report;       ///< write the costs of the session at the end
  int width = 0;            ///< pixels, 0: usual
  int height = 0;
  bool has_scale = false;  ///< --scale was given
  bool help = false;
};

extern const char* const kUsage;

/// Errors: invalid_config with the word.
[[nodiscard]] Result<Options> parse_options(const std::vector<std::string>& words);

/// Shows the window until it is closed, or until SIGINT or SIGTERM. Errors: unsupported (no
/// display, no OpenGL 3.3) with the remedy, and those of App::open().
[[nodiscard]] Result<void> run_window(const Options& options);
/// Draws one picture without a display. Errors: also those of the file.
[[nodiscard]] Result<void> run_picture(const Options& options);
/// Draws the video of a recording without a display. Errors: canceled after SIGINT or SIGTERM (the
/// video ends there), and those of the file.
[[nodiscard]] Result<void> run_video(const Options& options);

}  // namespace hyphos::view
