#pragma once

/// Marks the functions that every message goes through. The linker puts them side by side: some
/// ten kilobytes on three pages instead of on twenty, each of which costs a fifth of a microsecond
/// to find again when messages are rare (docs/performance.md).
#define HYPHOS_HOT [[gnu::hot]]
