#include "record/mcap_writer.hpp"

#include <limits>
#include <utility>

namespace hyphos::record {

Result<McapWriter> McapWriter::create(const Options& options) {
  auto file = McapFile::create(options.path, options.overwrite, options.profile);
  if (!file) return file.error();
  return McapWriter(std::move(*file), options);
}

Result<std::uint16_t> McapWriter::add_schema(std::string name, std::string encoding,
                                             std::string data) {
  if (file_.statistics().schemas == std::numeric_limits<std::uint16_t>::max()) {
    return Error{Code::exhausted, "an MCAP file holds at most 65,535 schemas", name};
  }
  const auto id = static_cast<std::uint16_t>(file_.statistics().schemas + 1U);
  auto put = file_.put({id, std::move(name), std::move(encoding), std::move(data)});
  if (!put) return put.error();
  return id;
}

Result<std::uint16_t> McapWriter::add_channel(std::string topic, std::string message_encoding,
                                              std::uint16_t schema_id, mcap::Dictionary metadata) {
  if (file_.statistics().channels == std::numeric_limits<std::uint16_t>::max()) {
    return Error{Code::exhausted, "an MCAP file holds at most 65,535 channels", topic};
  }
  const auto id = static_cast<std::uint16_t>(file_.statistics().channels + 1U);
  auto put = file_.put(
      {id, schema_id, std::move(topic), std::move(message_encoding), std::move(metadata)});
  if (!put) return put.error();
  return id;
}

Result<void> McapWriter::write(const MessageInfo& info, std::span<const std::byte> data) {
  if (!file_.has_channel(info.channel)) {
    return Error{Code::invalid_config,
                 "channel " + std::to_string(info.channel) + " was not added to the file",
                 file_.path().string()};
  }
  chunk_.add(info, data);
  ++chunk_.tally(info.channel).written;
  ++messages_;
  return chunk_.size() >= chunk_bytes_ ? flush() : success();
}

Result<void> McapWriter::flush() {
  if (chunk_.empty()) return success();
  return file_.write(packer_->pack(std::exchange(chunk_, Chunk()), compression_, false));
}

Result<void> McapWriter::close() {
  auto flushed = flush();
  auto closed = file_.close({}, {}, false);
  return flushed ? closed : flushed;
}

}  // namespace hyphos::record
