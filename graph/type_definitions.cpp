#include "graph/type_definitions.hpp"

#include <google/protobuf/descriptor.pb.h>

#include <climits>
#include <utility>

#include "base/log.hpp"
#include "shm/type_files.hpp"

namespace hyphos {

bool is_standard_file(std::string_view proto_file) {
  for (const std::string_view folder :
       {"google/protobuf/", "hyphos/msgs/", "hyphos/params/", "hyphos/ros/", "hyphos/wire/"}) {
    if (proto_file.starts_with(folder)) return true;
  }
  return false;
}

namespace graph {

void TypeDefinitions::add(TypeDefinition definition) {
  if (definition == nullptr) return;
  {
    const MutexLock lock(mutex_);
    if (!types_.insert(definition).second) return;
  }
  if (const auto added = add(definition()); !added) {
    log::warn("types", "tools cannot decode a type of this process without options: " +
                           added.error().to_string());
  }
}

Result<void> TypeDefinitions::add(std::string_view files) {
  google::protobuf::FileDescriptorSet set;
  if (files.size() > INT_MAX || !set.ParseFromArray(files.data(), static_cast<int>(files.size()))) {
    return Error{Code::corrupt, "the bytes are not a serialized FileDescriptorSet", {}};
  }
  const MutexLock lock(mutex_);
  google::protobuf::FileDescriptorSet fresh;
  for (auto& file : *set.mutable_file()) {
    if (is_standard_file(file.name()) || files_.contains(file.name())) continue;
    fresh.add_file()->Swap(&file);
  }
  if (fresh.file().empty()) return {};
  const std::string bytes = fresh.SerializeAsString();
  if (bytes.size() > shm::kMaxTypeBytes - all_.size()) {
    return Error{Code::exhausted,
                 "the definitions of the types of one process have at most " +
                     std::to_string(shm::kMaxTypeBytes >> 20) + " MiB",
                 fresh.file(0).name()};
  }
  if (publish_) {
    if (auto published = publish_(bytes); !published) return published;
  }
  for (const auto& file : fresh.file()) files_.insert(file.name());
  all_ += bytes;
  return {};
}

std::string TypeDefinitions::all() const {
  const MutexLock lock(mutex_);
  return all_;
}

}  // namespace graph
}  // namespace hyphos
