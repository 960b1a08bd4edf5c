#pragma once

#include <cstdint>

namespace hyphos::wire {

/// The field of a serialized FileDescriptorSet with the layout of one struct as JSON. Readers of
/// descriptors skip this field. Format: docs/reference/type_definitions.md.
inline constexpr std::uint32_t kLayoutField = 1000;

}  // namespace hyphos::wire
