#include <cstdio>

#include "view/core/picture.hpp"
#include "view/offscreen.hpp"
#include "view/options.hpp"
#include "view/report.hpp"

namespace hyphos::view {
namespace {

/// A difference of a colour that the eye hardly sees, 0 to 255. Drivers round differently.
constexpr int kSameColor = 24;

Result<void> compare_with(const Options& options, const Picture& picture) {
  auto golden = read_png(options.compare);
  if (!golden) return golden.error();
  const auto found = compare(picture, *golden, kSameColor);
  if (!found) return Error{found.error().code, found.error().message, options.compare};
  const double share =
      100 * static_cast<double>(found->different) / static_cast<double>(found->pixels);
  char text[128];
  std::snprintf(text, sizeof(text), "%.3f %% of the pixels differ, the limit is %g %%", share,
                options.tolerance);
  if (share > options.tolerance) {
    return Error{Code::out_of_range, text + std::string(". See ") + options.png, options.compare};
  }
  std::printf("%s\n", text);
  return success();
}

}  // namespace

Result<void> run_picture(const Options& options) {
  auto screen = Offscreen::open(options);
  if (!screen) return screen.error();
  (*screen)->complete(kFirstFrames);
  if (auto checked = (*screen)->app().check_result(); !checked) return checked;
  const Picture picture = (*screen)->read();
  if (!options.report.empty()) {
    if (auto saved = save_report(options.report, make_report((*screen)->app())); !saved) {
      return saved;
    }
  }
  if (auto written = write_png(options.png, picture); !written) return written;
  return options.compare.empty() ? success() : compare_with(options, picture);
}

}  // namespace hyphos::view
