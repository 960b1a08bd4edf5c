#include "hyphos/codec.hpp"
#include "wire/packet.hpp"

namespace hyphos {

std::string_view to_string(Encoding encoding) {
  switch (encoding) {
    case Encoding::structure:
      return "struct";
    case Encoding::bytes:
      return "bytes";
    case Encoding::protobuf:
      return "protobuf";
    case Encoding::attached:
      return "attached";
    case Encoding::custom:
      return "custom";
    case Encoding::none:
      return "none";
  }
  return "unknown";
}

TypeId make_type_id(std::string_view name, Encoding encoding, std::size_t size) {
  // FNV-1a 64 over "<name>|<encoding>|<size>", so that every client library can compute it in ten
  // lines.
  std::string text(name);
  text += '|';
  text += to_string(encoding);
  text += '|';
  text += std::to_string(size);
  return {std::string(name), encoding, wire::fnv1a(text)};
}

}  // namespace hyphos
