#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/dynamic_message.h>

#include <cstddef>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "hyphos/result.hpp"

namespace hyphos::view {

/// The number of the field with which a recording stores attached buffers in a message:
/// docs/reference/recording.md.
inline constexpr int kAttachedField = 100'000;

/// The protobuf types of one source: the standard messages, and those that a robot announces or a
/// recording contains.
///
/// Not thread-safe. A type never changes: a definition that contradicts an earlier one is refused.
/// Descriptors live as long as this object. Memory is bounded: add() refuses more than kMaxBytes in
/// total.
class Types {
 public:
  static constexpr std::size_t kMaxBytes = 64U << 20U;

  /// Contains the messages of proto/hyphos.
  Types();
  Types(const Types&) = delete;
  Types& operator=(const Types&) = delete;
  ~Types();

  /// Adds the files of a serialized FileDescriptorSet. Files of Hyphos and of protobuf, and files
  /// that are known with equal content, are skipped. The other files are added even if some are
  /// refused. Errors name the first refused file: corrupt (no FileDescriptorSet), type_mismatch (a
  /// file or type is known with another content), exhausted (kMaxBytes).
  Result<void> add(std::string_view descriptor_set);

  /// Null if the type is unknown.
  [[nodiscard]] const google::protobuf::Descriptor* find(std::string_view type) const;
  [[nodiscard]] const google::protobuf::DescriptorPool& pool() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A serialized FileDescriptorSet of the file of a type and all that it imports. `attached`: as a
/// recording stores it, with the field of the attached buffers.
[[nodiscard]] std::string definition_of(const google::protobuf::Descriptor& type,
                                        bool attached = false);

/// Makes messages of types that are known by name only.
///
/// Not thread-safe. `pool` must outlive it, and it must outlive its messages.
class Decoder {
 public:
  explicit Decoder(const google::protobuf::DescriptorPool& pool);

  [[nodiscard]] const google::protobuf::Descriptor* find(std::string_view type) const;
  /// corrupt if the bytes are no message of this type, not_found if the type is unknown. Allocates.
  [[nodiscard]] Result<std::unique_ptr<google::protobuf::Message>> parse(
      std::string_view type, std::span<const std::byte> bytes);

 private:
  const google::protobuf::DescriptorPool& pool_;
  google::protobuf::DynamicMessageFactory factory_;
};

}  // namespace hyphos::view
