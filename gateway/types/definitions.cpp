// The definitions of types that the processes of a domain exchange.
#include <google/protobuf/descriptor.pb.h>

#include <set>
#include <utility>

#include "gateway/types/types.hpp"

namespace hyphos::gateway {

namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::FileDescriptor;
using google::protobuf::FileDescriptorProto;
using google::protobuf::FileDescriptorSet;

/// Leaves out the messages of protobuf about invalid files.
class NoErrors final : public DescriptorPool::ErrorCollector {
 public:
  void AddError(const std::string& /*file*/, const std::string& /*element*/,
                const google::protobuf::Message* /*proto*/, ErrorLocation /*place*/,
                const std::string& /*message*/) override {}
};

void append(const FileDescriptor& file, std::set<const FileDescriptor*>& seen,
            FileDescriptorSet& to) {
  if (is_standard_file(file.name()) || !seen.insert(&file).second) return;
  for (int i = 0; i < file.dependency_count(); ++i) append(*file.dependency(i), seen, to);
  file.CopyTo(to.add_file());
}

}  // namespace

std::string Types::definition(std::string_view type) const {
  FileDescriptorSet files;
  std::set<const FileDescriptor*> seen;
  const auto* const found = find_type(std::string(type));
  if (found != nullptr) append(*found->file(), seen, files);
  return files.SerializeAsString();
}

void Types::set_announced(std::function<std::vector<std::string>()> announced,
                          std::function<std::uint64_t()> version) {
  const MutexLock lock(layers_mutex_);
  announced_ = std::move(announced);
  version_ = std::move(version);
  read_.reset();
}

std::vector<const Types::Layer*> Types::layers() const {
  const MutexLock lock(layers_mutex_);
  std::vector<const Layer*> all;
  for (auto at = learned_.rbegin(); at != learned_.rend(); ++at) all.push_back(at->get());
  all.push_back(&base_);
  return all;
}

bool Types::learn() const {
  const MutexLock lock(layers_mutex_);
  if (!announced_) return false;
  // Before the source is read. A process announces a type before it opens an endpoint with it.
  const std::uint64_t version = version_();
  if (read_ == version) return false;
  read_ = version;
  bool learned = false;
  std::set<std::string> present;
  for (std::string& set : announced_()) {
    if (!seen_.contains(set)) {
      if (auto layer = layer_of(set)) {
        learned_.push_back(std::move(layer));
        learned = true;
      }
    }
    present.insert(std::move(set));
  }
  seen_ = std::move(present);
  return learned;
}

std::unique_ptr<Types::Layer> Types::layer_of(const std::string& descriptors) const {
  FileDescriptorSet set;
  if (!set.ParseFromString(descriptors)) return nullptr;
  auto layer = std::make_unique<Layer>(learned_.empty() ? &base_.pool : &learned_.back()->pool);
  NoErrors errors;
  bool any = false;
  // A process announces imports before the files that need them.
  for (const FileDescriptorProto& proto : set.file()) {
    // A plug-in of this process may have compiled the file.
    const FileDescriptor* file = DescriptorPool::generated_pool()->FindFileByName(proto.name());
    if (file != nullptr) {
      if (!compiled_.insert(file).second) continue;
    } else if (layer->pool.FindFileByName(proto.name()) == nullptr) {
      file = layer->pool.BuildFileCollectingErrors(proto, &errors);
    }
    if (file == nullptr) continue;
    layer->index(*file);
    any = true;
  }
  if (!any) return nullptr;
  layer->complete_texts();
  return layer;
}

}  // namespace hyphos::gateway
