#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "hyphos/result.hpp"

namespace hyphos::view {

class App;

/// The costs of a session: counters since the start, and memory now. `--report FILE` writes it.
struct Report {
  double cpu_s = 0;  ///< of all threads of this process
  std::uint64_t frames = 0;
  std::uint64_t messages = 0;      ///< that displays took
  std::uint64_t uploads = 0;       ///< to vertex buffers and textures
  std::uint64_t points = 0;        ///< displayed now
  std::uint64_t points_drawn = 0;  ///< over all frames
  std::uint64_t full_redraws = 0;  ///< of the retained picture
  std::size_t budget_bytes = 0;
  std::size_t display_bytes = 0;   ///< of displays, CPU and GPU
  std::size_t source_bytes = 0;    ///< of the past of a robot, or of the chunks of a recording
  std::size_t panel_bytes = 0;     ///< of plots and other panels
  std::size_t picture_bytes = 0;   ///< GPU memory of the pictures of the 3-D view
  std::uint64_t removed = 0;       ///< messages that left the view for the budget
  std::string notice;              ///< the sentence about them in the list of displays
  std::uint64_t received = 0;      ///< messages that reached the viewer
  std::uint64_t dropped = 0;       ///< by the viewer, as its queue was full
  std::uint64_t missing = 0;       ///< gaps in the numbers of the publishers
  std::uint64_t corrupt = 0;       ///< unreadable messages of a recording
  std::size_t resident_bytes = 0;  ///< of the process
  std::size_t peak_bytes = 0;      ///< largest resident_bytes
};

[[nodiscard]] Report make_report(App& app);
/// One JSON object, with the names of the fields.
[[nodiscard]] std::string to_json(const Report& report);
/// Replaces the file. Errors: those of the file system, with the path.
[[nodiscard]] Result<void> save_report(const std::string& path, const Report& report);

}  // namespace hyphos::view
