#pragma once

#include <functional>
#include <memory>
#include <string>
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
/// ignored. Errors: not_found and other errors of the file, invalid_config with every place.
[[nodiscard]] HYPHOS_EXPORT Result<std::vector<ParamLine>> read_params(const std::string& file);
/// The text of a file with these values, sorted. `heading` precedes them as a comment.
[[nodiscard]] HYPHOS_EXPORT std::string params_text(std::vector<ParamLine> lines,
                                                    const std::string& heading);
/// Merges the values into the file and replaces it atomically. Concurrent readers see either the
/// old file or the new one. Refuses a file with anything but parameters, such as a whole plan.
[[nodiscard]] HYPHOS_EXPORT Result<void> save_params(const std::string& file,
                                                     const std::vector<ParamLine>& lines);

}  // namespace hyphos
