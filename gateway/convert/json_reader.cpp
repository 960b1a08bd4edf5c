#include "gateway/convert/json_reader.hpp"

#include <string>
#include <utility>

#include "gateway/convert/json_numbers.hpp"
#include "gateway/convert/json_source.hpp"

namespace hyphos::gateway {
namespace {

/// The bytes to attach, if they have been decoded before.
const Buffer* read_before(const AttachedJson& attached, LongTexts& long_texts) {
  std::string_view text;
  if (attached.field == nullptr || attached.json.get(text) != simdjson::SUCCESS) return nullptr;
  if (!long_texts.has(text)) return nullptr;
  const Buffer* const bytes = long_texts.bytes_of(long_texts.of(text));
  if (bytes != nullptr) long_texts.read();
  return bytes;
}

Result<RawMessage> parsed(const Shape& shape, bool attaches, std::string_view text,
                          const Lend& lend, std::int64_t now_ns, LongTexts& long_texts) {
  thread_local simdjson::dom::parser parser;
  ConversionError failure;
  Json json;
  auto fault = parser.parse(text).get(json);
  if (fault == simdjson::NUMBER_ERROR) {
    if (const auto large = with_large_numbers(text)) fault = parser.parse(*large).get(json);
  }
  if (fault != simdjson::SUCCESS) {
    return Error{Code::corrupt, std::string("is not valid JSON: ") + simdjson::error_message(fault),
                 shape.ros_name};
  }
  Sizes sizes;
  AttachedJson attached;
  ProtoMeasure measure;
  FromJson<ProtoMeasure> first(measure, sizes, failure, now_ns, attached, long_texts);
  if (!first.message(shape, json)) return failure.error(shape.ros_name);
  WritableBuffer memory = lend(measure.at());
  ProtoWrite write(memory.data());
  FromJson<ProtoWrite> second(write, sizes, failure, now_ns, attached, long_texts);
  if (!second.message(shape, json)) return failure.error(shape.ros_name);
  RawMessage made;
  made.payload = std::move(memory).freeze(measure.at());
  const Buffer* const known = attaches ? read_before(attached, long_texts) : nullptr;
  if (known != nullptr) {
    made.buffers.push_back(*known);
  } else if (attaches) {
    WritableBuffer buffer = lend(attached.size);
    if (attached.field != nullptr &&
        !write_blob(*attached.field, attached.json, buffer.data(), failure, long_texts)) {
      failure.in(attached.field->name);
      return failure.error(shape.ros_name);
    }
    made.buffers.push_back(std::move(buffer).freeze(attached.size));
  }
  return made;
}

}  // namespace

Result<RawMessage> read_json(const Shape& shape, bool attached, std::string_view text,
                             const Lend& lend, std::int64_t now_ns, const LongTexts::Bounds& bounds,
                             const DecodedText* decoded) {
  if (auto apart = LongTexts::taken_out(text, bounds, decoded)) {
    auto made = parsed(shape, attached, apart->json(), lend, now_ns, *apart);
    if (made && apart->all_read()) return made;
  }
  // Errors must refer to the original text.
  LongTexts none;
  return parsed(shape, attached, text, lend, now_ns, none);
}

}  // namespace hyphos::gateway
