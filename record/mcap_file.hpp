#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "hyphos/result.hpp"
#include "record/chunk.hpp"
#include "record/disk_file.hpp"
#include "record/mcap_format.hpp"

namespace hyphos::record {

/// An MCAP file while it is written: header, records and chunks as they come, then the index.
///
/// Not thread-safe; blocks as DiskFile does. What a call has written survives the death of the
/// process. There is always room reserved for the index, so that also a file that ends because the
/// disk is full is a complete one.
class McapFile {
 public:
  static Result<McapFile> create(const std::filesystem::path& path, bool overwrite,
                                 std::string_view profile);

  /// Schemas and channels must be put before the chunks that need them, each once.
  Result<void> put(const mcap::Schema& schema);
  Result<void> put(const mcap::Channel& channel);
  Result<void> put(const mcap::Attachment& attachment);
  Result<void> put(std::string_view metadata_name, const mcap::Dictionary& values);
  /// A chunk with its message indexes. One without messages is nothing.
  Result<void> write(const Packed& chunk);
  /// Writes `last` as metadata (unless the name is empty), the index and the end of the file.
  /// After an error of write() too; then on what was reserved.
  Result<void> close(std::string_view last_name, const mcap::Dictionary& last, bool sync);

  [[nodiscard]] bool has_schema(std::uint16_t id) const { return schemas_.contains(id); }
  [[nodiscard]] bool has_channel(std::uint16_t id) const { return channels_.contains(id); }
  [[nodiscard]] const mcap::Statistics& statistics() const { return statistics_; }
  [[nodiscard]] std::uint64_t size() const { return file_.size(); }
  [[nodiscard]] const std::filesystem::path& path() const { return file_.path(); }
  /// Bytes of metadata that close() will be given, to be reserved.
  void expect_last(std::size_t bytes) { last_bytes_ = bytes; }

 private:
  explicit McapFile(DiskFile file) : file_(std::move(file)) {}
  Result<void> append(const mcap::Bytes& record, std::uint64_t more_summary);
  [[nodiscard]] std::uint64_t summary_size() const;

  DiskFile file_;
  std::set<std::uint16_t> schemas_;
  std::set<std::uint16_t> channels_;
  mcap::Statistics statistics_;
  // The groups of the summary, encoded as they will stand there.
  mcap::Bytes schema_group_;
  mcap::Bytes channel_group_;
  mcap::Bytes chunk_group_;
  mcap::Bytes attachment_group_;
  mcap::Bytes metadata_group_;
  std::size_t last_bytes_ = 0;
};

}  // namespace hyphos::record
