#pragma once

#include "hyphos/node.hpp"

namespace hyphos {

/// A node as a plug-in (shared object) and as a program, from one class:
///
///     class Mapper { public: explicit Mapper(hyphos::Node node); ... };
///     HYPHOS_NODE(Mapper)                                          // in the plug-in
///     int main(int c, char** v) { return hyphos::run<Mapper>("mapper", c, v); }  // in a program
///
/// The object lives from before the first callback until all of the node's callbacks have ended.
template <typename T>
int run(std::string name, int argc, char** argv) {
  Node node = Node::open(std::move(name), argc, argv).or_throw();
  T object(node);
  const int code = node.spin();
  node.close();
  return code;
}

/// Increased when the plug-in interface changes; a plug-in built for another one is refused by
/// name.
inline constexpr int kPluginAbi = 1;

}  // namespace hyphos

#define HYPHOS_NODE(Class)                                                          \
  extern "C" HYPHOS_EXPORT int hyphos_plugin_abi() { return ::hyphos::kPluginAbi; } \
  extern "C" HYPHOS_EXPORT void* hyphos_plugin_create(const ::hyphos::Node* node) { \
    return new Class(*node);                                                        \
  }                                                                                 \
  extern "C" HYPHOS_EXPORT void hyphos_plugin_destroy(void* object) {               \
    delete static_cast<Class*>(object);                                             \
  }
