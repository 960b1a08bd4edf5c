#include "gateway/rosbridge/definition.hpp"

#include <algorithm>
#include <charconv>

#include "gateway/convert/json_sink.hpp"
#include "gateway/rosbridge/json_text.hpp"

namespace hyphos::gateway::rosbridge {
namespace {

constexpr std::string_view kBlank = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t from = text.find_first_not_of(kBlank);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(kBlank) + 1 - from);
}

std::string_view without_comment(std::string_view line) { return line.substr(0, line.find('#')); }

bool is_builtin(std::string_view type) {
  constexpr std::string_view kBuiltin[] = {
      "bool",  "byte",   "char",    "int8",    "uint8",  "int16",   "uint16", "int32",   "uint32",
      "int64", "uint64", "float32", "float64", "string", "wstring", "time",   "duration"};
  return std::ranges::find(kBuiltin, type) != std::end(kBuiltin);
}

// A name without a package belongs to the package of the surrounding type.
std::string full_name(std::string_view type, std::string_view inside) {
  if (is_builtin(type) || type.find('/') != std::string_view::npos) return std::string(type);
  if (type == "Header") return "std_msgs/Header";
  return std::string(inside.substr(0, inside.find('/') + 1)) + std::string(type);
}

void read_field(Definition& to, std::string_view type, std::string_view name) {
  Field field;
  field.name = name;
  if (type.ends_with(']')) {
    const std::size_t open = type.find('[');
    if (open == std::string_view::npos) return;
    const std::string_view length = type.substr(open + 1, type.size() - open - 2);
    field.length = 0;
    std::from_chars(length.data(), length.data() + length.size(), field.length);
    type = type.substr(0, open);
  }
  type = type.substr(0, type.find("<="));  // removes the bound of a ROS 2 string
  field.type = full_name(type, to.type);
  to.fields.push_back(std::move(field));
}

void read_line(Definition& to, std::string_view line) {
  const std::string_view all = trimmed(line);
  const std::string_view plain = trimmed(without_comment(line));
  const std::size_t gap = plain.find_first_of(kBlank);
  if (gap == std::string_view::npos) return;
  const std::string_view type = plain.substr(0, gap);
  const std::string_view rest = trimmed(plain.substr(gap));
  const std::size_t end = std::min(rest.find_first_of(" \t\r="), rest.size());
  const std::size_t equals = rest.find_first_not_of(kBlank, end);
  // In ROS 2, other text after the name is a default value.
  if (equals == std::string_view::npos || rest[equals] != '=') {
    return read_field(to, type, rest.substr(0, end));
  }
  // A '#' in a string constant belongs to the constant.
  const std::string_view value =
      type == "string" ? all.substr(all.find('=') + 1) : rest.substr(equals + 1);
  to.constants.push_back(
      {std::string(trimmed(rest.substr(0, equals))), std::string(trimmed(value))});
}

std::string example(const Field& field) {
  if (field.length >= 0) return "[]";
  if (!is_builtin(field.type)) return "{}";
  if (field.type == "string" || field.type == "wstring") return "";
  if (field.type == "bool") return "False";
  if (field.type == "time" || field.type == "duration") return "{}";
  return field.type.starts_with("float") ? "0.0" : "0";
}

template <typename List, typename Of>
std::vector<std::string> column(const List& list, Of of) {
  std::vector<std::string> out;
  out.reserve(list.size());
  for (const auto& one : list) out.push_back(of(one));
  return out;
}

std::string typedef_json(const Definition& definition) {
  const auto& fields = definition.fields;
  std::string out = R"({"type":)" + json_string(definition.type);
  out += R"(,"fieldnames":)" + quoted_list(column(fields, [](const Field& f) { return f.name; }));
  out += R"(,"fieldtypes":)" + quoted_list(column(fields, [](const Field& f) { return f.type; }));
  out += R"(,"fieldarraylen":[)";
  for (std::size_t i = 0; i < fields.size(); ++i) {
    out += (i > 0 ? "," : "") + std::to_string(fields[i].length);
  }
  out += R"(],"examples":)" + quoted_list(column(fields, example));
  const auto& constants = definition.constants;
  out += R"(,"constnames":)" +
         quoted_list(column(constants, [](const Constant& c) { return c.name; }));
  out += R"(,"constvalues":)" +
         quoted_list(column(constants, [](const Constant& c) { return c.value; }));
  return out + "}";
}

}  // namespace

std::vector<Definition> read_definitions(std::string_view type, std::string_view text) {
  std::vector<Definition> out{{std::string(type), {}, {}}};
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with("====")) continue;
    if (line.starts_with("MSG: ")) {
      out.push_back({std::string(trimmed(line.substr(5))), {}, {}});
    } else {
      read_line(out.back(), line);
    }
  }
  return out;
}

std::optional<Definition> time_definition(std::string_view type) {
  if (type == "builtin_interfaces/msg/Time" || type == "builtin_interfaces/msg/Duration") {
    return Definition{std::string(type), {{"sec", "int32", -1}, {"nanosec", "uint32", -1}}, {}};
  }
  if (type != "time" && type != "duration") return std::nullopt;
  return Definition{std::string(type), {{"secs", "int32", -1}, {"nsecs", "int32", -1}}, {}};
}

std::string arguments_by_name(const std::vector<std::string_view>& args,
                              const Definition& request) {
  if (args.size() > request.fields.size()) return {};
  std::string out = "{";
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (i > 0) out += ',';
    append_json_text(request.fields[i].name, out);
    out += ':';
    out += args[i];
  }
  return out + "}";
}

std::string typedefs_json(const std::vector<Definition>& definitions) {
  std::string out = "[";
  for (const Definition& definition : definitions) {
    if (out.size() > 1) out += ',';
    out += typedef_json(definition);
  }
  return out + "]";
}

}  // namespace hyphos::gateway::rosbridge
