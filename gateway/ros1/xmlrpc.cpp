#include "gateway/ros1/xmlrpc.hpp"

#include <charconv>
#include <cmath>
#include <optional>
#include <pugixml.hpp>
#include <system_error>

#include "gateway/ros1/xml_text.hpp"

namespace hyphos::gateway::ros1 {
namespace {

Error malformed_xml(std::string message) { return {Code::corrupt, std::move(message), "XML-RPC"}; }

// A text may have several pieces: CDATA, or text around a comment.
std::string text_of(const pugi::xml_node& node) {
  std::string text;
  for (const pugi::xml_node part : node.children()) {
    if (part.type() == pugi::node_pcdata || part.type() == pugi::node_cdata) text += part.value();
  }
  return text;
}

pugi::xml_node first_element(const pugi::xml_node& node) {
  for (const pugi::xml_node part : node.children()) {
    if (part.type() == pugi::node_element) return part;
  }
  return {};
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  text = text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  return text;
}

template <typename Number>
std::optional<Number> number(std::string_view text) {
  text = trimmed(text);
  Number value{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<Value> value_of(const pugi::xml_node& node, int depth);

Result<Value> array_of(const pugi::xml_node& node, int depth) {
  Value::Array array;
  for (const pugi::xml_node item : node.child("data").children("value")) {
    Result<Value> value = value_of(item, depth);
    if (!value) return value;
    array.push_back(std::move(*value));
  }
  return Value(std::move(array));
}

Result<Value> struct_of(const pugi::xml_node& node, int depth) {
  Value::Struct members;
  for (const pugi::xml_node member : node.children("member")) {
    const pugi::xml_node item = member.child("value");
    if (!item) return malformed_xml("a <member> has no <value>");
    Result<Value> value = value_of(item, depth);
    if (!value) return value;
    members.insert_or_assign(text_of(member.child("name")), std::move(*value));
  }
  return Value(std::move(members));
}

Result<Value> scalar_of(std::string_view type, std::string text) {
  if (type == "string") return Value(std::move(text));
  if (type == "int" || type == "i4") {
    if (const auto value = number<std::int32_t>(text)) return Value(*value);
  } else if (type == "boolean") {
    const std::string_view word = trimmed(text);
    if (word == "1" || word == "true") return Value(true);
    if (word == "0" || word == "false") return Value(false);
  } else if (type == "double") {
    if (const auto value = number<double>(text)) return Value(*value);
  } else if (type == "base64") {
    if (auto bytes = from_base64(text)) return Value(Binary{std::move(*bytes)});
  } else if (type == "dateTime.iso8601") {
    return Value(DateTime{std::string(trimmed(text))});
  } else {
    return malformed_xml("a value has the unknown type <" + std::string(type.substr(0, 40)) + ">");
  }
  return malformed_xml("'" + text.substr(0, 40) + "' is not a valid <" + std::string(type) + ">");
}

Result<Value> value_of(const pugi::xml_node& node, int depth) {
  if (depth > kMaxXmlDepth) {
    return malformed_xml("values are nested deeper than " + std::to_string(kMaxXmlDepth));
  }
  const pugi::xml_node typed = first_element(node);
  if (!typed) return Value(text_of(node));
  const std::string_view type = typed.name();
  if (type == "array") return array_of(typed, depth + 1);
  if (type == "struct") return struct_of(typed, depth + 1);
  return scalar_of(type, text_of(typed));
}

Result<pugi::xml_node> root_of(pugi::xml_document& document, std::string_view xml,
                               const char* name) {
  if (xml.size() > kMaxXml)
    return malformed_xml("the document has more than " + std::to_string(kMaxXml) + " bytes");
  // pugixml does not expand entities that a document defines, so none can grow.
  constexpr unsigned kFlags =
      pugi::parse_cdata | pugi::parse_escapes | pugi::parse_eol | pugi::parse_ws_pcdata;
  const pugi::xml_parse_result parsed =
      document.load_buffer(xml.data(), xml.size(), kFlags, pugi::encoding_utf8);
  if (!parsed) {
    return malformed_xml(std::string(parsed.description()) + " at byte " +
                         std::to_string(parsed.offset));
  }
  const pugi::xml_node root = document.child(name);
  if (!root) return malformed_xml("the document has no <" + std::string(name) + ">");
  return root;
}

void append(std::string& out, const Value& value);

struct Writer {
  std::string& out;

  void operator()(bool value) const {
    out += value ? "<boolean>1</boolean>" : "<boolean>0</boolean>";
  }
  void operator()(std::int32_t value) const { out += "<int>" + std::to_string(value) + "</int>"; }
  void operator()(double value) const {
    char digits[32];
    const auto end = std::to_chars(std::begin(digits), std::end(digits), value).ptr;
    out += "<double>";
    out.append(digits, end);
    out += "</double>";
  }
  void operator()(const std::string& value) const {
    out += "<string>";
    append_escaped(out, value);
    out += "</string>";
  }
  void operator()(const Binary& value) const {
    out += "<base64>";
    append_base64(out, value.bytes);
    out += "</base64>";
  }
  void operator()(const DateTime& value) const {
    out += "<dateTime.iso8601>";
    append_escaped(out, value.text);
    out += "</dateTime.iso8601>";
  }
  void operator()(const Value::Array& array) const {
    out += "<array><data>";
    for (const Value& value : array) append(out, value);
    out += "</data></array>";
  }
  void operator()(const Value::Struct& members) const {
    out += "<struct>";
    for (const auto& [name, value] : members) {
      out += "<member><name>";
      append_escaped(out, name);
      out += "</name>";
      append(out, value);
      out += "</member>";
    }
    out += "</struct>";
  }
};

void append(std::string& out, const Value& value) {
  out += "<value>";
  value.visit(Writer{out});
  out += "</value>";
}

constexpr std::string_view kProlog = "<?xml version=\"1.0\"?>\n";

}  // namespace

Result<RpcCall> parse_call(std::string_view xml) {
  pugi::xml_document document;
  const Result<pugi::xml_node> root = root_of(document, xml, "methodCall");
  if (!root) return root.error();
  RpcCall call{std::string(trimmed(text_of(root->child("methodName")))), {}};
  if (call.method.empty()) return malformed_xml("the call has no <methodName>");
  for (const pugi::xml_node param : root->child("params").children("param")) {
    Result<Value> value = value_of(param.child("value"), 0);
    if (!value) return value.error();
    call.params.push_back(std::move(*value));
  }
  return call;
}

Result<Value> parse_reply(std::string_view xml) {
  pugi::xml_document document;
  const Result<pugi::xml_node> root = root_of(document, xml, "methodResponse");
  if (!root) return root.error();
  if (const pugi::xml_node fault = root->child("fault")) {
    const Result<Value> value = value_of(fault.child("value"), 0);
    const auto* members = value ? value->get_if<Value::Struct>() : nullptr;
    const auto text =
        members != nullptr ? members->find("faultString") : Value::Struct::const_iterator();
    return Error{Code::io,
                 "the call was refused: " + (members != nullptr && text != members->end()
                                                 ? text->second.text()
                                                 : std::string("the server gave no reason")),
                 "XML-RPC"};
  }
  const pugi::xml_node value = root->child("params").child("param").child("value");
  if (!value) return malformed_xml("the reply has no value");
  return value_of(value, 0);
}

std::string write_call(std::string_view method, const std::vector<Value>& params) {
  std::string out(kProlog);
  out += "<methodCall><methodName>";
  append_escaped(out, method);
  out += "</methodName><params>";
  for (const Value& value : params) {
    out += "<param>";
    append(out, value);
    out += "</param>";
  }
  out += "</params></methodCall>\n";
  return out;
}

std::string write_reply(const Value& value) {
  std::string out(kProlog);
  out += "<methodResponse><params><param>";
  append(out, value);
  out += "</param></params></methodResponse>\n";
  return out;
}

std::string write_fault(int code, std::string_view text) {
  std::string out(kProlog);
  out += "<methodResponse><fault>";
  append(out, Value::Struct{{"faultCode", code}, {"faultString", text}});
  out += "</fault></methodResponse>\n";
  return out;
}

}  // namespace hyphos::gateway::ros1
