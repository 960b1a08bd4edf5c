#include <malloc.h>

#include <cstdio>

#include "view/options.hpp"

namespace {

int fail(const hyphos::Error& error) {
  std::fprintf(stderr, "error: %s\n", error.to_string().c_str());
  return error.code == hyphos::Code::canceled ? 130 : 1;  // as after Ctrl-C
}

}  // namespace

int main(int argc, char** argv) {
  using namespace hyphos::view;
  // Chunks of recordings and messages return to the system when they are freed. With the threshold
  // that glibc adapts by itself, a recording of 10 GB took 60 MB more.
  ::mallopt(M_MMAP_THRESHOLD, 256 << 10);
  try {
    auto options = parse_options({argv + 1, argv + argc});
    if (!options) return fail(options.error());
    if (options->help) {
      std::fputs(kUsage, stdout);
      return 0;
    }
    const auto done = !options->video.empty() ? run_video(*options)
                      : !options->png.empty() ? run_picture(*options)
                                              : run_window(*options);
    return done ? 0 : fail(done.error());
  } catch (const hyphos::Exception& error) {
    return fail(error.error());
  }
}
