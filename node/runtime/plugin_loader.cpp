#include "node/runtime/plugin_loader.hpp"

#include <dlfcn.h>

#include <utility>

#include "base/crash.hpp"
#include "hyphos/node.hpp"

namespace hyphos {

LoadedPlugin::LoadedPlugin(LoadedPlugin&& other) noexcept
    : node_(other.node_),
      object_(std::exchange(other.object_, nullptr)),
      destroy_(other.destroy_) {}

LoadedPlugin& LoadedPlugin::operator=(LoadedPlugin&& other) noexcept {
  std::swap(node_, other.node_);
  std::swap(object_, other.object_);
  std::swap(destroy_, other.destroy_);
  return *this;
}

LoadedPlugin::~LoadedPlugin() {
  if (object_ == nullptr) return;
  node_.close();  // no callback runs during the destruction
  destroy_(object_);
}

Result<LoadedPlugin> LoadedPlugin::load(const std::filesystem::path& file, const Node& node) {
  // RTLD_LOCAL: two plug-ins may define the same names.
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Error{Code::not_found,
                 std::string("cannot load the plug-in of node '") + node.name() +
                     "': " + dlerror() + ". Give a path, or add its folder to plugin_path",
                 file.string()};
  }
  const auto abi = reinterpret_cast<int (*)()>(dlsym(library, "hyphos_plugin_abi"));
  const auto create =
      reinterpret_cast<void* (*)(const Node*)>(dlsym(library, "hyphos_plugin_create"));
  const auto destroy = reinterpret_cast<Destroy>(dlsym(library, "hyphos_plugin_destroy"));
  if (abi == nullptr || create == nullptr || destroy == nullptr) {
    return Error{Code::invalid_config,
                 "not a Hyphos plug-in: it needs HYPHOS_NODE(Class) in one of its source files",
                 file.string()};
  }
  if (abi() != kPluginAbi) {
    return Error{Code::unsupported,
                 "built for plug-in interface " + std::to_string(abi()) + ", this is " +
                     std::to_string(kPluginAbi) + ". Rebuild it",
                 file.string()};
  }
  try {
    const crash::Work here(node.name(), "constructor");
    return LoadedPlugin(node, create(&node), destroy);
  } catch (const Exception& error) {
    Error named = error.error();
    named.message = "node '" + node.name() + "' could not be set up: " + named.message;
    return named;
  } catch (const std::exception& error) {
    return Error{Code::invalid_config,
                 "node '" + node.name() + "' could not be set up: " + error.what(), file.string()};
  }
}

Result<LoadedPlugin> LoadedPlugin::load_beside(const Node& node, const CompanionLibrary& library) {
  static const char mark = 0;
  Dl_info own{};
  const bool known = dladdr(&mark, &own) != 0 && own.dli_fname != nullptr;
  const auto here = std::filesystem::path(known ? own.dli_fname : "").parent_path();
  // Covers a build tree and every installation.
  for (const std::filesystem::path& file :
       {here / library.folder / library.file, here / library.file}) {
    std::error_code ignored;
    if (std::filesystem::exists(file, ignored)) return load(file, node);
  }
  return Error{Code::not_found,
               "node '" + node.name() + "' is " + library.what + ", and " + library.file +
                   " is not next to the Hyphos library. " + library.remedy,
               here.string()};
}

}  // namespace hyphos
