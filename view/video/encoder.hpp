#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "hyphos/result.hpp"
#include "view/core/picture.hpp"

namespace hyphos::view {

struct VideoSettings {
  std::string path;  ///< its end chooses the container: .mp4, .mkv or .webm
  int width = 0;     ///< pixels, even
  int height = 0;
  double fps = 30;
};

/// Writes frames to a video file. Equal frames give an equal file with one version of libavcodec.
///
/// The frames go to a hidden file beside `path`, so that no incomplete file has that name. Memory:
/// some tens of frames, which the encoder keeps. Not thread-safe.
class VideoWriter {
 public:
  VideoWriter() = default;
  VideoWriter(const VideoWriter&) = delete;
  VideoWriter& operator=(const VideoWriter&) = delete;
  /// Without finish(), removes the hidden file.
  virtual ~VideoWriter() = default;

  /// Adds a frame. The picture has the size of the settings. Errors: exhausted (no space), io.
  virtual Result<void> add(const Picture& picture) = 0;
  /// Completes the file and gives it its name. Errors as add().
  virtual Result<void> finish() = 0;
  [[nodiscard]] virtual std::string codec() const = 0;
};

/// Opens a writer. The encoder is a library of its own beside the program, so that the viewer does
/// not load libavcodec for anything else. Errors: unsupported (the library was not built, with the
/// packages), invalid_config (the name of the file, an odd size), and those of the file.
[[nodiscard]] Result<std::unique_ptr<VideoWriter>> open_video(const VideoSettings& settings);

/// The one function of that library. Null: `error` has the reason.
inline constexpr const char* kVideoEntry = "hyphos_view_open_video";
using VideoEntry = VideoWriter* (*)(const VideoSettings& settings, Error& error);

}  // namespace hyphos::view
