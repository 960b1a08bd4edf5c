#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/config.hpp"
#include "hyphos/plan.hpp"
#include "plan/reader.hpp"

/// From the YAML tree to a Plan, one function per section. Each reads, checks what it can see, and
/// goes on after a mistake, so that all mistakes are reported together.
namespace hyphos::plan {

inline constexpr std::size_t kMaxHosts = 256;
inline constexpr std::size_t kMaxProcesses = 1024;
inline constexpr std::size_t kMaxNodes = 4096;
inline constexpr std::size_t kMaxChannels = 4096;
inline constexpr std::size_t kMaxPairs = 200'000;  ///< of publishers and subscribers, all channels

/// The entries of `hosts:`, `processes:` and so on. Anything but a map of at most `most` names is
/// reported, and gives none.
[[nodiscard]] const std::vector<Entry>& named_entries(const Value* value, const std::string& path,
                                                      std::size_t most, Problems& problems);

/// The plan in the making, with what later sections and checks need to know.
struct Draft {
  explicit Draft(Problems& p) : problems(p) {}

  Plan plan;
  Problems& problems;
  bool channels_declared = false;  ///< there is a `channels:` section: other names are mistakes
  bool several_hosts = false;
  /// Node → the process whose `nodes:` names it.
  std::map<std::string, Word> placed;
  std::map<std::string, std::string> placed_in;
  std::unordered_map<std::string, std::size_t> channel_index;
  /// What each node says of services, in the order of the nodes; for read_calls().
  struct NodeCalls {
    std::vector<Word> services, calls, actions, goals;
  };
  std::vector<NodeCalls> node_calls;
  /// By process: what `after` and `health.channels` name, known only once all sections are read.
  std::map<std::string, std::vector<Word>> after;
  std::map<std::string, std::vector<Word>> watched;
  std::set<std::string> ready_given;  ///< processes whose `ready` the plan names

  void error(const Source& source, std::string text) { problems.error(source, std::move(text)); }
  [[nodiscard]] std::vector<std::string_view> host_names() const;
  [[nodiscard]] std::vector<std::string_view> process_names() const;
  [[nodiscard]] std::vector<std::string_view> node_names() const;
  [[nodiscard]] std::vector<std::string_view> channel_names() const;
  [[nodiscard]] ChannelPlan* channel(const std::string& name);
  void add_channel(ChannelPlan channel);
  [[nodiscard]] ProcessPlan* process(std::string_view name);

  /// A channel that a section names: known, or taken up as implied if the plan has no `channels:`.
  /// Null, and an error that begins with `path`, if it is neither.
  ChannelPlan* refer_to_channel(const Word& word, const std::string& path);
  /// The words that name channels, each checked; repeated ones are reported.
  std::vector<std::string> refer_to_channels(const std::vector<Word>& words,
                                             const std::string& path);
};

[[nodiscard]] Source to_source(const SourceLine& line);
/// A part of a YAML tree as it stands in a Plan.
[[nodiscard]] ParamValue to_param(const Value& value);

void read_hosts(const Value* value, Draft& draft);
void read_processes(const Value* value, Draft& draft);
/// The keys of a process that say how it is started, watched and ended.
void read_supervision(const Section& section, ProcessPlan& process, Draft& draft);
/// The names in them, and the defaults that depend on other sections. After read_channels().
void finish_supervision(Draft& draft);
void read_nodes(const Value* value, Draft& draft);
/// `persist:` of a node: on, or the name of a file. "" for off.
std::string read_persist(const Section& section, const std::string& node);
/// Puts every node into a process, making the processes that defaults ask for.
void place_nodes(Draft& draft);
/// `processes.<name>.params`, over what the nodes say.
void override_params(const Value* processes, Draft& draft);
/// Two nodes must not write one file.
void check_persist(Draft& draft);
void read_channels(const Value* value, Draft& draft);
/// The services and actions of the nodes, and the channels that these need.
void read_calls(Draft& draft);
void read_remaps(const Value* nodes, Draft& draft);
/// `load:` of channels and nodes. After the channels and the remaps.
void read_loads(const Value* channels, const Value* nodes, Draft& draft);
void read_data_graph(const Value* value, Draft& draft);
void read_record(const Value* value, Draft& draft);
void read_network(const Value* value, Draft& draft);
/// After the channels: simulated time adds some.
void read_clock(const Value* value, Draft& draft);

/// Refuses plans whose tables would be too large; a plain product, so that it costs nothing.
void check_size(Draft& draft);
/// What only shows when all sections are known: who can reach whom, what is bound twice.
void check_whole(Draft& draft);
/// Files and CPUs of this machine, for the processes of `hosts`; of all if that is empty.
void check_files(const std::vector<std::string>& hosts, Draft& draft);

/// The whole: sections in order, then the checks.
[[nodiscard]] Result<Plan> build_plan(const Value& root, Plan start, const PlanOptions& options,
                                      Problems& problems);

/// The endpoint to connect to for one that is bound on `host`.
[[nodiscard]] std::string connect_form(const std::string& bound, const HostPlan& host);

}  // namespace hyphos::plan
