#include "gateway/ros1/xmlrpc.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "gateway/ros1/xml_text.hpp"

using namespace hyphos;
using namespace hyphos::gateway::ros1;

namespace {

Value only_param(const std::string& value) {
  const auto call = parse_call("<methodCall><methodName>m</methodName><params><param>" + value +
                               "</param></params></methodCall>");
  EXPECT_TRUE(call.ok()) << (call ? "" : call.error().to_string());
  return call && call->params.size() == 1 ? call->params[0] : Value("no value was read");
}

std::string refusal(const std::string& value) {
  const auto call = parse_call("<methodCall><methodName>m</methodName><params><param>" + value +
                               "</param></params></methodCall>");
  return call ? "" : call.error().message;
}

}  // namespace

TEST(XmlRpc, a_call_of_roscpp_is_read) {
  const auto call = parse_call(
      "<?xml version=\"1.0\"?>\r\n<methodCall><methodName>registerPublisher</methodName>\r\n"
      "<params><param><value>/talker</value></param><param><value>/chatter</value></param>"
      "<param><value>std_msgs/String</value></param>"
      "<param><value>http://host:41000/</value></param></params></methodCall>\r\n");
  ASSERT_TRUE(call.ok());
  EXPECT_EQ(call->method, "registerPublisher");
  const std::vector<Value> expected{"/talker", "/chatter", "std_msgs/String", "http://host:41000/"};
  EXPECT_EQ(call->params, expected);
}

TEST(XmlRpc, a_reply_of_rospy_is_read) {
  const auto reply = parse_reply(
      "<?xml version='1.0'?>\n<methodResponse>\n<params>\n<param>\n<value><array><data>\n"
      "<value><int>1</int></value>\n<value><string>ready</string></value>\n"
      "<value><array><data>\n<value><string>TCPROS</string></value>\n"
      "<value><string>host</string></value>\n<value><int>41001</int></value>\n"
      "</data></array></value>\n</data></array></value>\n</param>\n</params>\n"
      "</methodResponse>\n");
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(*reply, (Value::Array{1, "ready", Value::Array{"TCPROS", "host", 41001}}));
}

TEST(XmlRpc, every_type_is_read) {
  EXPECT_EQ(only_param("<value><i4>-7</i4></value>"), Value(-7));
  EXPECT_EQ(only_param("<value><int> +7 </int></value>"), Value(7));
  EXPECT_EQ(only_param("<value><boolean>1</boolean></value>"), Value(true));
  EXPECT_EQ(only_param("<value><double>-1.5e3</double></value>"), Value(-1500.0));
  EXPECT_EQ(only_param("<value><base64>aGk\n=</base64></value>"), Value(Binary{"hi"}));
  EXPECT_EQ(only_param("<value><dateTime.iso8601>20260102T03:04:05</dateTime.iso8601></value>"),
            Value(DateTime{"20260102T03:04:05"}));
  EXPECT_EQ(only_param("<value><struct><member><name>a</name><value><i4>1</i4></value></member>"
                       "</struct></value>"),
            (Value::Struct{{"a", 1}}));
}

TEST(XmlRpc, blanks_and_pieces_of_strings_are_kept) {
  EXPECT_EQ(only_param("<value>  </value>"), Value("  "));
  EXPECT_EQ(only_param("<value/>"), Value(""));
  EXPECT_EQ(only_param("<value>\n <string> a &lt;b&gt; </string>\n</value>"), Value(" a <b> "));
  EXPECT_EQ(only_param("<value><string>a<![CDATA[<&]]>b<!-- c -->d</string></value>"),
            Value("a<&bd"));
}

TEST(XmlRpc, errors_describe_the_faulty_value) {
  EXPECT_EQ(refusal("<value><int>seven</int></value>"), "'seven' is not a valid <int>");
  EXPECT_EQ(refusal("<value><int>2147483648</int></value>"), "'2147483648' is not a valid <int>");
  EXPECT_EQ(refusal("<value><base64>a</base64></value>"), "'a' is not a valid <base64>");
  EXPECT_EQ(refusal("<value><nil/></value>"), "a value has the unknown type <nil>");
  EXPECT_NE(parse_call("<methodCall>").error().message, "");
  EXPECT_EQ(parse_call("<methodCall/>").error().message, "the call has no <methodName>");
  EXPECT_EQ(parse_call("<other/>").error().message, "the document has no <methodCall>");
}

TEST(XmlRpc, arrays_nested_too_deeply_are_refused) {
  std::string deep;
  for (int level = 0; level < 100'000; ++level) deep += "<value><array><data>";
  for (int level = 0; level < 100'000; ++level) deep += "</data></array></value>";
  EXPECT_EQ(refusal(deep), "values are nested deeper than 64");
}

TEST(XmlRpc, a_fault_is_an_error_with_its_text) {
  const auto reply = parse_reply(write_fault(4, "too <many>"));
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().message, "the call was refused: too <many>");
}

TEST(XmlRpc, written_values_are_read_back) {
  const std::vector<Value> params{
      "a & <b> \"c\"\r\n\t",
      true,
      -5,
      0.1,
      std::numeric_limits<double>::infinity(),
      Binary{std::string("\0\xFF\x10", 3)},
      DateTime{"20260102T03:04:05"},
      Value::Array{},
      Value::Struct{{"x", Value::Array{1, "two", 3.0}}, {"", Value::Struct{}}}};
  const auto call = parse_call(write_call("m", params));
  ASSERT_TRUE(call.ok());
  EXPECT_EQ(call->params, params);
  const auto reply = parse_reply(write_reply(params.back()));
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(*reply, params.back());
}

TEST(XmlRpc, the_written_bytes_are_fixed) {
  EXPECT_EQ(write_call("getPid", {"/hyphos", 1, Value::Array{true, 0.5}}),
            "<?xml version=\"1.0\"?>\n<methodCall><methodName>getPid</methodName><params>"
            "<param><value><string>/hyphos</string></value></param>"
            "<param><value><int>1</int></value></param>"
            "<param><value><array><data><value><boolean>1</boolean></value>"
            "<value><double>0.5</double></value></data></array></value></param>"
            "</params></methodCall>\n");
}

TEST(XmlRpc, invalid_xml_text_is_replaced) {
  std::string out;
  append_escaped(out, std::string("a\0b\x1F\xC3\xA4\xC3(\xED\xA0\x80", 11));
  EXPECT_EQ(out, "a\uFFFDb\uFFFD\xC3\xA4\uFFFD(\uFFFD\uFFFD\uFFFD");
}

TEST(Base64, base64_round_trips_at_every_length) {
  std::string bytes;
  for (int length = 0; length < 20; ++length) {
    std::string text;
    append_base64(text, bytes);
    EXPECT_EQ(from_base64(text), bytes);
    bytes += static_cast<char>(length * 37);
  }
  EXPECT_EQ(from_base64("aGk"), std::nullopt);
  EXPECT_EQ(from_base64("aG=k"), std::nullopt);
  EXPECT_EQ(from_base64("a-k="), std::nullopt);
}
