#include "plan/load.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace hyphos::plan {
namespace {

using config::Entry;
using config::Problems;
using config::Source;
using config::Value;

constexpr std::size_t kMaxIncludes = 64;

Value& child_map(Value& parent, const std::string& key, const Source& source) {
  Value* child = parent.find(key);
  if (child == nullptr) {
    parent.entries.push_back({key, source, {}});
    child = &parent.entries.back().value;
    child->source = source;
  }
  if (child->is(Value::Kind::null)) child->kind = Value::Kind::map;
  return *child;
}

/// The keys of a flat listing in their order: `ip` and `channels` belong to the preceding
/// `publisher` or `subscribers`.
class FlatListing {
 public:
  /// Returns false and leaves the entry unchanged if it is not a key of a listing.
  bool take(Entry& entry) {
    if (entry.key == "publisher") {
      publisher_ = std::move(entry);
      if (publisher_->value.is(Value::Kind::null)) publisher_->value.kind = Value::Kind::map;
      target_ = Target::publisher;
    } else if (entry.key == "subscribers") {
      subscribers_ = std::move(entry);
      Value& list = subscribers_->value;
      if (list.is(Value::Kind::null)) {
        list.kind = Value::Kind::list;
        list.items.emplace_back().kind = Value::Kind::map;
        list.items.back().source = list.source;
      }
      target_ = Target::subscribers;
    } else if (entry.key == "ip" || entry.key == "channels") {
      Value* target = owner(entry.source);
      if (target == nullptr) return false;
      target->entries.push_back(std::move(entry));
    } else {
      return false;
    }
    return true;
  }

  void store(Value& network) {
    for (std::optional<Entry>* part : {&publisher_, &subscribers_}) {
      if (part->has_value()) network.entries.push_back(std::move(**part));
    }
  }

 private:
  enum class Target { publisher, subscribers };

  Value* owner(const Source& source) {
    if (target_ == Target::publisher) {
      if (!publisher_) {
        publisher_ = Entry{"publisher", source, {}};
        publisher_->value.kind = Value::Kind::map;
        publisher_->value.source = source;
      }
      return publisher_->value.is(Value::Kind::map) ? &publisher_->value : nullptr;
    }
    Value& list = subscribers_->value;
    if (list.is(Value::Kind::map)) return &list;
    const bool has_map = !list.items.empty() && list.items.back().is(Value::Kind::map);
    return has_map ? &list.items.back() : nullptr;
  }

  std::optional<Entry> publisher_;
  std::optional<Entry> subscribers_;
  Target target_ = Target::publisher;
};

struct Includes {
  Problems& problems;
  std::vector<std::filesystem::path> open;  // the chain of files, each included by the previous one
  std::size_t count = 0;
};

Value load_one(std::string_view text, const std::string& name, const std::filesystem::path& path,
               Includes& includes);
void merge_at(Value& base, Value over, const std::string& path, int level, Problems& problems);

/// The path of a file that `item` names, relative to the file `from`. "" after an error.
std::filesystem::path path_of(const Value& item, const std::filesystem::path& from,
                              const std::string& key, Includes& includes) {
  const auto refuse = [&](const std::string& why) {
    includes.problems.error(item.source, key + ": " + why);
    return std::filesystem::path();
  };
  if (!item.is(Value::Kind::scalar)) return refuse("expected the name of a file");
  if (from.empty()) return refuse("works in files only, but this plan was given as text");
  const std::filesystem::path relative(item.text);
  if (relative.empty() || relative.is_absolute()) {
    return refuse("expected a path relative to this file, found '" + item.text + "'");
  }
  if (++includes.count > kMaxIncludes) return refuse("more than 64 files are included");
  return (from.parent_path() / relative).lexically_normal();
}

void include_file(const Value& item, const std::filesystem::path& from, Value& base,
                  Includes& includes) {
  Problems& problems = includes.problems;
  const auto refuse = [&](const std::string& why) {
    problems.error(item.source, "include: " + why);
  };
  const std::filesystem::path path = path_of(item, from, "include", includes);
  if (path.empty()) return;
  std::error_code ignored;
  const std::filesystem::path real = std::filesystem::weakly_canonical(path, ignored);
  if (std::find(includes.open.begin(), includes.open.end(), real) != includes.open.end()) {
    return refuse("'" + item.text + "' includes itself, directly or through others. Remove one");
  }
  Result<std::string> text = config::read_file(path.string());
  if (!text) return refuse("'" + item.text + "': " + text.error().message);
  includes.open.push_back(real);
  merge_tree(base, load_one(*text, path.string(), path, includes), problems);
  includes.open.pop_back();
}

/// Merges a plain file of parameters, which is a map without further rules.
void merge_shared(const Value& item, const std::filesystem::path& from, Value& base,
                  Includes& includes) {
  Problems& problems = includes.problems;
  const std::filesystem::path path = path_of(item, from, "shared_params", includes);
  if (path.empty()) return;
  Result<std::string> text = config::read_file(path.string());
  if (!text) {
    return problems.error(item.source,
                          "shared_params: '" + item.text + "': " + text.error().message);
  }
  Value tree = config::parse_yaml(*text, path.string(), problems);
  config::report_duplicates(tree, problems);
  if (!tree.is(Value::Kind::map) && !tree.is(Value::Kind::null)) {
    return problems.error(tree.source, "expected a map of parameters");
  }
  merge_at(base, std::move(tree), "shared_params", 1, problems);
}

/// Replaces the names of files under `shared_params` by their content.
void load_shared(Value& root, const std::filesystem::path& from, Includes& includes) {
  Value* shared = root.find("shared_params");
  if (shared == nullptr || shared->is(Value::Kind::map) || shared->is(Value::Kind::null)) return;
  const Value files = std::exchange(*shared, {});
  shared->kind = Value::Kind::map;
  shared->source = files.source;
  if (files.is(Value::Kind::scalar)) merge_shared(files, from, *shared, includes);
  for (const Value& item : files.items) merge_shared(item, from, *shared, includes);
}

Value load_one(std::string_view text, const std::string& name, const std::filesystem::path& path,
               Includes& includes) {
  Value root = config::parse_yaml(text, name, includes.problems);
  nest_flat_listing(root, includes.problems);
  config::report_duplicates(root, includes.problems);
  load_shared(root, path, includes);
  const auto is_include = [](const Entry& entry) { return entry.key == "include"; };
  const auto found = std::find_if(root.entries.begin(), root.entries.end(), is_include);
  if (found == root.entries.end()) return root;
  const Value list = std::move(found->value);
  root.entries.erase(found);
  Value base;
  base.kind = Value::Kind::map;
  base.source = root.source;
  if (list.is(Value::Kind::scalar)) {
    include_file(list, path, base, includes);
  } else if (!list.is(Value::Kind::list) && !list.is(Value::Kind::null)) {
    includes.problems.error(list.source, "include: expected a list of files");
  }
  for (const Value& item : list.items) include_file(item, path, base, includes);
  merge_tree(base, std::move(root), includes.problems);
  return base;
}

void merge_at(Value& base, Value over, const std::string& path, int level, Problems& problems) {
  if (over.is(Value::Kind::null) && !base.is(Value::Kind::null)) return;
  if (!base.is(Value::Kind::map) || !over.is(Value::Kind::map)) {
    const bool is_type = level == 3 && path.starts_with("channels.") && path.ends_with(".type");
    if (is_type && base.is(Value::Kind::scalar) && over.is(Value::Kind::scalar) &&
        base.text != over.text) {
      problems.error(over.source, path + ": '" + over.text + "' here, but '" + base.text + "' at " +
                                      base.source.to_string() + ". A channel has one type");
    }
    base = std::move(over);
    return;
  }
  base.source = over.source;
  for (Entry& entry : over.entries) {
    Value* known = base.find(entry.key);
    if (known == nullptr) {
      base.entries.push_back(std::move(entry));
    } else {
      const std::string below = level == 0 ? entry.key : path + "." + entry.key;
      merge_at(*known, std::move(entry.value), below, level + 1, problems);
    }
  }
}

void set_source(Value& value, const Source& source) {
  value.source = source;
  for (Value& item : value.items) set_source(item, source);
  for (Entry& entry : value.entries) {
    entry.source = source;
    set_source(entry.value, source);
  }
}

/// `nodes.X.process` in an option moves X, so X is removed from the file's lists of nodes.
void forget_placement(Value& root, std::string_view node) {
  Value* processes = root.find("processes");
  if (processes == nullptr) return;
  for (Entry& process : processes->entries) {
    Value* nodes = process.value.find("nodes");
    if (nodes == nullptr) continue;
    std::erase_if(nodes->items, [&](const Value& item) { return item.text == node; });
    if (nodes->is(Value::Kind::scalar) && nodes->text == node) *nodes = Value{};
  }
}

}  // namespace

void nest_flat_listing(Value& root, Problems& problems) {
  const auto is_flat_key = [](const Entry& entry) {
    return entry.key == "publisher" || entry.key == "subscribers" || entry.key == "ip" ||
           entry.key == "close_channels";
  };
  const auto first = std::find_if(root.entries.begin(), root.entries.end(), is_flat_key);
  Value* nested = root.find("network");
  const bool half_flat =
      nested != nullptr && (nested->find("ip") != nullptr || nested->find("channels") != nullptr);
  if (first == root.entries.end() && !half_flat) return;
  const Source source = half_flat ? nested->source : first->source;
  problems.warn(source,
                "network: the listing is not indented. It is read as network.publisher, "
                "network.subscribers and data_graph.close_channels");
  FlatListing listing;
  std::vector<Entry> kept;
  if (half_flat) {
    for (Entry& entry : nested->entries) {
      if (!listing.take(entry)) kept.push_back(std::move(entry));
    }
    nested->entries = std::exchange(kept, {});
  }
  std::vector<Entry> closed;
  for (Entry& entry : root.entries) {
    const bool definitions = entry.key == "channels" && entry.value.is(Value::Kind::map);
    if (entry.key == "close_channels") {
      closed.push_back(std::move(entry));
    } else if (definitions || !listing.take(entry)) {
      kept.push_back(std::move(entry));
    }
  }
  root.entries = std::move(kept);
  listing.store(child_map(root, "network", source));
  for (Entry& entry : closed) {
    const Source at = entry.source;
    child_map(root, "data_graph", at).entries.push_back(std::move(entry));
  }
}

bool is_listing(const Value& root) {
  const auto of_paper = [](const Entry& entry) {
    return entry.key == "network" || entry.key == "data_graph";
  };
  return !root.entries.empty() && std::all_of(root.entries.begin(), root.entries.end(), of_paper);
}

void merge_tree(Value& base, Value over, Problems& problems) {
  merge_at(base, std::move(over), "", 0, problems);
}

void apply_override(Value& root, std::string_view text, Problems& problems) {
  const auto name = std::make_shared<const std::string>("--set " + std::string(text));
  const Source source{name, 0, 0};
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return problems.error(source, "expected KEY.KEY=VALUE, as in channels.scan.depth=3");
  }
  std::vector<std::string> keys;
  for (std::string_view rest = text.substr(0, equals);;) {
    const std::size_t dot = rest.find('.');
    keys.emplace_back(rest.substr(0, dot));
    if (keys.back().empty()) return problems.error(source, "a key between the dots is empty");
    if (dot == std::string_view::npos) break;
    rest.remove_prefix(dot + 1);
  }
  if (keys.size() > config::Limits{}.depth) return problems.error(source, "too many keys");
  if (keys[0] == "include") return problems.error(source, "include cannot be set by an option");
  Value value = config::parse_yaml(text.substr(equals + 1), *name, problems);
  config::report_duplicates(value, problems);
  set_source(value, source);
  if (root.is(Value::Kind::null)) root.kind = Value::Kind::map;
  Value* at = &root;
  for (std::size_t i = 0; i + 1 < keys.size(); ++i) {
    at = &child_map(*at, keys[i], source);
    if (!at->is(Value::Kind::map)) {
      return problems.error(source, "'" + keys[i] + "' is not a map at " + at->source.to_string() +
                                        ", so nothing can be set below it");
    }
  }
  if (keys.size() == 3 && keys[0] == "nodes" && keys[2] == "process") {
    forget_placement(root, keys[1]);
  }
  if (Value* known = at->find(keys.back())) {
    *known = std::move(value);
  } else {
    at->entries.push_back({keys.back(), source, std::move(value)});
  }
}

Value load_tree(std::string_view text, const std::string& name, const std::filesystem::path& path,
                Problems& problems) {
  Includes includes{problems, {}, 0};
  std::error_code ignored;
  if (!path.empty()) includes.open.push_back(std::filesystem::weakly_canonical(path, ignored));
  return load_one(text, name, path, includes);
}

}  // namespace hyphos::plan
