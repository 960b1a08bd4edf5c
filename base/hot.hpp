#pragma once

/// Marks the functions on the path of every message. The linker places them side by side: some ten
/// kilobytes on three pages instead of twenty. When messages are rare, each page costs a fifth of a
/// microsecond, because it is no longer cached (docs/explanation/performance.md).
#define HYPHOS_HOT [[gnu::hot]]
