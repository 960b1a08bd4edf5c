#pragma once

#include "hyphos/node.hpp"

namespace hyphos {

/// Runs a node as a program. HYPHOS_NODE makes a plug-in (shared object) of the same class:
///
///     class Mapper { public: explicit Mapper(hyphos::Node node); ... };
///     HYPHOS_NODE(Mapper)                                          // in the plug-in
///     int main(int c, char** v) { return hyphos::run<Mapper>("mapper", c, v); }  // in a program
///
/// The object is constructed before the first callback and destroyed after the last callback has
/// ended.
template <typename T>
int run(std::string name, int argc, char** argv) {
  Node node = Node::open(std::move(name), argc, argv).or_throw();
  T object(node);
  const int code = node.spin();
  node.close();
  return code;
}

/// The version of the plug-in interface, raised with each change. A plug-in built for another
/// version is rejected with an error that names the plug-in.
inline constexpr int kPluginAbi = 1;

}  // namespace hyphos

// NOLINTBEGIN(bugprone-macro-parentheses): a class cannot be in parentheses

/// Exports `Class` as the node of a plug-in. Use it once per shared object, at namespace scope. The
/// constructor takes a `hyphos::Node`. An exception that it throws fails the start with its text.
#define HYPHOS_NODE(Class)                                                          \
  extern "C" HYPHOS_EXPORT int hyphos_plugin_abi() { return ::hyphos::kPluginAbi; } \
  extern "C" HYPHOS_EXPORT void* hyphos_plugin_create(const ::hyphos::Node* node) { \
    return new Class(*node);                                                        \
  }                                                                                 \
  extern "C" HYPHOS_EXPORT void hyphos_plugin_destroy(void* object) {               \
    delete static_cast<Class*>(object);                                             \
  }
// NOLINTEND(bugprone-macro-parentheses)
