#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/config.hpp"
#include "base/config_reader.hpp"
#include "hyphos/plan.hpp"

/// From the YAML tree to a Plan, one function per section. Each function checks its own section and
/// continues after a mistake, so that all mistakes are reported together.
namespace hyphos::plan {

using config::Entry;
using config::Problems;
using config::Section;
using config::Source;
using config::Value;
using config::Word;

[[nodiscard]] SourceLine to_line(const Source& source);

inline constexpr std::size_t kMaxHosts = 256;
inline constexpr std::size_t kMaxProcesses = 1024;
inline constexpr std::size_t kMaxNodes = 4096;
inline constexpr std::size_t kMaxGroups = 1024;
inline constexpr std::size_t kMaxChannels = 4096;
inline constexpr std::int64_t kMaxMs = 24LL * 3600 * 1000;  ///< of every duration
inline constexpr std::size_t kMaxPairs = 200'000;  ///< publisher-subscriber pairs, all channels

/// The entries of `hosts:`, `processes:` and so on. If the value is not a map, or has more than
/// `most` names, this reports an error and returns no entries.
[[nodiscard]] const std::vector<Entry>& named_entries(const Value* value, const std::string& path,
                                                      std::size_t most, Problems& problems);

/// The plan under construction, with the data that later sections and checks need.
struct Draft {
  explicit Draft(Problems& p) : problems(p) {}

  Plan plan;
  Problems& problems;
  bool channels_declared = false;  ///< a `channels:` section exists: other names are errors
  bool several_hosts = false;
  std::string transport{kAutomaticTransport};  ///< of channels without a transport of their own
  /// Node → the process whose `nodes:` list contains it.
  std::map<std::string, Word> placed;
  std::map<std::string, std::string> placed_in;
  std::unordered_map<std::string, std::size_t> channel_index;
  /// The names of services in each node, in the order of the nodes. For read_calls().
  struct NodeCalls {
    std::vector<Word> services, calls, actions, goals;
  };
  std::vector<NodeCalls> node_calls;
  /// By process: the names in `after` and `health.channels`. They are resolved after all sections.
  std::map<std::string, std::vector<Word>> after;
  std::map<std::string, std::vector<Word>> watched;
  std::set<std::string> ready_given;  ///< processes with an explicit `ready`
  /// The names in `moves_to` of each group, in the order of the groups. For finish_groups().
  std::vector<std::vector<Word>> group_moves;

  void error(const Source& source, std::string text) { problems.error(source, std::move(text)); }
  [[nodiscard]] std::vector<std::string_view> host_names() const;
  [[nodiscard]] std::vector<std::string_view> process_names() const;
  [[nodiscard]] std::vector<std::string_view> node_names() const;
  [[nodiscard]] std::vector<std::string_view> channel_names() const;
  [[nodiscard]] ChannelPlan* channel(const std::string& name);
  void add_channel(ChannelPlan channel);
  [[nodiscard]] ProcessPlan* process(std::string_view name);

  /// Finds the channel that a section refers to. If the plan has no `channels:`, an unknown channel
  /// is added as implied. Else returns null and reports an error that begins with `path`.
  ChannelPlan* refer_to_channel(const Word& word, const std::string& path);
  /// Checks each word as the name of a channel and returns the valid ones. Reports repeated ones.
  std::vector<std::string> refer_to_channels(const std::vector<Word>& words,
                                             const std::string& path);
};

[[nodiscard]] Source to_source(const SourceLine& line);
/// Converts a part of a YAML tree to the representation in a Plan.
[[nodiscard]] ParamValue to_param(const Value& value);

void read_hosts(const Value* value, Draft& draft);
void read_processes(const Value* value, Draft& draft);
/// Reads the keys of a process for its start, monitoring and stop.
void read_supervision(const Section& section, ProcessPlan& process, Draft& draft);
/// Resolves the names in these keys, and sets the defaults that depend on other sections. After
/// read_channels().
void finish_supervision(Draft& draft);
void read_nodes(const Value* value, Draft& draft);
/// Reads `persist:` of a node: on, or the name of a file. Returns "" for off.
std::string read_persist(const Section& section, const std::string& node);
/// Reads the groups, and places their nodes. Between read_nodes() and place_nodes().
void read_groups(const Value* value, Draft& draft);
/// Resolves the processes to which groups move. After place_nodes().
void finish_groups(Draft& draft);
/// Adds the channels with which processes of several machines change groups.
void add_group_channels(Draft& draft);
/// Assigns every node to a process, and makes the processes that defaults require.
void place_nodes(Draft& draft);
/// Merges `processes.<name>.params` over the params of the nodes.
void override_params(const Value* processes, Draft& draft);
/// Reads the tree that all nodes share. If the plan has several hosts, adds its channel.
void read_shared_params(const Value* value, Draft& draft);
/// Reports nodes that would write the same file.
void check_persist(Draft& draft);
/// Reads the top-level key `transport`. Before read_channels().
void read_transport(const Section& top, Draft& draft);
void read_channels(const Value* value, Draft& draft);
/// Reads the services and actions of the nodes, and adds their channels.
void read_calls(Draft& draft);
void read_remaps(const Value* nodes, Draft& draft);
/// Reads `load:` of channels and nodes. After the channels and the remaps.
void read_loads(const Value* channels, const Value* nodes, Draft& draft);
void read_data_graph(const Value* value, Draft& draft);
void read_record(const Value* value, Draft& draft);
void read_network(const Value* value, Draft& draft);
/// Runs after the channels, because simulated time adds some.
void read_clock(const Value* value, Draft& draft);

/// Refuses plans whose tables would be too large. The check is a plain product, so that it is
/// cheap.
void check_size(Draft& draft);
/// Checks that need all sections: whether subscribers are reachable, and endpoints that are bound
/// twice.
void check_whole(Draft& draft);
/// Checks files and CPUs of this machine for the processes of `hosts`, or of all hosts if that is
/// empty.
void check_files(const std::vector<std::string>& hosts, Draft& draft);

/// Builds the whole plan: the sections in order, then the checks.
[[nodiscard]] Result<Plan> build_plan(const Value& root, Plan start, const PlanOptions& options,
                                      Problems& problems);

/// The endpoint to which peers connect, for one that is bound on `host`.
[[nodiscard]] std::string connect_form(const std::string& bound, const HostPlan& host);

}  // namespace hyphos::plan
