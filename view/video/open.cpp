#include <dlfcn.h>

#include <filesystem>

#include "view/video/encoder.hpp"

namespace hyphos::view {
namespace {

constexpr const char* kLibrary = "libhyphos_view_video.so";

Error missing() {
  return {Code::unsupported,
          "this viewer was built without videos: the build found no libavcodec-dev, "
          "libavformat-dev, libswscale-dev. In a clone of Hyphos: scripts/setup core view video, "
          "then make build. --png writes pictures",
          "--video"};
}

}  // namespace

Result<std::unique_ptr<VideoWriter>> open_video(const VideoSettings& settings) {
  std::error_code failed;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", failed);
  const std::string file = (program.parent_path() / kLibrary).string();
  if (failed || !std::filesystem::exists(file, failed)) return missing();
  // Never closed: its objects have code there.
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const reason = ::dlerror();
    return Error{Code::unsupported,
                 "cannot load the encoder of videos: " + std::string(reason ? reason : "unknown"),
                 file};
  }
  const auto open = reinterpret_cast<VideoEntry>(::dlsym(library, kVideoEntry));
  if (open == nullptr) return Error{Code::unsupported, "is not the encoder of this viewer", file};
  Error error;
  std::unique_ptr<VideoWriter> made(open(settings, error));
  if (made == nullptr) return error;
  return made;
}

}  // namespace hyphos::view
