#pragma once

#include <concepts>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "hyphos/params.hpp"
#include "hyphos/time.hpp"

namespace hyphos {

/// The parameters of another node, wherever its channels reach. A mirror that the owner keeps up to
/// date, and a way to request changes. Cheap to copy and thread-safe. Lives as long as the node
/// from which it was made.
///
/// There is no server for reading. The owner publishes the complete set with every change, and a
/// late reader gets the newest set immediately. So reading costs the owner nothing. Setting is one
/// request to the owner, which checks it like a change of its own.
class HYPHOS_EXPORT RemoteParams {
 public:
  [[nodiscard]] const std::string& node() const;
  /// Waits at most `timeout` until the parameters have arrived. Errors: timeout, with the nodes of
  /// this machine that have parameters.
  Result<ParamSet> wait(Duration timeout) const;
  /// The last known values. Empty before any have arrived. Takes a lock briefly.
  [[nodiscard]] ParamSet values() const;
  /// True if the owner exists now. The values of a vanished owner remain readable.
  [[nodiscard]] bool present() const;
  /// Parameters that the plan sets but the node has not declared.
  [[nodiscard]] std::vector<std::string> undeclared() const;
  /// The owner's process. "" before any values have arrived.
  [[nodiscard]] std::string process() const;

  /// Sets one or several parameters at their owner, all or none, and waits for its reply. On
  /// success values() has the new values. Errors: those of Params::set(), timeout, disconnected.
  Result<void> set(const std::vector<ParamAssignment>& values,
                   Duration timeout = Duration::from_ms(5000)) const;
  template <typename T>
  Result<void> set(const std::string& name, const T& value,
                   Duration timeout = Duration::from_ms(5000)) const {
    return set(std::vector<ParamAssignment>{{name, detail::ParamTraits<T>::store(value)}}, timeout);
  }
  Result<void> set(const std::string& name, const char* value,
                   Duration timeout = Duration::from_ms(5000)) const {
    return set(std::vector<ParamAssignment>{{name, std::string(value)}}, timeout);
  }

  /// Calls `callback` on the thread pool when values differ from those seen before, also across a
  /// restart of the owner. ParamSet::changed() lists the changed parameters, including removed
  /// ones.
  ParamWatch watch(std::function<void(const ParamSet&)> callback) const;
  /// No callback runs after this.
  void close() const;

  class Impl;
  explicit RemoteParams(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<Impl> impl_;
};

/// Reads a plain YAML file of parameters: a map. Errors: not_found and other errors of the file,
/// invalid_config with every place.
[[nodiscard]] HYPHOS_EXPORT Result<ParamValue> read_tree(const std::string& file);
/// Parses one value as YAML. `name` identifies the text in errors.
[[nodiscard]] HYPHOS_EXPORT Result<ParamValue> parse_tree(std::string_view yaml,
                                                          const std::string& name = "value");

namespace detail {

template <typename T>
struct TreeItem;  // of a list
template <typename T>
struct TreeItem<std::vector<T>> {
  using List = T;
};
template <typename T>
struct TreeItem<std::map<std::string, T>> {
  using Map = T;
};
template <typename T>
concept TreeList = requires { typename TreeItem<T>::List; };
template <typename T>
concept TreeMap = requires { typename TreeItem<T>::Map; };
template <typename T>
inline constexpr bool kIsTreeValue = false;

HYPHOS_EXPORT Error not_in_tree(const ParamValue& value, const char* wanted);

/// Reads a value of a tree. Errors: invalid_config, with the place.
template <typename T>
Result<T> from_tree(const ParamValue& value) {
  if constexpr (std::same_as<T, ParamValue>) {
    return value;
  } else if constexpr (std::same_as<T, bool>) {
    return value.as_boolean();
  } else if constexpr (std::integral<T>) {
    const auto number = value.as_integer();
    if (!number) return number.error();
    if (!std::in_range<T>(*number)) return not_in_tree(value, "a number that fits its type");
    return static_cast<T>(*number);
  } else if constexpr (std::floating_point<T>) {
    const auto number = value.as_real();
    if (!number) return number.error();
    return static_cast<T>(*number);
  } else if constexpr (std::same_as<T, std::string>) {
    return value.as_text();
  } else if constexpr (TreeList<T>) {
    if (value.kind != ParamValue::Kind::list) return not_in_tree(value, "a list");
    T out;
    for (const ParamValue& item : value.items) {
      auto one = from_tree<typename TreeItem<T>::List>(item);
      if (!one) return one.error();
      out.push_back(*std::move(one));
    }
    return out;
  } else if constexpr (TreeMap<T>) {
    if (value.kind != ParamValue::Kind::map) return not_in_tree(value, "a map");
    T out;
    for (const ParamEntry& entry : value.entries) {
      auto one = from_tree<typename TreeItem<T>::Map>(entry.value);
      if (!one) return one.error();
      out.insert_or_assign(entry.key, *std::move(one));
    }
    return out;
  } else {
    static_assert(kIsTreeValue<T>,
                  "a value of the tree is a bool, a number, a std::string, a ParamValue, or a "
                  "std::vector or std::map<std::string, ...> of these");
  }
}

}  // namespace detail

/// The value for a tree: of a bool, a number, a std::string, a ParamValue, or a std::vector or
/// std::map<std::string, ...> of these.
template <typename T>
[[nodiscard]] ParamValue to_param_value(const T& value) {
  ParamValue out;
  if constexpr (std::same_as<T, ParamValue>) {
    return value;
  } else if constexpr (std::same_as<T, ParamVariant>) {
    return parse_tree(to_yaml(value)).or_throw();
  } else if constexpr (std::is_arithmetic_v<T>) {
    out.kind = ParamValue::Kind::scalar;
    out.text = to_yaml(detail::ParamTraits<T>::store(value));
  } else if constexpr (std::convertible_to<const T&, std::string>) {
    out.kind = ParamValue::Kind::scalar;
    out.quoted = true;
    out.text = value;
  } else if constexpr (detail::TreeList<T>) {
    out.kind = ParamValue::Kind::list;
    for (const auto& item : value) {
      out.items.push_back(to_param_value<typename detail::TreeItem<T>::List>(item));
    }
  } else if constexpr (detail::TreeMap<T>) {
    out.kind = ParamValue::Kind::map;
    for (const auto& [key, item] : value) out.entries.push_back({key, to_param_value(item)});
  } else {
    static_assert(detail::kIsTreeValue<T>, "see detail::from_tree()");
  }
  return out;
}

/// The tree of parameters that all nodes of a robot share. Cheap to copy and thread-safe.
///
/// `shared_params:` in the plan gives its first values. Every node can read and set every path, and
/// no node declares one. Each process has a copy, so a read is local. A change reaches the other
/// processes in about the time of a message. If two processes set one path at once, the later
/// change remains everywhere. docs/how-to/shared_params.md describes which processes it reaches.
///
/// A path has words joined by dots: "profile.name". "" is the whole tree. Values remain readable
/// after the runtime has ended.
class HYPHOS_EXPORT SharedParams {
 public:
  /// The present tree, a map. Immutable. Takes a lock briefly.
  [[nodiscard]] std::shared_ptr<const ParamValue> tree() const;
  /// The value at a path as a bool, a number, a std::string, a ParamValue, or a std::vector or
  /// std::map<std::string, ...> of these: get<std::vector<std::vector<double>>>("grid"). Errors:
  /// not_found, with similar paths, and invalid_config if it has another type.
  template <typename T>
  [[nodiscard]] Result<T> get(const std::string& path) const {
    const auto now = tree();
    const ParamValue* found = path.empty() ? now.get() : now->find(path);
    if (found == nullptr) return unknown(path);
    return detail::from_tree<T>(*found);
  }
  /// The same, or `fallback` if the path does not exist. Throws if it has another type.
  template <typename T>
  [[nodiscard]] T get(const std::string& path, T fallback) const {
    const auto now = tree();
    const ParamValue* found = path.empty() ? now.get() : now->find(path);
    return found == nullptr ? fallback : detail::from_tree<T>(*found).or_throw();
  }

  /// Sets a path in all processes. A map sets each of its values, and leaves others as they are.
  /// Valid here on return. Others follow. Errors: invalid_config (the path, or a value where a map
  /// is), exhausted (kMaxSharedParams, kMaxSharedBytes), disconnected.
  template <typename T>
  Result<void> set(const std::string& path, const T& value) const {
    return set(std::vector<std::pair<std::string, ParamValue>>{{path, to_param_value(value)}});
  }
  Result<void> set(const std::string& path, const char* value) const {
    return set(path, std::string(value));
  }
  /// Several paths, all or none.
  Result<void> set(const std::vector<std::pair<std::string, ParamValue>>& values) const;
  /// Removes a path and all below it in all processes. Errors: not_found, disconnected.
  Result<void> remove(const std::string& path) const;
  /// Adds a plain YAML file to the start values, as `shared_params:` in the plan. Errors: those of
  /// read_tree(), exhausted.
  Result<void> load(const std::string& file) const;

  /// Calls `callback` on the thread pool after changes below `path` ("": anywhere), with the sorted
  /// paths of the changed values. Changes that come faster than calls end are merged.
  ParamWatch watch(const std::string& path,
                   std::function<void(const std::vector<std::string>&)> callback) const;

  /// Waits until another process has sent its values. Errors: timeout, disconnected.
  Result<void> wait(Duration timeout) const;
  /// Waits until every other process that shares the tree has the values that were set here.
  /// Returns the number of these processes. Errors: timeout, disconnected.
  Result<std::size_t> settle(Duration timeout) const;

  class Impl;
  explicit SharedParams(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

 private:
  [[nodiscard]] Error unknown(const std::string& path) const;

  std::shared_ptr<Impl> impl_;
};

/// The nodes of this machine and domain that have parameters, by name. Reads shared memory only.
HYPHOS_EXPORT Result<std::vector<std::string>> nodes_with_params(const std::string& domain);

/// One value in a file of parameters. Such a file has the format of a plan, so that a plan can
/// include it: `nodes: {<node>: {params: {...}}}`.
struct ParamLine {
  std::string node;
  std::string name;     ///< with dots: "laser.rate_hz"
  std::string yaml;     ///< the value in one line, see parse_param()
  std::string where;    ///< only when read: "saved.yaml:4:7"
  std::string comment;  ///< written after the value if not empty
};

/// All values under `nodes.<node>.params` of a file and of its includes. Other keys of a plan are
/// ignored. If `plain_node` is given and the file has no `nodes`, the whole file is a map of values
/// of this node. Errors: not_found and other errors of the file, invalid_config with every place.
[[nodiscard]] HYPHOS_EXPORT Result<std::vector<ParamLine>> read_params(
    const std::string& file, const std::string& plain_node = {});
/// The text of a file with these values, sorted. `heading` precedes them as a comment.
[[nodiscard]] HYPHOS_EXPORT std::string params_text(std::vector<ParamLine> lines,
                                                    const std::string& heading);
/// Merges the values into the file and replaces it atomically. Concurrent readers see either the
/// old file or the new one. Refuses a file with anything but parameters, such as a whole plan.
[[nodiscard]] HYPHOS_EXPORT Result<void> save_params(const std::string& file,
                                                     const std::vector<ParamLine>& lines);

}  // namespace hyphos
