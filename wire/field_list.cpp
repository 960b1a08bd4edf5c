#include "base/json.hpp"
#include "hyphos/codec.hpp"
#include "wire/layout.hpp"
#include "wire/protobuf.hpp"

namespace hyphos {
namespace {

/// The type as in numpy.dtype.str: byte order, kind and size.
std::string numpy_type(char kind, std::size_t bytes) {
  const bool has_order = bytes > 1 && kind != 'S' && kind != 'V';
  std::string type(1, has_order ? '<' : '|');
  type += kind == '?' ? 'b' : kind;
  return type + std::to_string(bytes);
}

}  // namespace

void FieldList::begin(std::string_view name, std::size_t offset) {
  if (!json_.empty()) json_ += ',';
  json_ += R"({"name":)" + json_quote(name) + R"(,"offset":)" + std::to_string(offset);
  shape_.clear();
}

void FieldList::dimension(std::size_t length) {
  if (!shape_.empty()) shape_ += ',';
  shape_ += std::to_string(length);
}

void FieldList::end(char kind, std::size_t bytes) {
  json_ += R"(,"type":")" + numpy_type(kind, bytes) + '"';
  if (!shape_.empty()) json_ += R"(,"shape":[)" + shape_ + ']';
  json_ += '}';
}

void FieldList::end(const FieldList& inner, std::size_t bytes) {
  json_ += R"(,"size":)" + std::to_string(bytes) + R"(,"fields":[)" + inner.json_ + ']';
  if (!shape_.empty()) json_ += R"(,"shape":[)" + shape_ + ']';
  json_ += '}';
}

std::string FieldList::definition(std::string_view type, std::size_t size) const {
  const std::string json = R"({"name":)" + json_quote(type) + R"(,"size":)" + std::to_string(size) +
                           R"(,"fields":[)" + json_ + "]}";
  // Room for the tag and the length, of at most 10 bytes each.
  std::string set(json.size() + 20, '\0');
  auto* const start = reinterpret_cast<std::byte*>(set.data());
  wire::ProtoWriter writer(start);
  writer.text(wire::kLayoutField, json);
  set.resize(static_cast<std::size_t>(writer.end() - start));
  return set;
}

}  // namespace hyphos
