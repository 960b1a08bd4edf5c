#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "hyphos/node.hpp"

namespace hyphos {

/// A node that lives in a shared object. The object is destroyed with this; the shared object stays
/// mapped, since types and callbacks of it may still be referenced.
class LoadedPlugin {
 public:
  /// Maps the file, checks its plug-in version, and constructs its node object.
  static Result<LoadedPlugin> load(const std::filesystem::path& file, const Node& node);
  /// The gateway that the plan makes of a node; its library is looked for beside this one.
  static Result<LoadedPlugin> load_gateway(const Node& node);
  LoadedPlugin(LoadedPlugin&& other) noexcept;
  LoadedPlugin& operator=(LoadedPlugin&& other) noexcept;
  ~LoadedPlugin();

 private:
  using Destroy = void (*)(void*);
  LoadedPlugin(const Node& node, void* object, Destroy destroy)
      : node_(node), object_(object), destroy_(destroy) {}
  Node node_;  // the object need not keep it
  void* object_;
  Destroy destroy_;
};

}  // namespace hyphos
