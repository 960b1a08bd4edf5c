#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hyphos/clock.hpp"
#include "hyphos/export.hpp"
#include "hyphos/param_types.hpp"
#include "hyphos/policy.hpp"
#include "hyphos/result.hpp"

/// The plan: the checked and complete content of a robot.yaml. See docs/reference/plan.md for every
/// key.
///
/// A Plan is plain data. It does not change after it was made, and any number of threads may read
/// it.
namespace hyphos {

/// How far the messages of a channel are sent: `scope:` in the plan.
enum class Reach : std::uint8_t {
  local,    ///< within each process
  machine,  ///< between the processes of one host
  network,  ///< everywhere in the plan
};

/// The path of a message from one process to another (or within one): the name of a transport
/// ("shm", "zmq"), or one of the two names below. Lives as long as the program.
using Route = std::string_view;
inline constexpr Route kNoRoute = "none";
inline constexpr Route kByPointer = "pointer";

/// The default `transport:` of a channel: shm on one host, zmq between hosts.
inline constexpr std::string_view kAutomaticTransport = "auto";

enum class NodeKind : std::uint8_t {
  plugin,      ///< a shared object with HYPHOS_NODE, loaded into the process
  python,      ///< a Python module or class, run by the process's interpreter
  executable,  ///< a separate program, alone in its process
  gateway,     ///< a gateway to another system, in the process (hyphos/gateway.hpp)
  builtin,     ///< a node that comes with Hyphos, in the process (docs/reference/builtin.md)
  external,    ///< no program: a program started by hand uses this name
};

/// The kind of program that `hyphos run` starts for a process.
enum class ProcessKind : std::uint8_t {
  native,      ///< only plug-ins, gateways and built-in nodes (or nothing yet)
  python,      ///< at least one Python node. Plug-ins are loaded into the same interpreter
  executable,  ///< exactly one executable node
};

/// When `hyphos run` restarts a process that has ended by itself.
enum class Restart : std::uint8_t {
  never,
  on_failure,  ///< after an error code, a signal, or a kill by the health check
  always,      ///< also after a regular end
};

/// When a process counts as ready, so that its successors (`after`) may start.
enum class Ready : std::uint8_t {
  started,  ///< immediately after its start
  nodes,    ///< once it spins, or all endpoints that the plan names for its nodes are open
};

[[nodiscard]] HYPHOS_EXPORT std::string_view to_string(Reach value);
[[nodiscard]] HYPHOS_EXPORT std::string_view to_string(Restart value);
[[nodiscard]] HYPHOS_EXPORT std::string_view to_string(Ready value);
[[nodiscard]] HYPHOS_EXPORT std::string_view to_string(NodeKind value);
[[nodiscard]] HYPHOS_EXPORT std::string_view to_string(ProcessKind value);

/// A machine: an entry of `hosts:`.
struct HostPlan {
  std::string name;
  std::string address;  ///< IPv4, IPv6 without brackets, or a host name
  std::string netns;    ///< network namespace of its processes, empty for none
  std::string ssh;      ///< "user@host" for `hyphos run`, empty if it is not reached by ssh
  std::vector<std::string> ssh_options;  ///< arguments for ssh, e.g. "-p", "2222"
  std::string workdir;                   ///< working directory there, empty for the same as here
  std::string plan;                      ///< the plan's file there, empty for the same path as here
  std::string command = "hyphos";        ///< the program `hyphos` there
  SourceLine source;
};

/// Conditions under which a running process counts as hung.
struct HealthPlan {
  std::int64_t heartbeat_ms = 0;      ///< hung if its threads accept no work for this long. 0: off
  std::vector<std::string> channels;  ///< must be published within the deadline_ms of each
  bool kill = true;                   ///< `action: kill`. False: only report

  [[nodiscard]] bool enabled() const { return heartbeat_ms > 0 || !channels.empty(); }
};

/// How `hyphos run` starts, monitors and stops a process.
struct SupervisionPlan {
  std::vector<std::string> after;  ///< processes that must be ready first
  Ready ready = Ready::nodes;
  std::int64_t ready_timeout_ms = 60'000;  ///< not ready by then is a failure. 0: no limit
  std::int64_t stop_timeout_ms = 5'000;    ///< between SIGINT and SIGTERM
  Restart restart = Restart::never;
  std::int64_t backoff_ms = 200;  ///< delay before the first restart, doubled with each further one
  std::int64_t max_backoff_ms = 10'000;  ///< maximum delay
  int max_restarts_per_minute = 10;      ///< at the next restart the process has failed permanently
  HealthPlan health;
};

/// A process: an entry of `processes:`, or the process that a node implies.
struct ProcessPlan {
  std::string name;
  std::string host;
  ProcessKind kind = ProcessKind::native;
  std::vector<std::string> nodes;  ///< in their start order
  int threads = 0;                 ///< worker threads. 0: one per core, at least 2
  std::vector<int> cpu_affinity;   ///< CPU numbers, empty for all
  std::string log_level = "info";  ///< debug, info, warn, error, off
  std::vector<std::pair<std::string, std::string>> env;  ///< added to the environment
  std::vector<std::string> prefix;  ///< the program that runs this one, such as a debugger
  /// "tcp://*:5553", as written or derived from the host's address. Empty if none can be derived
  /// (no free port below 65536).
  std::string endpoint;
  bool endpoint_given = false;  ///< the plan contains it
  SupervisionPlan supervision;
  SourceLine source;
};

/// The expected traffic of a channel: `load:` in the plan. The runtime does not enforce it. The
/// capacity model and the synthetic nodes of the laboratory use it.
struct ChannelLoad {
  double rate_hz = 0;           ///< of each publisher with its own schedule. 0: see `after`
  std::string after;            ///< or: published after receiving a message of this channel
  std::int64_t every = 1;       ///< only after every n-th of these messages
  std::int64_t size_bytes = 0;  ///< of one message
  double work_us = 0;           ///< computing time on one core per message, before it is published
};

/// The expected computing time of a node.
struct NodeLoad {
  double work_us = 0;  ///< on one core, for each received message
  /// Exceptions by channel.
  std::vector<std::pair<std::string, double>> work_us_of;

  [[nodiscard]] HYPHOS_EXPORT double work_us_for(const std::string& channel) const;
};

/// A node: an entry of `nodes:`.
struct NodePlan {
  std::string name;
  std::string process;
  NodeKind kind = NodeKind::external;
  std::string program;            ///< plug-in file, executable, Python module, or protocol
  std::string python_class;       ///< after the colon of `python: module:Class`, may be empty
  std::vector<std::string> args;  ///< for executables and gateways
  ParamValue params;              ///< a map, or null
  std::string persist;            ///< file that keeps parameters set at run time, empty for none
  std::vector<std::pair<std::string, std::string>> remap;  ///< name in the code → channel
  std::vector<std::string> services;                       ///< services that it serves
  std::vector<std::string> calls;                          ///< services that it calls
  std::vector<std::string> actions;                        ///< actions that it executes
  std::vector<std::string> goals;                          ///< actions to which it sends goals
  NodeLoad load;
  SourceLine source;

  /// The channel for `name` in the node's code.
  [[nodiscard]] HYPHOS_EXPORT const std::string& channel_for(const std::string& name) const;
};

/// A service or action that a node of the plan offers.
struct CallPlan {
  std::string name;
  bool action = false;
  std::string server;                ///< node
  std::vector<std::string> clients;  ///< nodes, in the order of the plan
  SourceLine source;
};

/// Nodes that start, stop, move and close as one: an entry of `groups:`.
struct GroupPlan {
  std::string name;
  std::vector<std::string> nodes;
  std::string process;                ///< of all its nodes, empty if they are in several
  std::vector<std::string> moves_to;  ///< other processes that can run the group
  bool start = true;                  ///< with the robot. False: by a later request
  SourceLine source;
};

/// A channel: an entry of `channels:`, with its policy and its endpoints.
struct ChannelPlan {
  std::string name;
  std::string type;  ///< type name, empty for the type of the first endpoint
  Policy policy;
  Reach reach = Reach::network;
  std::string transport{kAutomaticTransport};  ///< or the name of a transport
  /// Names of nodes. Absent: not declared, any node may. Empty list: no node may.
  std::optional<std::vector<std::string>> publishers;
  std::optional<std::vector<std::string>> subscribers;
  std::optional<ChannelLoad> load;
  Where open = Where::both;  ///< at the start, in every process. data_graph.close_channels: outside
  bool implied = false;      ///< named only in the `network:` listing, not under `channels:`
  bool internal = false;     ///< a channel of a service or action, not listed as a channel
  SourceLine source;
};

/// An endpoint of the `network:` listing: `publisher` binds it, `subscribers` connect to it.
struct LinkPlan {
  std::string process;   ///< the process of this plan that binds or connects
  std::string endpoint;  ///< with its scheme: "tcp://*:5553"
  std::vector<std::string> channels;
  std::string server_key;  ///< for subscribers under CURVE: file with the peer's public key
  SourceLine source;
};

/// Multicast announcements between machines: `network: discovery`.
struct DiscoveryPlan {
  bool multicast = false;
  std::string group = "239.255.72.89";
  int port = 5549;
  std::string interface;            ///< e.g. "eth0", empty for the system's choice
  std::int64_t interval_ms = 1000;  ///< between two announcements
};

/// CurveZMQ keys. A file holds one Z85 key of 40 characters. Paths as written, see Plan::resolve().
struct CurvePlan {
  bool enabled = false;
  std::string public_key_file;
  std::string secret_key_file;
  std::vector<std::string> allowed_keys;  ///< files with accepted public keys besides our own
};

/// A bad network, for tests. The faults apply to every message received by a process, through any
/// transport. Shares are from 0 to 1. Each lost message is counted as `drop.<transport>.injected`.
struct FaultPlan {
  double loss = 0;        ///< share of messages that are lost
  double duplicate = 0;   ///< share of messages that arrive twice
  double reorder = 0;     ///< share of messages that swap places with the next one
  double delay_ms = 0;    ///< added latency of every message
  double jitter_ms = 0;   ///< maximum of the random additional latency
  std::int64_t seed = 1;  ///< of the random faults
};

/// Endpoints, discovery, keys and faults: `network:` in the plan.
struct NetworkPlan {
  int base_port = 5550;  ///< derived endpoints use base_port + index of the process
  std::vector<LinkPlan> publishers;
  std::vector<LinkPlan> subscribers;
  DiscoveryPlan discovery;
  CurvePlan curve;
  std::optional<FaultPlan> faults;
};

/// The source of the processes' time. See docs/how-to/time.md.
struct ClockPlan {
  ClockMode mode = ClockMode::real;
  std::string channel = "clock";  ///< simulated: the channel of the time
  double speed = 1;               ///< simulated: the initial speed of a simulator of this robot
  SourceLine source;
};

/// The recording of a run: `record:` in the plan.
struct RecordPlan {
  bool enabled = false;
  bool all = false;                   ///< every channel of the plan
  std::vector<std::string> channels;  ///< if not all
  std::string path = "recordings";    ///< directory or .mcap file, as written
};

/// The content of a robot.yaml after every check, with all defaults filled in.
struct HYPHOS_EXPORT Plan {
  std::string file;                 ///< as passed to load_plan, or the name passed to parse_plan
  std::filesystem::path directory;  ///< base of relative paths in the plan
  std::string robot = "robot";
  std::string domain = "0";
  std::vector<std::filesystem::path> plugin_path;  ///< search path of plug-ins without a '/'
  /// Folders of .proto files, and files with descriptors, of types that no process announces.
  std::vector<std::filesystem::path> protos;
  std::vector<HostPlan> hosts;
  std::vector<ProcessPlan> processes;
  std::vector<NodePlan> nodes;
  std::vector<GroupPlan> groups;
  std::vector<ChannelPlan> channels;
  std::vector<CallPlan> calls;  ///< services, then actions
  NetworkPlan network;
  RecordPlan record;
  ClockPlan clock;
  ParamValue shared_params;  ///< start values of the tree that all nodes share: a map, or null
  std::vector<std::string> warnings;  ///< "robot.yaml:3:1: text": suspicious, but valid

  /// Null if there is none of that name. Linear search: for start-up, not for the data path.
  [[nodiscard]] const HostPlan* host(std::string_view name) const;
  [[nodiscard]] const ProcessPlan* process(std::string_view name) const;
  [[nodiscard]] const NodePlan* node(std::string_view name) const;
  [[nodiscard]] const ChannelPlan* channel(std::string_view name) const;
  [[nodiscard]] const CallPlan* call(std::string_view name, bool action) const;
  [[nodiscard]] const GroupPlan* group(std::string_view name) const;
  /// The group of a node, null if it has none.
  [[nodiscard]] const GroupPlan* group_of(std::string_view node) const;
  /// True if the plan places the node in the process, or lets its group move there.
  [[nodiscard]] bool may_run(const NodePlan& node, std::string_view process) const;

  /// Returns `path` if it is absolute, else the path below the plan's directory.
  [[nodiscard]] std::filesystem::path resolve(const std::string& path) const;
  /// The file of a plug-in or executable. A bare plug-in name is searched in plugin_path. If it is
  /// not found there, the bare name is left to the dynamic loader. A bare executable name is
  /// searched beside the plan, then in PATH.
  [[nodiscard]] std::filesystem::path program_file(const NodePlan& node) const;
};

/// Options of load_plan() and parse_plan().
struct PlanOptions {
  /// "channels.scan.depth=3": applied as if written in the file, before any check.
  std::vector<std::string> overrides;
  /// Also check that plug-ins, executables and keys exist, and that this machine has the CPU
  /// numbers.
  bool check_files = false;
  /// Limit check_files to these hosts of the plan. Empty: all hosts.
  std::vector<std::string> check_hosts = {};
};

/// Reads and checks a plan. The Error's text has one line per mistake, each with file, line,
/// column, key and remedy. `where` is the place of the first mistake. Reads files and starts
/// nothing.
[[nodiscard]] HYPHOS_EXPORT Result<Plan> load_plan(const std::filesystem::path& path,
                                                   const PlanOptions& options = {});
/// The same from memory. `include:` is refused. `name` replaces the file name in messages.
[[nodiscard]] HYPHOS_EXPORT Result<Plan> parse_plan(std::string_view text, const std::string& name,
                                                    const PlanOptions& options = {});

/// A peer to which a process connects.
struct PeerLink {
  std::string process;    ///< the peer's process in this plan, empty if it is not in the plan
  std::string transport;  ///< the connecting transport
  std::string endpoint;   ///< remote endpoint: "tcp://10.0.0.2:5551", "ipc://@hyphos.0.sense"
  std::vector<std::string> channels;  ///< that may be received from the peer
  std::string server_key;             ///< CURVE: file with the peer's public key, empty for ours
};

/// An endpoint that a process binds.
struct BindLink {
  std::string transport;  ///< the binding transport
  std::string endpoint;
  std::vector<std::string> channels;  ///< that may be sent through it
};

/// The transports of one channel, seen from one process.
struct ChannelRoutes {
  std::string channel;
  bool publishes = false;   ///< a node of the process may publish it
  bool subscribes = false;  ///< a node of the process may subscribe to it
  /// The transports to and from other processes, in order of preference, without repetition. Empty:
  /// there are none.
  std::vector<std::string> transports;

  [[nodiscard]] HYPHOS_EXPORT bool uses(std::string_view transport) const;
};

/// Everything that the runtime of one process must open.
struct Connections {
  std::string process;
  /// The transports to open, in order of preference. The first transport of the program is always
  /// in the list: it carries channels that the plan does not name, and tools use it.
  std::vector<std::string> transports;
  std::vector<BindLink> binds;
  std::vector<PeerLink> peers;
  std::vector<ChannelRoutes> channels;  ///< every channel of the plan, in its order

  /// Null if the plan does not name the channel. Such a channel uses pointers and shared memory.
  [[nodiscard]] HYPHOS_EXPORT const ChannelRoutes* channel(std::string_view name) const;
  [[nodiscard]] HYPHOS_EXPORT bool uses(std::string_view transport) const;
};

/// The path of `channel` from one process to another, which does not depend on its publishers. It
/// is a pointer within one process, shm on one host, or zmq between hosts. The channel's
/// `transport` and `scope` may select another path, or none.
[[nodiscard]] HYPHOS_EXPORT Route route(const Plan& plan, const ChannelPlan& channel,
                                        std::string_view from_process, std::string_view to_process);

/// Errors: not_found, with the names of the existing processes.
[[nodiscard]] HYPHOS_EXPORT Result<Connections> connections(const Plan& plan,
                                                            std::string_view process);

/// The plan as tables for terminals.
[[nodiscard]] HYPHOS_EXPORT std::string to_text(const Plan& plan);
/// The plan as one JSON object in UTF-8. docs/reference/plan.md lists its members. Members may be
/// added, but are never removed or changed.
[[nodiscard]] HYPHOS_EXPORT std::string to_json(const Plan& plan);
/// The hypergraph in Graphviz's language: `dot -Tpng`, `dot -Tsvg`.
[[nodiscard]] HYPHOS_EXPORT std::string to_dot(const Plan& plan);

/// The problem of a channel's name, or "". Names are words of letters, digits and '_', not starting
/// with a digit, joined by '/': "scan", "front/scan". At most 128 bytes. The first word "hyphos" is
/// reserved. The same rule applies at run time.
[[nodiscard]] HYPHOS_EXPORT std::string channel_name_problem(std::string_view name);
/// The problem of a service's or action's name, or "". The rule is that of channels, with at most
/// 96 bytes.
[[nodiscard]] HYPHOS_EXPORT std::string call_name_problem(std::string_view name);
/// The common prefix of the channels of a service or action, followed by "/request" and "/reply".
/// These names are reserved: users cannot open them, and tools show them as services.
[[nodiscard]] HYPHOS_EXPORT std::string call_channel_base(std::string_view service, bool action);
/// The policy of those channels.
[[nodiscard]] HYPHOS_EXPORT Policy call_policy();
/// The problem of a name of a node, process, host or robot, or "". Such a name is one word of at
/// most 48 bytes, with '-' allowed inside. A replica has its index behind a dot: "worker.0".
[[nodiscard]] HYPHOS_EXPORT std::string name_problem(std::string_view name);

}  // namespace hyphos
