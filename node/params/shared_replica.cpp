#include "node/params/shared_replica.hpp"

#include <algorithm>
#include <tuple>

#include "base/config.hpp"
#include "base/config_reader.hpp"

namespace hyphos::params {
namespace {

constexpr std::uint64_t kMaxAheadNs = 3'600'000'000'000;

std::size_t size_of(const std::string& path, const SharedReplica::Value& value) {
  return path.size() + (value.removed ? 0 : plan::flow_yaml(value.value).size());
}

void encode_one(const std::string& path, const SharedReplica::Value& value, v1::SharedParam& out) {
  out.set_path(path);
  out.set_removed(value.removed);
  if (!value.removed) out.set_yaml(plan::flow_yaml(value.value));
  out.set_stamp(value.stamp);
  out.set_writer(value.writer);
}

Result<SharedReplica::Value> decode_one(const v1::SharedParam& param, std::uint64_t now_ns) {
  SharedReplica::Value out;
  if (std::string why = plan::path_problem(param.path()); !why.empty()) {
    return Error{Code::corrupt, std::move(why), ""};
  }
  if (param.stamp() > now_ns + kMaxAheadNs) {
    return Error{Code::corrupt,
                 "was set more than an hour in the future. Set the clocks of the machines", ""};
  }
  out.removed = param.removed();
  out.stamp = param.stamp();
  out.writer = param.writer();
  if (out.removed) return out;
  config::Limits limits;
  limits.bytes = kMaxSharedValueBytes;
  limits.expanded_bytes = kMaxSharedValueBytes;
  auto value = plan::parse_value(param.yaml(), "value", limits);
  if (!value) return Error{Code::corrupt, "is not YAML of one value", ""};
  out.value = std::move(*value);
  return out;
}

/// Sorts the keys of all maps, so that equal values make equal trees.
void sort_keys(ParamValue& tree) {
  std::sort(tree.entries.begin(), tree.entries.end(),
            [](const ParamEntry& a, const ParamEntry& b) { return a.key < b.key; });
  for (ParamEntry& entry : tree.entries) sort_keys(entry.value);
}

void mix(std::uint64_t& hash, std::string_view bytes) {
  for (const char c : bytes) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;  // FNV-1a
  }
}

void mix(std::uint64_t& hash, std::uint64_t word) {
  for (unsigned shift = 0; shift < 64; shift += 8) {
    hash = (hash ^ ((word >> shift) & 0xffU)) * 0x100000001b3ULL;
  }
}

}  // namespace

bool SharedReplica::is_above(const Value& a, const Value& b) const {
  const auto rank = [this](const Value& one) {
    return std::tuple(one.is_set, !one.is_set && one.writer == writer_, one.stamp, one.writer);
  };
  return rank(a) > rank(b);
}

bool SharedReplica::insert(const std::string& path, Value value) {
  const auto known = values_.find(path);
  if (known != values_.end()) {
    if (!is_above(value, known->second)) return false;
    bytes_ -= size_of(path, known->second);
  }
  bytes_ += size_of(path, value);
  if (value.is_set) newest_ = std::max(newest_, value.stamp);
  values_.insert_or_assign(path, std::move(value));
  return true;
}

Result<void> SharedReplica::check_room(const Values& added) const {
  std::size_t count = values_.size();
  std::size_t bytes = bytes_;
  for (const auto& [path, value] : added) {
    const auto known = values_.find(path);
    count += known == values_.end() ? 1 : 0;
    bytes += size_of(path, value);
    bytes -= known == values_.end() ? 0 : size_of(path, known->second);
  }
  if (count > kMaxSharedParams) {
    return Error{Code::exhausted,
                 "a shared tree has at most " + std::to_string(kMaxSharedParams) +
                     " values, with removed ones",
                 ""};
  }
  if (bytes > kMaxSharedBytes) {
    return Error{Code::exhausted,
                 "a shared tree takes at most " + std::to_string(kMaxSharedBytes) +
                     " bytes, but would take " + std::to_string(bytes),
                 ""};
  }
  return success();
}

std::uint64_t SharedReplica::next_stamp(std::uint64_t now_ns) const {
  return std::max(now_ns, newest_ + 1);  // a clock that was set back does not undo a change
}

Result<void> SharedReplica::plan(const std::vector<plan::Leaf>& leaves, std::uint64_t stamp) {
  Values added;
  for (const plan::Leaf& leaf : leaves) {
    if (std::string why = plan::leaf_problem(leaf); !why.empty()) {
      return Error{Code::invalid_config, std::move(why), leaf.second.source.to_string()};
    }
    added[leaf.first] = Value{leaf.second, false, false, stamp, writer_};
  }
  if (auto room = check_room(added); !room) return room;
  for (auto& [path, value] : added) insert(path, std::move(value));
  return success();
}

Result<void> SharedReplica::set(const std::vector<plan::Leaf>& leaves, std::uint64_t now_ns) {
  Values added;
  std::string problems;
  const std::uint64_t stamp = next_stamp(now_ns);
  for (const plan::Leaf& leaf : leaves) {
    const std::string& path = leaf.first;
    std::string why = plan::leaf_problem(leaf);
    for (std::size_t dot = path.find('.'); why.empty() && dot != std::string::npos;
         dot = path.find('.', dot + 1)) {
      const ParamValue* above = tree_->find(path.substr(0, dot));
      if (above == nullptr || above->kind == ParamValue::Kind::map) continue;
      why = "'" + path + "': '" + path.substr(0, dot) +
            "' is a value, not a map. Remove it first to put values below it";
    }
    const ParamValue* known = why.empty() ? tree_->find(path) : nullptr;
    if (known != nullptr && known->kind == ParamValue::Kind::map && !known->entries.empty() &&
        leaf.second.kind != ParamValue::Kind::map) {
      why = "'" + path + "' is a map. Set '" + path + "." + known->entries.front().key +
            "' or another value in it, or remove the map first";
    }
    if (!why.empty()) problems += (problems.empty() ? "" : "; ") + why;
    added[path] = Value{leaf.second, false, true, stamp, writer_};
  }
  if (!problems.empty()) return Error{Code::invalid_config, std::move(problems), ""};
  if (auto room = check_room(added); !room) return room;
  for (auto& [path, value] : added) insert(path, std::move(value));
  return success();
}

Result<void> SharedReplica::remove(const std::string& path, std::uint64_t now_ns) {
  if (std::string why = plan::path_problem(path); !why.empty()) {
    return Error{Code::invalid_config, "'" + path + "': " + why, ""};
  }
  if (tree_->find(path) == nullptr) {
    std::vector<std::string_view> names;
    for (const auto& [name, yaml] : leaves_) names.push_back(name);
    return Error{Code::not_found,
                 "there is no shared parameter '" + path + "'" +
                     config::suggestion(config::Problems(), path, "shared parameters", names),
                 ""};
  }
  Values added;
  added[path] = Value{{}, true, true, next_stamp(now_ns), writer_};
  // Older values below the path would only take room.
  for (const auto& [name, value] : values_) {
    if (value.is_set && name.starts_with(path + ".")) added[name] = added[path];
  }
  if (auto room = check_room(added); !room) return room;
  for (auto& [name, value] : added) insert(name, std::move(value));
  return success();
}

SharedReplica::Merged SharedReplica::merge(const v1::SharedParams& message, std::uint64_t now_ns) {
  Merged merged;
  const auto refuse = [&](const std::string& path, const std::string& why) {
    if (merged.refusals++ == 0) merged.refused = "'" + path.substr(0, 64) + "' " + why;
  };
  const auto take = [&](const v1::SharedParam& param, bool is_set) {
    auto value = decode_one(param, now_ns);
    if (!value) return refuse(param.path(), value.error().message);
    if (!is_set && value->writer == writer_) return;  // a start value of this process
    value->is_set = is_set;
    const auto known = values_.find(param.path());
    if (known != values_.end() && !is_above(*value, known->second)) return;
    if (auto room = check_room({{param.path(), *value}}); !room) {
      return refuse(param.path(), room.error().message);
    }
    insert(param.path(), std::move(*value));
    merged.changed = true;
    merged.set_changed = merged.set_changed || is_set;
  };
  for (const v1::SharedParam& param : message.planned()) take(param, false);
  for (const v1::SharedParam& param : message.set()) take(param, true);
  return merged;
}

void SharedReplica::encode(v1::SharedParams& out) const {
  for (const auto& [path, value] : values_) {
    if (!value.is_set && value.writer == writer_) encode_one(path, value, *out.add_planned());
  }
  encode_set(out);
}

void SharedReplica::encode_set(v1::SharedParams& out) const {
  for (const auto& [path, value] : values_) {
    if (value.is_set) encode_one(path, value, *out.add_set());
  }
}

std::vector<std::string> SharedReplica::rebuild() {
  std::vector<Values::const_iterator> order;
  for (auto one = values_.cbegin(); one != values_.cend(); ++one) order.push_back(one);
  std::stable_sort(order.begin(), order.end(),
                   [this](const auto& a, const auto& b) { return is_above(b->second, a->second); });
  ParamValue tree;
  tree.kind = ParamValue::Kind::map;
  for (const auto& one : order) {
    if (one->second.removed) {
      plan::remove_path(tree, one->first);
    } else {
      plan::set_leaf(tree, one->first, one->second.value);
    }
  }
  sort_keys(tree);
  std::map<std::string, std::string> leaves;
  for (const auto& [path, value] : plan::leaves_at("", tree)) leaves[path] = plan::flow_yaml(value);
  std::vector<std::string> changed;
  for (const auto& [path, yaml] : leaves) {
    const auto old = leaves_.find(path);
    if (old == leaves_.end() || old->second != yaml) changed.push_back(path);
  }
  for (const auto& [path, yaml] : leaves_) {
    if (leaves.count(path) == 0) changed.push_back(path);
  }
  std::sort(changed.begin(), changed.end());
  leaves_ = std::move(leaves);
  tree_ = std::make_shared<const ParamValue>(std::move(tree));
  return changed;
}

std::uint64_t SharedReplica::digest(const v1::SharedParams& message) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const v1::SharedParam& param : message.set()) {  // sorted by path
    mix(hash, param.path());
    mix(hash, std::uint64_t{param.stamp()});
    mix(hash, std::uint64_t{param.writer()});
  }
  return hash;
}

}  // namespace hyphos::params
