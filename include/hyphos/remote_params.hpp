#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hyphos/params.hpp"
#include "hyphos/time.hpp"

namespace hyphos {

/// The parameters of another node, wherever its channels reach: a mirror that its owner keeps up to
/// date, and the way to ask for a change. Cheap to copy; thread-safe; lives as long as the node it
/// was made from.
///
/// There is no server: the owner publishes the complete set whenever it changes, and a late reader
/// gets the newest at once. So reading asks nobody and costs the owner nothing; setting is one
/// request to the owner, which checks it as its own.
class HYPHOS_EXPORT RemoteParams {
 public:
  [[nodiscard]] const std::string& node() const;
  /// Waits until the parameters are here, for so long at most. Errors: timeout, naming the nodes of
  /// this machine that have parameters.
  Result<ParamSet> wait(Duration timeout) const;
  /// As last seen; empty before anything came. Takes a lock, briefly.
  [[nodiscard]] ParamSet values() const;
  /// Whether the owner is there now. The values of one that is gone stay readable.
  [[nodiscard]] bool present() const;
  /// What the plan gives the node, but the node has not declared.
  [[nodiscard]] std::vector<std::string> undeclared() const;
  /// The process that the owner runs in, "" before anything came.
  [[nodiscard]] std::string process() const;

  /// Sets one or several at their owner, all or none, and waits for its answer. When it is done,
  /// values() has the new ones. Errors: those of Params::set(), timeout, disconnected.
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

  /// Calls `callback` on the thread pool when values differ from those seen before, also over a
  /// restart of the owner. ParamSet::changed() says which, those that are gone included.
  ParamWatch watch(std::function<void(const ParamSet&)> callback) const;
  /// No callback runs after this.
  void close() const;

  class Impl;
  explicit RemoteParams(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<Impl> impl_;
};

/// The nodes of this machine and domain that have parameters, by name, read from shared memory.
HYPHOS_EXPORT Result<std::vector<std::string>> nodes_with_params(const std::string& domain);

/// One value in a file of parameters. Such a file has the form of a plan, so that a plan can
/// include it: `nodes: {<node>: {params: {...}}}`.
struct ParamLine {
  std::string node;
  std::string name;     ///< with dots: "laser.rate_hz"
  std::string yaml;     ///< the value, in one line; see parse_param()
  std::string where;    ///< read: "saved.yaml:4:7"
  std::string comment;  ///< written behind the value if not empty
};

/// All values under `nodes.<node>.params` of a file and of what it includes; other keys of a plan
/// are passed over. Errors: not_found and others of the file; invalid_config with every place.
[[nodiscard]] HYPHOS_EXPORT Result<std::vector<ParamLine>> read_params(
    const std::filesystem::path& file);
/// The text of a file with these values, sorted; `heading` stands before them as a comment.
[[nodiscard]] HYPHOS_EXPORT std::string params_text(std::vector<ParamLine> lines,
                                                    const std::string& heading);
/// Lays the values over those that the file has, and replaces it: whoever reads it sees the old one
/// or the new one. Refuses a file that holds anything but parameters (a whole plan).
[[nodiscard]] HYPHOS_EXPORT Result<void> save_params(const std::filesystem::path& file,
                                                     const std::vector<ParamLine>& lines);

}  // namespace hyphos
