#pragma once

/// Marks what `libhyphos.so` exports; everything else is hidden.
#define HYPHOS_EXPORT __attribute__((visibility("default")))
