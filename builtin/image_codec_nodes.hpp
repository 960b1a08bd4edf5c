#pragma once

#include "builtin/registry.hpp"

namespace hyphos::builtin {

/// `compress_image` and `decompress_image`. Reference: docs/reference/builtin.md.
std::unique_ptr<Builtin> open_compress_image(const Node& node);
std::unique_ptr<Builtin> open_decompress_image(const Node& node);

}  // namespace hyphos::builtin
