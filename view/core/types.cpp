#include "view/core/types.hpp"

#include <google/protobuf/descriptor.pb.h>

#include <limits>
#include <set>
#include <utility>

#include "hyphos/codec.hpp"
#include <hyphos/msgs/clock.pb.h>
#include <hyphos/msgs/geometry.pb.h>
#include <hyphos/msgs/log.pb.h>
#include <hyphos/msgs/nav.pb.h>
#include <hyphos/msgs/sensor.pb.h>
#include <hyphos/msgs/std.pb.h>
#include <hyphos/msgs/tf.pb.h>
#include <hyphos/msgs/visualization.pb.h>
#include <hyphos/ros/options.pb.h>

namespace hyphos::view {
namespace {

namespace pb = google::protobuf;

/// Keeps the first error of a file.
class Errors : public pb::DescriptorPool::ErrorCollector {
 public:
  void AddError(const std::string& file, const std::string& element, const pb::Message*,
                ErrorLocation, const std::string& message) override {
    if (first_.empty())
      first_.append(file).append(": ").append(element).append(": ").append(message);
  }
  [[nodiscard]] const std::string& first() const { return first_; }

 private:
  std::string first_;
};

/// Removes the field that a recording adds to types with attached buffers, as restrict_schema()
/// of hyphos.recording does. Otherwise the schemas of two channels would contradict each other.
void restrict_messages(pb::FileDescriptorProto& file) {
  for (pb::DescriptorProto& message : *file.mutable_message_type()) {
    auto& fields = *message.mutable_field();
    for (int i = fields.size() - 1; i >= 0; --i) {
      if (fields[i].number() == kAttachedField) fields.DeleteSubrange(i, 1);
    }
  }
}

void copy_file(const pb::FileDescriptor& file, pb::DescriptorPool& pool) {
  if (pool.FindFileByName(file.name()) != nullptr) return;
  for (int i = 0; i < file.dependency_count(); ++i) copy_file(*file.dependency(i), pool);
  pb::FileDescriptorProto proto;
  file.CopyTo(&proto);
  pool.BuildFile(proto);
}

void add_with_imports(const pb::FileDescriptor& file, std::set<std::string>& known,
                      pb::FileDescriptorSet& set) {
  if (!known.insert(file.name()).second) return;
  for (int i = 0; i < file.dependency_count(); ++i) {
    add_with_imports(*file.dependency(i), known, set);
  }
  file.CopyTo(set.add_file());
}

/// docs/reference/recording.md
void add_attached_field(pb::DescriptorProto& message) {
  auto& field = *message.add_field();
  field.set_name("attached_buffers");
  field.set_number(kAttachedField);
  field.set_type(pb::FieldDescriptorProto::TYPE_BYTES);
  field.set_label(pb::FieldDescriptorProto::LABEL_REPEATED);
}

}  // namespace

std::string definition_of(const pb::Descriptor& type, bool attached) {
  pb::FileDescriptorSet set;
  std::set<std::string> known;
  add_with_imports(*type.file(), known, set);
  if (attached) {
    // The file of the type is the last one.
    for (auto& message : *set.mutable_file(set.file_size() - 1)->mutable_message_type()) {
      if (message.name() == type.name()) add_attached_field(message);
    }
  }
  return set.SerializeAsString();
}

struct Types::State {
  pb::DescriptorPool pool;
  std::size_t bytes = 0;
};

Types::Types() : state_(std::make_unique<State>()) {
  for (const pb::Descriptor* one :
       {msgs::Clock::descriptor(), msgs::Pose::descriptor(), msgs::Log::descriptor(),
        msgs::Path::descriptor(), msgs::LaserScan::descriptor(), msgs::Header::descriptor(),
        msgs::TfMessage::descriptor(), msgs::Marker::descriptor()}) {
    copy_file(*one->file(), state_->pool);
  }
}

Types::~Types() = default;

const pb::DescriptorPool& Types::pool() const { return state_->pool; }

const pb::Descriptor* Types::find(std::string_view type) const {
  return state_->pool.FindMessageTypeByName(std::string(type));
}

Result<void> Types::add(std::string_view descriptor_set) {
  pb::FileDescriptorSet files;
  if (descriptor_set.size() > kMaxBytes - state_->bytes) {
    return Error{Code::exhausted,
                 "the definitions of the types have more than " + std::to_string(kMaxBytes) +
                     " bytes. Further types are shown as bytes",
                 {}};
  }
  if (!files.ParseFromArray(descriptor_set.data(), static_cast<int>(descriptor_set.size()))) {
    return Error{Code::corrupt, "the definitions of the types are no FileDescriptorSet", {}};
  }
  Result<void> result;
  const auto refuse = [&result](Code code, std::string message, const std::string& file) {
    if (result) result = Error{code, std::move(message), file};
  };
  for (pb::FileDescriptorProto& file : *files.mutable_file()) {
    restrict_messages(file);
    if (is_standard_file(file.name())) {
      // A recording may import a standard file that no standard message needs.
      const auto* compiled = pb::DescriptorPool::generated_pool()->FindFileByName(file.name());
      if (compiled != nullptr) copy_file(*compiled, state_->pool);
      if (compiled != nullptr) continue;
    }
    if (const auto* known = state_->pool.FindFileByName(file.name()); known != nullptr) {
      pb::FileDescriptorProto old;
      known->CopyTo(&old);
      if (old.SerializeAsString() == file.SerializeAsString()) continue;
      // Comments and options of the compiler may differ. The types decide.
      old.clear_source_code_info();
      pb::FileDescriptorProto other = file;
      other.clear_source_code_info();
      if (old.SerializeAsString() != other.SerializeAsString()) {
        refuse(Code::type_mismatch,
               "two programs have different versions of this file. The first one is used",
               file.name());
      }
      continue;
    }
    Errors errors;
    if (state_->pool.BuildFileCollectingErrors(file, &errors) == nullptr) {
      refuse(Code::type_mismatch, "a definition cannot be used: " + errors.first(), file.name());
    } else {
      state_->bytes += file.ByteSizeLong();
    }
  }
  return result;
}

Decoder::Decoder(const pb::DescriptorPool& pool) : pool_(pool), factory_(&pool) {}

const pb::Descriptor* Decoder::find(std::string_view type) const {
  return pool_.FindMessageTypeByName(std::string(type));
}

Result<std::unique_ptr<pb::Message>> Decoder::parse(std::string_view type,
                                                    std::span<const std::byte> bytes) {
  const pb::Descriptor* descriptor = find(type);
  if (descriptor == nullptr) {
    return Error{Code::not_found, "no program and no recording defines the type",
                 std::string(type)};
  }
  std::unique_ptr<pb::Message> message(factory_.GetPrototype(descriptor)->New());
  if (bytes.size() > std::numeric_limits<int>::max() ||
      !message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Error{Code::corrupt, "the bytes are no message of this type", std::string(type)};
  }
  return message;
}

}  // namespace hyphos::view
