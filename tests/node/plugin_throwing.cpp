#include <stdexcept>

#include "hyphos/hyphos.hpp"

namespace {

struct Throwing {
  explicit Throwing(const hyphos::Node&) { throw std::runtime_error("no camera on /dev/video7"); }
};

}  // namespace

HYPHOS_NODE(Throwing)
