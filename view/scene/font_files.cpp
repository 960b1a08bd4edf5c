#include <cstddef>
#include <span>

#include "view/scene/font.hpp"

// The build sets both paths. `.incbin` copies a file into the program without a source of its size.
#define HYPHOS_INCLUDE_FILE(name, path)                          \
  __asm__(                                                       \
      ".section .rodata\n"                                       \
      ".balign 16\n"                                             \
      ".hidden " #name "_begin\n.global " #name "_begin\n" #name \
      "_begin:\n"                                                \
      ".incbin \"" path                                          \
      "\"\n"                                                     \
      ".hidden " #name "_end\n.global " #name "_end\n" #name     \
      "_end:\n"                                                  \
      ".byte 0\n"                                                \
      ".previous\n")

HYPHOS_INCLUDE_FILE(hyphos_view_sans, HYPHOS_VIEW_SANS_FONT);
HYPHOS_INCLUDE_FILE(hyphos_view_mono, HYPHOS_VIEW_MONO_FONT);

extern "C" {
extern const std::byte hyphos_view_sans_begin[];
extern const std::byte hyphos_view_sans_end[];
extern const std::byte hyphos_view_mono_begin[];
extern const std::byte hyphos_view_mono_end[];
}

namespace hyphos::view {

std::span<const std::byte> sans_font_file() {
  return {hyphos_view_sans_begin, hyphos_view_sans_end};
}

std::span<const std::byte> mono_font_file() {
  return {hyphos_view_mono_begin, hyphos_view_mono_end};
}

}  // namespace hyphos::view
