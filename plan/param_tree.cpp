#include "plan/param_tree.hpp"

#include <algorithm>

#include "base/utf8.hpp"
#include "plan/build.hpp"

namespace hyphos::plan {
namespace {

constexpr std::size_t kMaxWords = 32;

bool is_plain_key(const std::string& key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_';
  });
}

std::string key_yaml(const std::string& key) { return is_plain_key(key) ? key : quoted(key); }

bool is_inner(const ParamValue& value) {
  return value.kind == ParamValue::Kind::map && !value.entries.empty();
}

void add_leaves(const std::string& path, const ParamValue& value, std::vector<Leaf>& out) {
  if (!is_inner(value)) {
    out.emplace_back(path, value);
    return;
  }
  for (const ParamEntry& entry : value.entries) {
    add_leaves(path.empty() ? entry.key : path + "." + entry.key, entry.value, out);
  }
}

void add_lines(const ParamValue& tree, const std::string& indent, std::string& out) {
  for (const ParamEntry& entry : tree.entries) {
    out += indent + key_yaml(entry.key) + ":";
    if (is_inner(entry.value)) {
      out += "\n";
      add_lines(entry.value, indent + "  ", out);
    } else {
      out += " " + flow_yaml(entry.value) + "\n";
    }
  }
}

/// Null if there is none.
ParamValue* child(ParamValue& map, std::string_view key) {
  for (ParamEntry& entry : map.entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

}  // namespace

Policy shared_params_policy() {
  constexpr std::uint32_t kDepth = 64;
  Policy policy = reliable_policy(kDepth);
  policy.overflow = Overflow::drop_oldest;
  policy.latched = true;
  return policy;
}

std::string quoted(const std::string& text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\x";
      out += kHex[byte >> 4U];
      out += kHex[byte & 15U];
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string flow_yaml(const ParamValue& value) {
  std::string out;
  switch (value.kind) {
    case ParamValue::Kind::null:
      return value.text.empty() ? "null" : value.text;
    case ParamValue::Kind::list:
      for (const ParamValue& item : value.items) {
        out += (out.empty() ? "" : ", ") + flow_yaml(item);
      }
      return "[" + out + "]";
    case ParamValue::Kind::map:
      for (const ParamEntry& entry : value.entries) {
        out += (out.empty() ? "" : ", ") + key_yaml(entry.key) + ": " + flow_yaml(entry.value);
      }
      return "{" + out + "}";
    case ParamValue::Kind::scalar:
      break;
  }
  // Text that is plain in one file may need quotes elsewhere. Values with these characters are
  // always text, so quotes never change a type.
  constexpr std::string_view kSpecial = ":#{}[],&*!|>'\"%@`\n";
  return value.quoted || value.text.find_first_of(kSpecial) != std::string::npos
             ? quoted(value.text)
             : value.text;
}

Result<ParamValue> parse_value(std::string_view text, const std::string& name,
                               const config::Limits& limits) {
  config::Problems problems;
  const config::Value value = config::parse_yaml(text, name, problems, limits);
  config::report_duplicates(value, problems);
  if (problems.failed()) return problems.to_error();
  return to_param(value);
}

std::vector<Leaf> leaves_at(const std::string& path, const ParamValue& value) {
  std::vector<Leaf> out;
  if (!path.empty() || is_inner(value)) add_leaves(path, value, out);
  return out;
}

std::string path_problem(std::string_view path) {
  if (path.empty()) return "the path is empty";
  if (path.size() > kMaxSharedPath) {
    return "a path has at most " + std::to_string(kMaxSharedPath) + " bytes";
  }
  if (find_bad_utf8(path) != std::string_view::npos ||
      path.find_first_of("\t\r\n") != std::string_view::npos) {
    return "a path is one line of UTF-8 without control characters";
  }
  if (path.front() == '.' || path.back() == '.' || path.find("..") != std::string_view::npos) {
    return "a word between the dots is empty";
  }
  const auto words = std::count(path.begin(), path.end(), '.') + 1;
  if (static_cast<std::size_t>(words) > kMaxWords) {
    return "a path has at most " + std::to_string(kMaxWords) + " words";
  }
  return {};
}

std::string leaf_problem(const Leaf& leaf) {
  if (std::string why = path_problem(leaf.first); !why.empty()) {
    return "'" + leaf.first.substr(0, kMaxSharedPath) + "': " + why;
  }
  if (flow_yaml(leaf.second).size() > kMaxSharedValueBytes) {
    return "'" + leaf.first + "': a value has at most " + std::to_string(kMaxSharedValueBytes) +
           " bytes as YAML";
  }
  return {};
}

std::string size_problem(const std::vector<Leaf>& leaves) {
  if (leaves.size() > kMaxSharedParams) {
    return "a shared tree has at most " + std::to_string(kMaxSharedParams) + " values, found " +
           std::to_string(leaves.size());
  }
  std::size_t bytes = 0;
  for (const Leaf& leaf : leaves) bytes += leaf.first.size() + flow_yaml(leaf.second).size();
  if (bytes <= kMaxSharedBytes) return {};
  return "a shared tree takes at most " + std::to_string(kMaxSharedBytes) + " bytes, found " +
         std::to_string(bytes);
}

void set_leaf(ParamValue& tree, std::string_view path, const ParamValue& value) {
  ParamValue* at = &tree;
  while (true) {
    if (at->kind != ParamValue::Kind::map) {
      *at = {};
      at->kind = ParamValue::Kind::map;
    }
    const std::size_t dot = path.find('.');
    const std::string_view key = path.substr(0, dot);
    ParamValue* next = child(*at, key);
    if (next == nullptr) {
      at->entries.push_back({std::string(key), {}});
      next = &at->entries.back().value;
    }
    at = next;
    if (dot == std::string_view::npos) break;
    path.remove_prefix(dot + 1);
  }
  const bool is_empty_map = value.kind == ParamValue::Kind::map && value.entries.empty();
  if (!is_empty_map || at->kind != ParamValue::Kind::map) *at = value;
}

void remove_path(ParamValue& tree, std::string_view path) {
  ParamValue* at = &tree;
  for (std::size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
    at = child(*at, path.substr(0, dot));
    if (at == nullptr) return;
    path.remove_prefix(dot + 1);
  }
  std::erase_if(at->entries, [&](const ParamEntry& entry) { return entry.key == path; });
}

}  // namespace hyphos::plan

namespace hyphos {

std::string to_yaml(const ParamValue& tree) {
  if (tree.kind != ParamValue::Kind::map || tree.entries.empty()) {
    return plan::flow_yaml(tree) + "\n";
  }
  std::string out;
  plan::add_lines(tree, "", out);
  return out;
}

}  // namespace hyphos
