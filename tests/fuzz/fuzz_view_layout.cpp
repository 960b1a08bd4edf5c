#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "view/layout/layout.hpp"

/// Any text is either refused with a place, or becomes a layout whose text reads back as the same
/// layout.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hyphos::view;
  static const Vocabulary words = [] {
    Vocabulary made;
    made.displays = {{"grid", {"color"}, {}}, {"points", {"color", "size"}, {}}};
    made.panels = {{"scene", {}, {}}, {"plot", {"fields", "window_s"}, {}}};
    return made;
  }();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto layout = parse_layout(text, "fuzz.yaml", words);
  if (!layout) {
    if (layout.error().message.empty()) std::abort();
    return 0;
  }
  const std::string written = layout_text(*layout);
  const auto again = parse_layout(written, "written.yaml", words);
  if (!again || !(*again == *layout) || layout_text(*again) != written) std::abort();
  return 0;
}
