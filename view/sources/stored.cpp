#include "view/sources/stored.hpp"

#include <google/protobuf/io/coded_stream.h>

#include <limits>

#include "view/core/types.hpp"

namespace hyphos::view {
namespace {

using google::protobuf::io::CodedInputStream;

enum Wire : unsigned { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

/// Skips a value. For one with a length, `size` is its length.
bool skip(CodedInputStream& in, unsigned wire, std::uint32_t& size) {
  std::uint64_t varint = 0;
  switch (wire) {
    case kVarint:
      return in.ReadVarint64(&varint);
    case kFixed64:
      return in.Skip(8);
    case kFixed32:
      return in.Skip(4);
    case kBytes:
      return in.ReadVarint32(&size) && size <= std::numeric_limits<int>::max() &&
             in.Skip(static_cast<int>(size));
    default:
      return false;
  }
}

}  // namespace

std::optional<Unjoined> split_attached(const Buffer& stored) {
  if (stored.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    return std::nullopt;
  const int total = static_cast<int>(stored.size());
  CodedInputStream in(reinterpret_cast<const std::uint8_t*>(stored.data()), total);
  Unjoined out;
  std::size_t head = 0;
  while (in.CurrentPosition() < total) {
    const std::uint32_t tag = in.ReadTag();
    std::uint32_t size = 0;
    if (tag == 0 || !skip(in, tag & 7U, size)) return std::nullopt;
    const auto end = static_cast<std::size_t>(in.CurrentPosition());
    if (tag >> 3U == kAttachedField && (tag & 7U) == kBytes) {
      if (out.buffers.full()) return std::nullopt;
      out.buffers.push_back(stored.slice(end - size, size));
    } else if (!out.buffers.empty()) {
      return std::nullopt;  // the buffers are the last fields
    } else {
      head = end;
    }
  }
  out.head = stored.slice(0, head);
  return out;
}

}  // namespace hyphos::view
