#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "base/mutex.hpp"
#include "hyphos/codec.hpp"
#include "hyphos/result.hpp"

namespace hyphos::graph {

/// The definitions of the protobuf types and the layouts of the structs on the channels of this
/// process. Other programs decode these channels with them. Each .proto file and each layout is
/// kept and published once. Thread-safe.
///
/// Not on the data path: types are added when an endpoint opens.
class TypeDefinitions {
 public:
  /// Publishes a serialized FileDescriptorSet. Calls do not overlap.
  using Publish = std::function<Result<void>(std::string_view)>;

  /// An empty `publish`: the process has no observers.
  explicit TypeDefinitions(Publish publish = {}) : publish_(std::move(publish)) {}

  /// Adds the file of a type and its imports. Null: the type has no definition. A failure is
  /// logged, because the channel works without its definition.
  void add(TypeDefinition definition) HYPHOS_EXCLUDES(mutex_);
  /// Adds the files and layouts of a serialized FileDescriptorSet. Errors: corrupt, exhausted
  /// (kMaxTypeBytes), and those of `publish`.
  Result<void> add(std::string_view files) HYPHOS_EXCLUDES(mutex_);
  /// All files and layouts so far, as a serialized FileDescriptorSet.
  [[nodiscard]] std::string all() const HYPHOS_EXCLUDES(mutex_);

 private:
  const Publish publish_;
  mutable Mutex mutex_;
  std::set<TypeDefinition> types_ HYPHOS_GUARDED_BY(mutex_);
  std::set<std::string, std::less<>> known_ HYPHOS_GUARDED_BY(mutex_);
  std::string all_ HYPHOS_GUARDED_BY(mutex_);
};

}  // namespace hyphos::graph
