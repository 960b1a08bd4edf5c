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

/// An MCAP file being written: header, records and chunks in the order of the calls, then the
/// index.
///
/// Not thread-safe. Blocks as DiskFile does. Data written by a completed call survives the death of
/// the process. Space for the index is always reserved, so that a file is complete even if it ends
/// because the disk is full.
class McapFile {
 public:
  static Result<McapFile> create(const std::filesystem::path& path, bool overwrite,
                                 std::string_view profile);

  /// Put each schema and channel once, before the first chunk that needs it.
  Result<void> put(const mcap::Schema& schema);
  Result<void> put(const mcap::Channel& channel);
  Result<void> put(const mcap::Attachment& attachment);
  Result<void> put(std::string_view metadata_name, const mcap::Dictionary& values);
  /// Writes a chunk with its message indexes. A chunk without messages is skipped.
  Result<void> write(const Packed& chunk);
  /// Writes `last` as metadata (unless the name is empty), the index and the end of the file. Call
  /// it also after an error of write(): it then uses the reserved space.
  Result<void> close(std::string_view last_name, const mcap::Dictionary& last, bool sync);

  [[nodiscard]] bool has_schema(std::uint16_t id) const { return schemas_.contains(id); }
  [[nodiscard]] bool has_channel(std::uint16_t id) const { return channels_.contains(id); }
  [[nodiscard]] const mcap::Statistics& statistics() const { return statistics_; }
  [[nodiscard]] std::uint64_t size() const { return file_.size(); }
  [[nodiscard]] const std::filesystem::path& path() const { return file_.path(); }
  /// Reserves space for the metadata of close().
  void expect_last(std::size_t bytes) { last_bytes_ = bytes; }

 private:
  explicit McapFile(DiskFile file) : file_(std::move(file)) {}
  Result<void> append(const mcap::Bytes& record, std::uint64_t more_summary);
  [[nodiscard]] std::uint64_t summary_size() const;

  DiskFile file_;
  std::set<std::uint16_t> schemas_;
  std::set<std::uint16_t> channels_;
  mcap::Statistics statistics_;
  // The groups of the summary, in their encoded form.
  mcap::Bytes schema_group_;
  mcap::Bytes channel_group_;
  mcap::Bytes chunk_group_;
  mcap::Bytes attachment_group_;
  mcap::Bytes metadata_group_;
  std::size_t last_bytes_ = 0;
};

}  // namespace hyphos::record
