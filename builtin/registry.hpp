#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "hyphos/node.hpp"

namespace hyphos::builtin {

/// A node that comes with Hyphos. It lives from its construction until its process ends.
class Builtin {
 public:
  Builtin() = default;
  Builtin(const Builtin&) = delete;
  Builtin& operator=(const Builtin&) = delete;
  virtual ~Builtin() = default;
};

struct Known {
  std::string_view name;   ///< the value of `builtin:` in a plan
  std::string_view about;  ///< one line
  std::unique_ptr<Builtin> (*open)(const Node& node);
};

/// All nodes of this build.
[[nodiscard]] std::span<const Known> known_nodes();

}  // namespace hyphos::builtin
