#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "hyphos/node.hpp"

namespace hyphos {

/// A node implemented in a shared object. Its node object is destroyed with this object. The shared
/// object stays mapped, because its types and callbacks may still be referenced.
class LoadedPlugin {
 public:
  /// Maps the file, checks its plug-in version, and constructs its node object.
  static Result<LoadedPlugin> load(const std::filesystem::path& file, const Node& node);
  /// Loads the gateway that the plan assigns to a node. Its library is searched next to this one.
  static Result<LoadedPlugin> load_gateway(const Node& node);
  LoadedPlugin(LoadedPlugin&& other) noexcept;
  LoadedPlugin& operator=(LoadedPlugin&& other) noexcept;
  ~LoadedPlugin();

 private:
  using Destroy = void (*)(void*);
  LoadedPlugin(const Node& node, void* object, Destroy destroy)
      : node_(node), object_(object), destroy_(destroy) {}
  Node node_;  // keeps the node, in case the object does not
  void* object_;
  Destroy destroy_;
};

}  // namespace hyphos
