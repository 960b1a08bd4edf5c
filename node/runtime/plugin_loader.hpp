#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "hyphos/node.hpp"

namespace hyphos {

/// A library beside the core library, with nodes that the plan chooses by name.
struct CompanionLibrary {
  const char* what;    ///< "a gateway"
  const char* folder;  ///< of the build tree
  const char* file;
  const char* remedy;
};
inline constexpr CompanionLibrary kGateways{
    "a gateway", "gateway", "libhyphos_gateway.so.0",
    "Install hyphos-gateways, or build with HYPHOS_BUILD_GATEWAY=ON"};
inline constexpr CompanionLibrary kBuiltins{
    "a built-in node", "builtin", "libhyphos_builtin.so.0",
    "Install hyphos-tools, or build with HYPHOS_BUILD_BUILTIN=ON"};

/// A node implemented in a shared object. Its node object is destroyed with this object. The shared
/// object stays mapped, because its types and callbacks may still be referenced.
class LoadedPlugin {
 public:
  /// Maps the file, checks its plug-in version, and constructs its node object.
  static Result<LoadedPlugin> load(const std::filesystem::path& file, const Node& node);
  /// Loads a node of a library that comes with Hyphos. It is searched next to the core library.
  static Result<LoadedPlugin> load_beside(const Node& node, const CompanionLibrary& library);
  LoadedPlugin(LoadedPlugin&& other) noexcept;
  LoadedPlugin& operator=(LoadedPlugin&& other) noexcept;
  ~LoadedPlugin();
  [[nodiscard]] const std::string& name() const { return node_.name(); }

 private:
  using Destroy = void (*)(void*);
  LoadedPlugin(const Node& node, void* object, Destroy destroy)
      : node_(node), object_(object), destroy_(destroy) {}
  Node node_;  // keeps the node, in case the object does not
  void* object_;
  Destroy destroy_;
};

}  // namespace hyphos
