#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "record/mcap_reader.hpp"

/// A file of any content is refused, or gives messages in order of time within the limits of its
/// options.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hyphos::record;
  static const int file = ::memfd_create("fuzz_mcap_reader", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  if (file < 0 || ::ftruncate(file, 0) != 0 ||
      ::pwrite(file, data, size, 0) != static_cast<::ssize_t>(size)) {
    std::abort();
  }
  McapReader::Options options;
  options.cache_bytes = 64U << 10U;
  options.max_chunk_bytes = 1U << 20U;
  auto opened = McapReader::open(path, options);
  if (!opened) return 0;
  McapReader& reader = **opened;
  ChannelSet all;
  for (const auto& [id, channel] : reader.channels()) all.add(id);
  McapCursor cursor(reader, all, 0);
  std::uint64_t before = 0;
  std::size_t count = 0;
  while (auto message = cursor.next(~std::uint64_t{0})) {
    if (message->log_ns < before || !all.contains(message->channel)) std::abort();
    before = message->log_ns;
    if (++count > 10'000) break;
  }
  const auto last = reader.last(all, ~std::uint64_t{0}, 3);
  if (last.size() > 3) std::abort();
  for (const std::string& name : reader.attachments()) (void)reader.attachment(name);
  return 0;
}
