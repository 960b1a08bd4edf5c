#include "graph/type_definitions.hpp"

#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/unknown_field_set.h>

#include <climits>
#include <iterator>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "shm/type_files.hpp"
#include "wire/layout.hpp"

namespace hyphos {

bool is_standard_file(std::string_view proto_file) {
  for (const std::string_view folder : {"google/protobuf/", "hyphos/msgs/", "hyphos/params/",
                                        "hyphos/control/", "hyphos/ros/", "hyphos/wire/"}) {
    if (proto_file.starts_with(folder)) return true;
  }
  return false;
}

namespace graph {
namespace {

using google::protobuf::FileDescriptorSet;
using google::protobuf::UnknownField;
using google::protobuf::UnknownFieldSet;

/// The layouts of structs in a set, each as JSON.
std::vector<std::string> layouts_in(const FileDescriptorSet& set) {
  const UnknownFieldSet& fields = set.GetReflection()->GetUnknownFields(set);
  std::vector<std::string> layouts;
  for (int i = 0; i < fields.field_count(); ++i) {
    const UnknownField& field = fields.field(i);
    if (field.number() == static_cast<int>(wire::kLayoutField) &&
        field.type() == UnknownField::TYPE_LENGTH_DELIMITED) {
      layouts.emplace_back(field.length_delimited());
    }
  }
  return layouts;
}

}  // namespace

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
  FileDescriptorSet set;
  if (files.size() > INT_MAX || !set.ParseFromArray(files.data(), static_cast<int>(files.size()))) {
    return Error{Code::corrupt, "the bytes are not a serialized FileDescriptorSet", {}};
  }
  const MutexLock lock(mutex_);
  FileDescriptorSet fresh;
  std::vector<std::string> added;  // names of files, and layouts
  for (auto& file : *set.mutable_file()) {
    if (is_standard_file(file.name()) || known_.contains(file.name())) continue;
    added.push_back(file.name());
    fresh.add_file()->Swap(&file);
  }
  UnknownFieldSet& rest = *fresh.GetReflection()->MutableUnknownFields(&fresh);
  for (std::string& layout : layouts_in(set)) {
    if (known_.contains(layout)) continue;
    rest.AddLengthDelimited(static_cast<int>(wire::kLayoutField), layout);
    added.push_back(std::move(layout));
  }
  if (added.empty()) return {};
  const std::string bytes = fresh.SerializeAsString();
  if (bytes.size() > shm::kMaxTypeBytes - all_.size()) {
    return Error{Code::exhausted,
                 "the definitions of the types of one process have at most " +
                     std::to_string(shm::kMaxTypeBytes >> 20) + " MiB",
                 fresh.file().empty() ? "the layout of a struct" : fresh.file(0).name()};
  }
  if (publish_) {
    if (auto published = publish_(bytes); !published) return published;
  }
  known_.insert(std::make_move_iterator(added.begin()), std::make_move_iterator(added.end()));
  all_ += bytes;
  return {};
}

std::string TypeDefinitions::all() const {
  const MutexLock lock(mutex_);
  return all_;
}

}  // namespace graph
}  // namespace hyphos
