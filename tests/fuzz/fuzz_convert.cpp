#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "gateway/convert/arriving_text.hpp"
#include "gateway/convert/json_reader.hpp"
#include "tests/gateway/convert/sample.hpp"

namespace {

// Extracting strings from JSON before it is parsed must not change the result, neither a value nor
// an error.
void check_long_texts(const hyphos::gateway::Shape& shape, std::span<const std::byte> input) {
  using namespace hyphos;
  using namespace hyphos::gateway;
  const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
  const auto outcome = [&](const LongTexts::Bounds& bounds, const DecodedText* decoded) {
    const auto made = read_json(shape, false, text, &WritableBuffer::on_heap, 0, bounds, decoded);
    return made ? "read " + std::string(made->payload.text()) : made.error().to_string();
  };
  const std::string whole = outcome({SIZE_MAX, 16}, nullptr);
  if (outcome({0, 16}, nullptr) != whole) std::abort();
  // Nor may reading parts before the whole text is there. The text itself gives the cuts.
  ArrivingText arriving(16);
  for (std::size_t there = 0; there < text.size();) {
    there += 1 + static_cast<unsigned char>(text[there]) % 64;
    arriving.more(text.substr(0, there), text.size(), &WritableBuffer::on_heap);
  }
  const auto decoded = arriving.take();
  if (decoded && outcome({0, 16}, &*decoded) != whole) std::abort();
}

}  // namespace

// Messages in all encodings, from clients and from channels. Accepted input must survive a round
// trip.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hyphos;
  using namespace hyphos::gateway;
  static const auto types = sample_types();
  if (size < 1) return 0;
  const bool ros2 = (data[0] & 1U) != 0;
  const auto form = static_cast<Form>(data[0] >> 1U & 3U);
  const auto input = std::as_bytes(std::span(data, size)).subspan(1);
  const Converter& all =
      (*types->default_codec(ros2 ? "made/msg/All" : "made/All").or_throw()).converter;
  const Form wire = ros2 ? Form::cdr : Form::ros1;
  if (form == Form::cbor) {  // as a channel's message
    const RawMessage message{Buffer::copy_of(input), {}};
    for (const Form out : {Form::ros1, Form::cdr, Form::json, Form::cbor}) {
      (void)all.write(out, message);
    }
    return 0;
  }
  if (form == Form::json) check_long_texts(all.shape(), input);
  const auto read = all.read(form, input, &WritableBuffer::on_heap, 0);
  if (!read) return 0;
  const auto written = all.write(wire, *read);
  if (!written) return 0;  // JSON may contain times that ROS does not support
  const Buffer bytes = written->joined();
  const auto again = all.read(wire, bytes.bytes(), &WritableBuffer::on_heap, 0);
  if (!again || all.write(wire, *again).or_throw().joined().text() != bytes.text()) std::abort();
  return 0;
}
