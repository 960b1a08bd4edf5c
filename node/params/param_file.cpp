#include "node/params/param_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <tuple>

#include "base/config.hpp"
#include "hyphos/param_types.hpp"
#include "plan/build.hpp"
#include "plan/load.hpp"
#include "plan/param_tree.hpp"

namespace hyphos {
namespace {

void add_leaves(const ParamValue& value, const std::string& path,
                std::vector<std::pair<std::string, const ParamValue*>>& out) {
  for (const ParamEntry& entry : value.entries) {
    const std::string name = path.empty() ? entry.key : path + "." + entry.key;
    if (entry.value.kind == ParamValue::Kind::map) {
      add_leaves(entry.value, name, out);
    } else if (entry.value.kind != ParamValue::Kind::null) {
      out.emplace_back(name, &entry.value);
    }
  }
}

/// Words of `name` that differ from the line before start new maps.
void add_line(const std::string& before, const ParamLine& line, std::string& out) {
  std::size_t at = 0;
  std::string indent(6, ' ');
  bool shared = true;
  while (true) {
    const std::size_t dot = line.name.find('.', at);
    const std::string word = line.name.substr(at, dot - at);
    if (dot == std::string::npos) {
      out += indent + word + ": " + line.yaml;
      out += line.comment.empty() ? "\n" : "  # " + line.comment + "\n";
      return;
    }
    shared = shared && before.compare(0, dot + 1, line.name, 0, dot + 1) == 0;
    if (!shared) out += indent + word + ":\n";
    indent += "  ";
    at = dot + 1;
  }
}

Error failed(const char* what, const std::filesystem::path& path) {
  const int reason = errno;
  const Code code = reason == ENOSPC || reason == EDQUOT  ? Code::exhausted
                    : reason == EACCES || reason == EPERM ? Code::permission
                                                          : Code::io;
  return {code, std::string(what) + ": " + std::strerror(reason), path.string()};
}

class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

Result<void> write_all(const std::filesystem::path& path, const std::string& text, bool durable) {
  constexpr mode_t kMode = 0644;
  const File file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode));
  if (file.fd() < 0) return failed("cannot be created", path);
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t wrote = ::write(file.fd(), text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return failed("cannot be written", path);
    done += static_cast<std::size_t>(wrote);
  }
  if (durable && ::fsync(file.fd()) != 0) return failed("cannot be written", path);
  return success();
}

}  // namespace

namespace params {

std::vector<std::pair<std::string, const ParamValue*>> leaves_of(const ParamValue& params) {
  std::vector<std::pair<std::string, const ParamValue*>> out;
  add_leaves(params, "", out);
  return out;
}

Result<ParamFile> read_file(const std::filesystem::path& path) {
  auto text = config::read_file(path.string());
  if (!text) return text.error();
  config::Problems problems;
  const config::Value root = plan::load_tree(*text, path.string(), path, problems);
  ParamFile out;
  const config::Value* nodes = root.find("nodes");
  if (nodes == nullptr && !problems.failed()) {
    problems.error(root.source,
                   "no parameters: expected nodes: {NODE: {params: {NAME: VALUE}}}. For a plain "
                   "file, use hyphos param load with --node NODE or --shared");
  }
  out.other_keys = root.entries.size() > 1;
  for (const config::Entry& node : plan::named_entries(nodes, "nodes", plan::kMaxNodes, problems)) {
    const config::Value* params = node.value.find("params");
    out.other_keys = out.other_keys || node.value.entries.size() > (params == nullptr ? 0 : 1);
    if (params == nullptr || params->is(config::Value::Kind::null)) continue;
    if (!params->is(config::Value::Kind::map)) {
      problems.error(params->source, "nodes." + node.key + ".params: expected a map, found " +
                                         config::describe(*params));
      continue;
    }
    out.nodes.push_back({node.key, plan::to_param(*params)});
  }
  if (problems.failed()) return problems.to_error();
  return out;
}

Result<void> write_file(const std::filesystem::path& path, const std::string& text, bool durable) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Error{Code::io, "cannot be created: " + error.message(), folder.string()};
  // In the same folder, so that the rename stays within one file system.
  const std::filesystem::path half =
      folder / ("." + path.filename().string() + "." + std::to_string(::getpid()));
  auto written = write_all(half, text, durable);
  if (written && ::rename(half.c_str(), path.c_str()) != 0) {
    written = failed("cannot be replaced", path);
  }
  if (!written) {
    ::unlink(half.c_str());
    return written;
  }
  if (!durable) return success();
  const File directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.fd() >= 0) ::fsync(directory.fd());
  return success();
}

}  // namespace params

Result<std::vector<ParamLine>> read_params(const std::string& file, const std::string& plain_node) {
  std::vector<ParamLine> lines;
  if (!plain_node.empty()) {
    const auto tree = read_tree(file);
    if (!tree) return tree.error();
    if (tree->find("nodes") == nullptr) {
      for (const plan::Leaf& leaf : plan::leaves_at("", *tree)) {
        lines.push_back({plain_node, leaf.first, plan::flow_yaml(leaf.second),
                         leaf.second.source.to_string(), ""});
      }
      return lines;
    }
  }
  auto read = params::read_file(file);
  if (!read) return read.error();
  for (const params::FileParams& node : read->nodes) {
    for (const auto& [name, value] : params::leaves_of(node.params)) {
      lines.push_back({node.node, name, plan::flow_yaml(*value), value->source.to_string(), ""});
    }
  }
  return lines;
}

std::string params_text(std::vector<ParamLine> lines, const std::string& heading) {
  const auto before = [](const ParamLine& a, const ParamLine& b) {
    return std::tie(a.node, a.name) < std::tie(b.node, b.name);
  };
  std::stable_sort(lines.begin(), lines.end(), before);
  std::string out = heading.empty() ? "" : "# " + heading + "\n";
  out += lines.empty() ? "nodes: {}\n" : "nodes:\n";
  const ParamLine* last = nullptr;
  for (const ParamLine& line : lines) {
    const bool same = last != nullptr && last->node == line.node;
    if (!same) out += "  " + line.node + ":\n    params:\n";
    add_line(same ? last->name : "", line, out);
    last = &line;
  }
  return out;
}

Result<void> save_params(const std::string& file, const std::vector<ParamLine>& lines) {
  std::map<std::pair<std::string, std::string>, ParamLine> all;
  auto known = params::read_file(file);
  if (known && known->other_keys) {
    return Error{Code::already_exists,
                 "has keys other than parameters, which would be lost. Name another file and "
                 "include it",
                 file};
  }
  if (!known && known.error().code != Code::not_found) return known.error();
  if (known) {
    auto old = read_params(file);
    if (!old) return old.error();
    for (ParamLine& line : *old) all[{line.node, line.name}] = line;
  }
  for (const ParamLine& line : lines) all[{line.node, line.name}] = line;
  std::vector<ParamLine> out;
  for (auto& [key, line] : all) out.push_back(std::move(line));
  const std::string text = params_text(std::move(out), "Parameters; a plan can include this file.");
  return params::write_file(file, text, true);
}

}  // namespace hyphos
