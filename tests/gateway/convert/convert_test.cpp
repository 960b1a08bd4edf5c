#include <google/protobuf/dynamic_message.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "gateway/convert/utf.hpp"
#include "hyphos/msgs/sensor.pb.h"
#include "tests/gateway/convert/sample.hpp"

namespace hyphos::gateway {
namespace {

/// Succeeds if `text` contains `part`. A failure shows both.
testing::AssertionResult has(std::string_view text, std::string_view part) {
  if (text.find(part) != std::string_view::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no '" << part << "' in '" << text << "'";
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

const Converter& converter(Types& types, const std::string& name) {
  return (*types.default_codec(name).or_throw()).converter;
}

RawMessage read(const Converter& converter, Form form, std::string_view wire) {
  return converter.read(form, bytes_of(wire), &WritableBuffer::on_heap, 5).or_throw();
}

std::string write(const Converter& converter, Form form, const RawMessage& message) {
  return std::string(converter.write(form, message).or_throw().joined().text());
}

std::string words(std::initializer_list<int> bytes) {
  std::string made;
  for (const int byte : bytes) made.push_back(static_cast<char>(byte));
  return made;
}

// The ROS 1 wire format of the message, written by hand.
std::string golden_ros1() {
  return words({1}) + words({0xfe}) + words({1, 2, 3, 4, 5, 6, 7, 0x88}) +
         words({0, 0, 0, 0, 0, 0, 0xf8, 0x3f}) + words({2, 0, 0, 0}) + "hi" +
         words({7, 0, 0, 0, 8, 0, 0, 0}) + words({2, 0, 0, 0, 9, 10}) + words({1, 0xff, 3}) +
         words({1, 0, 0, 0, 0, 0, 0x20, 0x40}) + std::string(16, '\0') +
         words({2, 0, 0, 0, 0xff, 0xff, 4, 0}) + words({2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0}) + "a" +
         words({5, 0, 0, 0, 0, 0, 0, 0}) + words({1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0}) +
         words({3, 0, 0, 0});
}

constexpr std::string_view kGoldenJson =
    R"({"flag":true,"small":-2,"wide":9801809732607083009,"real":1.5,"text":"hi",)"
    R"("stamp":{"secs":7,"nsecs":8},"bytes":"CQo=","fixed":[1,-1,3],"floats":[2.5],)"
    R"("matrix":[0,0],"numbers":[-1,4],"texts":["","a"],"inner":{"x":5},"parts":[{"x":6}],)"
    R"("nothing":[{},{},{}]})";

TEST(Convert, large_attached_bytes_are_not_copied) {
  google::protobuf::FileDescriptorProto file;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "name: 'blob.proto' syntax: 'proto3' package: 'blob' dependency: 'hyphos/ros/options.proto' "
      "options { [hyphos.ros.interface] { flavour: ROS1 } } message_type { name: 'Blob' "
      "field { name: 'data' number: 1 label: LABEL_OPTIONAL type: TYPE_BYTES "
      "options { [hyphos.ros.field] { type: UINT8 count: ANY } } } "
      "field { name: 'last' number: 2 label: LABEL_OPTIONAL type: TYPE_STRING "
      "options { [hyphos.ros.field] { type: STRING } } } "
      "options { [hyphos.ros.type] { name: 'blob/Blob' } } } message_type { name: 'Head' "
      "field { name: 'last' number: 2 label: LABEL_OPTIONAL type: TYPE_STRING } }",
      &file));
  google::protobuf::DescriptorPool pool(google::protobuf::DescriptorPool::generated_pool());
  const auto* built = pool.BuildFile(file);
  ASSERT_NE(built, nullptr);
  Shapes shapes;
  const Converter converter(
      *shapes
           .join(*built->FindMessageTypeByName("Blob"), *built->FindMessageTypeByName("Head"), true)
           .or_throw(),
      true);
  for (const std::size_t size : {Converter::kKept - 1, Converter::kKept}) {
    const std::uint32_t length = static_cast<std::uint32_t>(size);
    std::string wire(reinterpret_cast<const char*>(&length), sizeof length);
    wire.append(size, 'x');
    wire += words({3, 0, 0, 0}) + "end";
    const Buffer unit = Buffer::copy_of(std::string_view(wire));
    const auto read = [&](const Buffer& within) {
      return converter.read(Form::ros1, unit.bytes(), &WritableBuffer::on_heap, 0, within)
          .or_throw()
          .buffers[0];
    };
    EXPECT_EQ(read(unit).data() == unit.data() + 4, size >= Converter::kKept);
    EXPECT_NE(read({}).data(), unit.data() + 4);
    EXPECT_EQ(read(unit).text(), std::string(size, 'x'));
    EXPECT_EQ(read({}).text(), std::string(size, 'x'));
    const RawMessage message =
        converter.read(Form::ros1, unit.bytes(), &WritableBuffer::on_heap, 0).or_throw();
    for (const Form form : {Form::ros1, Form::cdr}) {
      const EncodedMessage written = converter.write(form, message).or_throw();
      const bool apart = size >= Converter::kKept;
      EXPECT_EQ(written.array.data() == message.buffers[0].data(), apart);
      EXPECT_EQ(written.tail.empty(), !apart);
      const RawMessage again =
          converter.read(form, written.joined().bytes(), &WritableBuffer::on_heap, 0).or_throw();
      EXPECT_EQ(again.payload.text(), message.payload.text());
      EXPECT_EQ(again.buffers[0].text(), message.buffers[0].text());
      if (form == Form::ros1) {
        EXPECT_EQ(written.joined().text(), wire);
      }
    }
    const EncodedMessage cbor = converter.write(Form::cbor, message).or_throw();
    EXPECT_EQ(cbor.array.data() == message.buffers[0].data(), size >= Converter::kKept);
    RawMessage halves{message.payload, {}};
    halves.buffers.push_back(message.buffers[0].slice(0, size / 2));
    halves.buffers.push_back(message.buffers[0].slice(size / 2, size - size / 2));
    const EncodedMessage copied = converter.write(Form::cbor, halves).or_throw();
    EXPECT_TRUE(copied.array.empty()) << "several buffers are copied";
    EXPECT_EQ(cbor.joined().text(), copied.joined().text());
  }
}

TEST(Convert, ros1_and_json_give_the_same_message) {
  const auto types = sample_types();
  const Converter& all = converter(*types, "made/All");
  const RawMessage message = read(all, Form::ros1, golden_ros1());
  EXPECT_EQ(write(all, Form::json, message), kGoldenJson);
  EXPECT_EQ(write(all, Form::ros1, message), golden_ros1());
  const RawMessage again = read(all, Form::json, kGoldenJson);
  EXPECT_EQ(write(all, Form::ros1, again), golden_ros1());
}

TEST(Convert, large_javascript_numbers_without_exponent_are_read) {
  const auto types = sample_types();
  const Converter& all = converter(*types, "made/All");
  const auto real = [&](const std::string& number) {
    const std::string text = R"({"text":"18446744073709551616\\\" 1","wide":18446744073709551615,)"
                             R"("matrix":[-9223372036854775809,3],"real":)" +
                             number + "}";
    const RawMessage message = read(all, Form::json, text);
    const std::string again = write(all, Form::json, message);
    EXPECT_TRUE(has(again, R"("text":"18446744073709551616\\\" 1")")) << again;
    EXPECT_TRUE(has(again, R"("wide":18446744073709551615)")) << again;
    EXPECT_EQ(write(all, Form::json, read(all, Form::json, again)), again);
    const std::size_t at = again.find(R"("real":)") + 7;
    return std::stod(again.substr(at, again.find(',', at) - at));
  };
  EXPECT_EQ(real("100000000000000000000"), 1e20);
  EXPECT_EQ(real("-747171717171717186000"), -747171717171717186000.0);
  EXPECT_EQ(real("18446744073709551616"), 18446744073709551616.0);
  const std::string_view whole = R"({"wide":18446744073709551616})";
  const auto refused =
      all.read(Form::json, std::as_bytes(std::span(whole)), &WritableBuffer::on_heap, 0);
  EXPECT_FALSE(refused.ok()) << "the number does not fit in 64 bits";
}

TEST(Convert, cdr_is_aligned_relative_to_the_end_of_its_header) {
  const auto types = sample_types();
  const Converter& all = converter(*types, "made/msg/All");
  const RawMessage message =
      read(all, Form::json, R"({"flag":true,"wide":1,"signs":"ä😀","few":[7]})");
  const std::string wire = write(all, Form::cdr, message);
  EXPECT_EQ(wire.substr(0, 4), words({0, 1, 0, 0}));
  EXPECT_EQ(wire.substr(4, 16), words({1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}));
  // Three UTF-16 units of four bytes each.
  EXPECT_TRUE(has(wire, words({3, 0, 0, 0, 0xe4, 0, 0, 0, 0x3d, 0xd8, 0, 0, 0, 0xde, 0, 0})));
  EXPECT_EQ(write(all, Form::json, read(all, Form::cdr, wire)), write(all, Form::json, message));
}

TEST(Convert, repeated_fields_are_merged_as_in_protobuf) {
  const auto types = sample_types();
  const Converter& all = converter(*types, "made/All");
  // inner (13) twice, the later x wins. text twice, the last one wins. numbers (11) unpacked.
  const std::string pieces = words({0x6a, 2, 8, 1, 0x6a, 2, 8, 3}) +
                             words({0x2a, 1, 'a', 0x2a, 1, 'b'}) + words({0x58, 5, 0x58, 6}) +
                             words({0xa0, 6, 1});  // an unknown field
  const RawMessage message{Buffer::copy_of(pieces), {}};
  const std::string json = write(all, Form::json, message);
  EXPECT_TRUE(has(json, R"("inner":{"x":3})"));
  EXPECT_TRUE(has(json, R"("text":"b")"));
  EXPECT_TRUE(has(json, R"("numbers":[5,6])"));
}

TEST(Convert, invalid_utf8_is_replaced) {
  const auto types = sample_types();
  const Converter& all = converter(*types, "made/All");
  std::string wire = golden_ros1();
  wire[wire.find("hi") + 1] = static_cast<char>(0xff);
  const RawMessage message = read(all, Form::ros1, wire);
  EXPECT_TRUE(has(write(all, Form::json, message), "\"text\":\"h\xef\xbf\xbd\""));
}

TEST(Convert, a_value_that_ros_cannot_hold_is_refused_with_its_field) {
  const auto types = sample_types();
  const Converter& all = converter(*types, "made/All");
  const RawMessage large{Buffer::copy_of(words({0x10, 0x80, 1})), {}};  // small: 128
  const auto written = all.write(Form::ros1, large);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, Code::corrupt);
  EXPECT_TRUE(has(written.error().message, "'small' is 128, which does not fit in 8 bits"));
  const RawMessage early{
      Buffer::copy_of(words({0x30, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})),
      {}};  // stamp: -1 ns
  EXPECT_TRUE(has(all.write(Form::ros1, early).error().message, "'stamp' is -1 ns"));
  EXPECT_TRUE(converter(*types, "made/msg/All").write(Form::cdr, early));
  const RawMessage three{Buffer::copy_of(words({0x42, 2, 1, 2})), {}};
  EXPECT_TRUE(has(all.write(Form::ros1, three).error().message,
                  "'fixed' has 2 elements, but ROS requires 3"));
}

TEST(Convert, a_duplicate_json_field_is_refused) {
  const auto types = sample_types();
  const Converter& all = converter(*types, "made/All");
  for (const std::string_view twice :
       {R"({"matrix":[1,2],"matrix":[3,4]})", R"({"inner":{"x":1},"small":1,"inner":{"x":2}})",
        R"({"parts":[{"x":1,"x":1}]})"}) {
    const auto read = all.read(Form::json, bytes_of(twice), &WritableBuffer::on_heap, 0);
    ASSERT_FALSE(read) << twice;
    EXPECT_TRUE(has(read.error().message, "twice"));
  }
  EXPECT_TRUE(all.read(Form::json, bytes_of(R"({"matrix":[1,2],"parts":[{"x":1},{"x":1}]})"),
                       &WritableBuffer::on_heap, 0));
}

TEST(Convert, the_text_of_a_ros2_type_is_built_from_its_descriptor) {
  const std::string text = sample_types()->message("made/msg/All").or_throw().text;
  const std::string own = text.substr(0, text.find("===="));
  EXPECT_EQ(own,
            "bool flag\nint8 small\nuint64 wide\nfloat64 real\nstring text\n"
            "builtin_interfaces/msg/Time stamp\nuint8[] bytes\nint8[3] fixed\nfloat32[] floats\n"
            "float64[2] matrix\nint16[] numbers\nstring[] texts\nmade/msg/Part inner\n"
            "made/msg/Part[] parts\nmade/msg/Nothing[] nothing\nuint32[<=2] few\n"
            "wstring signs\n\n");
  EXPECT_TRUE(has(text, "\nMSG: made/msg/Part\nint64 x\n"));
}

TEST(Convert, messages_that_claim_more_than_they_have_are_refused) {
  const auto types = sample_types();
  const Converter& all = converter(*types, "made/All");
  const std::string whole = golden_ros1();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(all.read(Form::ros1, bytes_of(whole).first(size), &WritableBuffer::on_heap, 0));
  }
  std::string endless = whole;
  endless.replace(endless.size() - 4, 4, words({0xff, 0xff, 0xff, 0xff}));  // nothing
  const auto read = all.read(Form::ros1, bytes_of(endless), &WritableBuffer::on_heap, 0);
  ASSERT_FALSE(read);
  EXPECT_TRUE(has(read.error().message, "'nothing' claims 4294967295 elements"));
  EXPECT_TRUE(
      has(all.read(Form::ros1, bytes_of(whole + "x"), &WritableBuffer::on_heap, 0).error().message,
          "1 bytes follow after the last field"));
}

TEST(Utf, utf8_is_recognised) {
  EXPECT_TRUE(is_utf8("plain, and longer than eight"));
  EXPECT_TRUE(is_utf8("ä€😀"));
  for (const char* bad : {"\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"}) {
    EXPECT_FALSE(is_utf8(bad));
    std::string mended;
    append_utf8(std::string_view(bad), mended);
    EXPECT_TRUE(is_utf8(mended));
  }
}

}  // namespace
}  // namespace hyphos::gateway
