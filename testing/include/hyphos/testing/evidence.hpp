#pragma once

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "hyphos/inspect.hpp"

namespace hyphos::testing::detail {

/// Draws nodes and channels as they are now, for Graphviz: `dot -Tsvg graph.dot -o graph.svg`.
inline void draw(const std::vector<EndpointInfo>& ends, const std::filesystem::path& file) {
  const auto quoted = [](const std::string& text) {
    std::string safe;
    for (const char c : text) {
      if (c == '"' || c == '\\') safe += '\\';
      safe += c == '\n' ? "\\n" : std::string(1, c);
    }
    return '"' + safe + '"';
  };
  std::ofstream out(file);
  out << "digraph robot {\n  rankdir=LR;\n";
  std::set<std::string> nodes;
  std::set<std::string> lines;
  for (const EndpointInfo& end : ends) {
    const std::string channel = quoted("channel " + end.channel);
    const std::string node = quoted("node " + end.node);
    nodes.insert("  " + node + " [label=" + quoted(end.node) + ", shape=box];\n");
    nodes.insert("  " + channel + " [label=" + quoted(end.channel + "\n" + end.type_name) +
                 ", shape=ellipse];\n");
    lines.insert(end.is_publisher ? "  " + node + " -> " + channel + ";\n"
                                  : "  " + channel + " -> " + node + ";\n");
  }
  for (const std::string& node : nodes) out << node;
  for (const std::string& line : lines) out << line;
  out << "}\n";
}

}  // namespace hyphos::testing::detail
