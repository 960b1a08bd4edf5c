#pragma once

/// Marks the symbols that `libhyphos.so` exports. All other symbols are hidden.
#define HYPHOS_EXPORT __attribute__((visibility("default")))
