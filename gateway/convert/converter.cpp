#include "gateway/convert/converter.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "gateway/convert/cbor_sink.hpp"
#include "gateway/convert/json_reader.hpp"
#include "gateway/convert/json_sink.hpp"
#include "gateway/convert/ros_sink.hpp"
#include "gateway/convert/ros_source.hpp"
#include "gateway/convert/walk.hpp"

namespace hyphos::gateway {

namespace {

/// A Buffer that keeps a string alive without a copy.
class TextOwner final : public BufferOwner {
 public:
  explicit TextOwner(std::string text) : text_(std::move(text)) {}
  [[nodiscard]] Buffer buffer() {
    return {reinterpret_cast<const std::byte*>(text_.data()), text_.size(), this};
  }

 private:
  void release() noexcept override { delete this; }
  std::string text_;
};

Buffer adopt(std::string text) { return (new TextOwner(std::move(text)))->buffer(); }

/// Puts `made` around `array`, if there is one.
EncodedMessage around(const Buffer& made, const Buffer& array, std::size_t hole) {
  if (array.empty()) return {made};
  return {made.slice(0, hole), array, made.slice(hole, made.size() - hole)};
}

}  // namespace

Buffer EncodedMessage::joined() const {
  if (array.empty()) return head;
  WritableBuffer all = WritableBuffer::on_heap(size());
  std::byte* to = all.data();
  for (const auto part : parts()) to = std::ranges::copy(part, to).out;
  return std::move(all).freeze();
}

template <bool kCdr>
Result<RawMessage> Converter::read_ros(std::span<const std::byte> message, const Lend& lend,
                                       const Buffer& within, std::size_t before) const {
  ConversionError failure;
  Sizes sizes;
  Bytes attached;
  RosCursor<kCdr> measured(message, failure);
  ProtoMeasure measure;
  FromRos<kCdr, ProtoMeasure> first(measured, measure, sizes, failure, attached);
  if (!measured.begin(before) || !first.message(shape_) || !measured.end()) {
    return failure.error(shape_.ros_name);
  }
  WritableBuffer memory = lend(measure.at());
  RosCursor<kCdr> cursor(message, failure);
  ProtoWrite write(memory.data());
  FromRos<kCdr, ProtoWrite> second(cursor, write, sizes, failure, attached);
  if (!cursor.begin(before) || !second.message(shape_)) return failure.error(shape_.ros_name);
  RawMessage made;
  made.payload = std::move(memory).freeze(measure.at());
  if (attached_ && !within.empty() && attached.size() >= kKept) {
    const auto offset = static_cast<std::size_t>(attached.data() - within.data());
    made.buffers.push_back(within.slice(offset, attached.size()));
  } else if (attached_) {
    WritableBuffer buffer = lend(attached.size());
    ProtoWrite(buffer.data()).raw(attached);
    made.buffers.push_back(std::move(buffer).freeze(attached.size()));
  }
  return made;
}

Result<RawMessage> Converter::read(Form form, std::span<const std::byte> message, const Lend& lend,
                                   std::int64_t now_ns, const DecodeHint& within) const {
  switch (form) {
    case Form::ros1:
      return read_ros<false>(message, lend, within.memory);
    case Form::cdr:
      return read_ros<true>(message, lend, within.memory);
    case Form::cdr_after_status:
      return read_ros<true>(message, lend, within.memory, 1);
    case Form::json:
      return read_json(shape_, attached_,
                       {reinterpret_cast<const char*>(message.data()), message.size()}, lend,
                       now_ns, {}, within.decoded);
    case Form::cbor:
      break;
  }
  return Error{Code::unsupported, "cannot read CBOR: clients of rosbridge send JSON",
               shape_.ros_name};
}

Buffer Converter::kept_array(const RawMessage& message) const {
  const bool apart = message.buffers.size() == 1 && message.buffers[0].size() >= kKept;
  return attached_ && apart ? message.buffers[0] : Buffer();
}

template <bool kCdr>
Result<EncodedMessage> Converter::write_ros(const RawMessage& message, std::size_t before) const {
  const Buffer array = kept_array(message);
  ConversionError failure;
  Around<Measure> measure(Measure(), array);
  RosSink<kCdr, Around<Measure>> measuring(measure, failure, before);
  Walk first(measuring, failure, message.buffers);
  if (!first.message(shape_, message.payload.bytes())) return failure.error(shape_.ros_name);
  WritableBuffer memory = WritableBuffer::on_heap(measure.at() - array.size());
  Around<Write> write(Write(memory.data()), array);
  RosSink<kCdr, Around<Write>> writing(write, failure, before);
  Walk second(writing, failure, message.buffers);
  if (!second.message(shape_, message.payload.bytes())) return failure.error(shape_.ros_name);
  return around(std::move(memory).freeze(), array, write.hole());
}

Result<EncodedMessage> Converter::write_json(const RawMessage& message) const {
  ConversionError failure;
  std::string made;
  JsonSink sink(made);
  Walk walk(sink, failure, message.buffers);
  if (!walk.message(shape_, message.payload.bytes())) return failure.error(shape_.ros_name);
  return EncodedMessage(adopt(std::move(made)));
}

Result<EncodedMessage> Converter::write_cbor(const RawMessage& message) const {
  const Buffer array = kept_array(message);
  ConversionError failure;
  std::vector<std::byte> made;
  CborSink sink(made, array);
  Walk walk(sink, failure, message.buffers);
  if (!walk.message(shape_, message.payload.bytes())) return failure.error(shape_.ros_name);
  return around(Buffer::adopt(std::move(made)), array, sink.hole());
}

Result<EncodedMessage> Converter::write(Form form, const RawMessage& message) const {
  switch (form) {
    case Form::ros1:
      return write_ros<false>(message);
    case Form::cdr:
      return write_ros<true>(message);
    case Form::cdr_after_status:
      return write_ros<true>(message, 1);
    case Form::json:
      return write_json(message);
    case Form::cbor:
      return write_cbor(message);
  }
  return Error{Code::unsupported, "unknown encoding of ROS messages", shape_.ros_name};
}

}  // namespace hyphos::gateway
