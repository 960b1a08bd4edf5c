#pragma once

#include "hyphos/codec.hpp"

namespace hyphos {

/// TypeSupport of an endpoint that knows only the name of its type: bytes in, bytes out. Bytes need
/// no room for a value.
inline TypeSupport raw_support(const TypeId& id) {
  TypeSupport support;
  support.id = id;
  return support;
}

}  // namespace hyphos
