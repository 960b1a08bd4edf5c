#include <zlib.h>

#include <cstdint>
#include <iostream>
#include <string>

#include "record/mcap_reader.hpp"

// mcap_probe FILE...: prints the content of each file as McapReader reads it, for a comparison with
// the `mcap` library. Lines: `file indexed|scanned`, `channel ID TOPIC COUNT`, `message CHANNEL
// SEQUENCE LOG PUBLISH SIZE CRC` in order of time, `metadata NAME`, `attachment NAME SIZE`,
// `problem TEXT`.

namespace {

using namespace hyphos::record;

std::uint32_t checksum(std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(
      ::crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

void print(McapReader& reader) {
  std::cout << "file " << (reader.indexed() ? "indexed" : "scanned") << '\n';
  ChannelSet all;
  for (const auto& [id, channel] : reader.channels()) {
    all.add(id);
    std::cout << "channel " << id << ' ' << channel.topic << ' ' << reader.count(id) << '\n';
  }
  McapCursor cursor(reader, all, 0);
  while (const auto message = cursor.next(~std::uint64_t{0})) {
    std::cout << "message " << message->channel << ' ' << message->sequence << ' '
              << message->log_ns << ' ' << message->publish_ns << ' ' << message->data.size() << ' '
              << checksum(message->data.bytes()) << '\n';
  }
  for (const auto& [name, values] : reader.metadata()) std::cout << "metadata " << name << '\n';
  for (const std::string& name : reader.attachments()) {
    const auto data = reader.attachment(name);
    std::cout << "attachment " << name << ' ' << (data ? std::to_string(data.value().size()) : "?")
              << '\n';
  }
  for (const std::string& problem : reader.problems()) std::cout << "problem " << problem << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const auto reader = McapReader::open(argv[i]);
    if (reader) {
      print(*reader.value());
    } else {
      std::cout << "refused " << reader.error().to_string() << '\n';
    }
  }
  return 0;
}
