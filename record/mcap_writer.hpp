#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "record/mcap_file.hpp"

namespace hyphos::record {

/// Writes an MCAP file message by message in the calling thread, for tools that cut, merge and
/// convert. Not thread-safe. Full chunks are compressed and written.
class McapWriter {
 public:
  struct Options {
    std::filesystem::path path;
    bool overwrite = false;
    std::string profile;
    std::size_t chunk_bytes = 4 << 20;
    Compression compression = Compression::zstd;
  };
  static Result<McapWriter> create(const Options& options);

  Result<std::uint16_t> add_schema(std::string name, std::string encoding, std::string data);
  Result<std::uint16_t> add_channel(std::string topic, std::string message_encoding,
                                    std::uint16_t schema_id, mcap::Dictionary metadata);
  Result<void> write(const MessageInfo& info, std::span<const std::byte> data);
  Result<void> attach(const mcap::Attachment& attachment) { return file_.put(attachment); }
  Result<void> describe(std::string_view name, const mcap::Dictionary& values) {
    return file_.put(name, values);
  }
  /// Ends the chunk: all messages so far are in the file.
  Result<void> flush();
  Result<void> close();

  [[nodiscard]] std::uint64_t messages() const { return messages_; }
  [[nodiscard]] std::uint64_t size() const { return file_.size(); }

 private:
  McapWriter(McapFile file, const Options& options)
      : file_(std::move(file)),
        chunk_bytes_(options.chunk_bytes),
        compression_(options.compression),
        packer_(std::make_unique<Packer>()) {}

  McapFile file_;
  std::size_t chunk_bytes_;
  Compression compression_;
  std::unique_ptr<Packer> packer_;
  Chunk chunk_;
  std::uint64_t messages_ = 0;
};

}  // namespace hyphos::record
