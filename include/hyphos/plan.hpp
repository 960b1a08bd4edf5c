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
#include "hyphos/policy.hpp"
#include "hyphos/result.hpp"

/// The plan: what a robot.yaml says, checked and complete. See docs/plan.md for every key.
///
/// A Plan is plain data. Once made it does not change; any number of threads may read it.
namespace hyphos {

/// The place in a file (or the `--set` option) that said something.
struct SourceLine {
  std::string file;
  int line = 0;    ///< from 1; 0: not written anywhere, or given by an option
  int column = 0;  ///< from 1, in bytes

  /// "robot.yaml:12:5", or only the file if there is no line.
  [[nodiscard]] HYPHOS_EXPORT std::string to_string() const;
};

struct ParamEntry;

/// A value under `nodes.<name>.params`: a scalar as written, a list or a map.
struct HYPHOS_EXPORT ParamValue {
  enum class Kind : std::uint8_t { null, scalar, list, map };

  Kind kind = Kind::null;
  bool quoted = false;  ///< a scalar in quotes is text, whatever it looks like
  std::string text;     ///< of a scalar
  std::vector<ParamValue> items;
  std::vector<ParamEntry> entries;  ///< of a map, in order
  SourceLine source;

  /// The value under a key, or under "a.b.c" inside nested maps; null if there is none.
  [[nodiscard]] const ParamValue* find(std::string_view path) const;
  /// These give invalid_config, with file and line, if the value cannot be read so. An integer
  /// reads as a real as well, and every scalar as text.
  [[nodiscard]] Result<std::int64_t> as_integer() const;
  [[nodiscard]] Result<double> as_real() const;
  [[nodiscard]] Result<bool> as_boolean() const;
  [[nodiscard]] Result<std::string> as_text() const;
};

struct ParamEntry {
  std::string key;
  ParamValue value;
};

/// How far a channel's messages may travel: `scope:` in the plan.
enum class Reach : std::uint8_t {
  local,    ///< within each process
  machine,  ///< between the processes of one host
  network,  ///< everywhere in the plan
};

/// What carries a message from one process to another (or within one): the name of a transport
/// ("shm", "zmq"), or one of the two words below. Lives as long as the program.
using Route = std::string_view;
inline constexpr Route kNoRoute = "none";
inline constexpr Route kByPointer = "pointer";

/// `transport:` of a channel that leaves the choice: shm on one host, zmq between hosts.
inline constexpr std::string_view kAutomaticTransport = "auto";

enum class NodeKind : std::uint8_t {
  plugin,      ///< a shared object with HYPHOS_NODE, loaded into the process
  python,      ///< a Python module or class, run by the process's interpreter
  executable,  ///< a program of its own, alone in its process
  gateway,     ///< a gateway to another world, in the process (hyphos/gateway.hpp)
  external,    ///< no program named: something started by hand takes this name
};

/// What `hyphos run` starts for a process.
enum class ProcessKind : std::uint8_t {
  native,      ///< only plug-ins and gateways (or nothing yet)
  python,      ///< at least one Python node; plug-ins are loaded into the same interpreter
  executable,  ///< exactly one executable node
};

/// When `hyphos run` starts a process again that has ended by itself.
enum class Restart : std::uint8_t {
  never,
  on_failure,  ///< after an error code, a signal, or a kill for its health
  always,      ///< after a good end, too
};

/// When a process counts as ready, so that those `after` it may start.
enum class Ready : std::uint8_t {
  started,  ///< as soon as it runs
  nodes,    ///< once it spins, or all channel ends that the plan names for its nodes are open
};

[[nodiscard]] HYPHOS_EXPORT std::string_view to_string(Reach value);
[[nodiscard]] HYPHOS_EXPORT std::string_view to_string(Restart value);
[[nodiscard]] HYPHOS_EXPORT std::string_view to_string(Ready value);
[[nodiscard]] HYPHOS_EXPORT std::string_view to_string(NodeKind value);
[[nodiscard]] HYPHOS_EXPORT std::string_view to_string(ProcessKind value);

struct HostPlan {
  std::string name;
  std::string address;  ///< IPv4, IPv6 without brackets, or a host name
  std::string netns;    ///< network namespace to run in; empty: none
  std::string ssh;      ///< "user@host" by which `hyphos run` reaches it; empty: not at all
  std::vector<std::string> ssh_options;  ///< words for ssh, e.g. "-p", "2222"
  std::string workdir;                   ///< folder there to work in; empty: as here
  std::string plan;                      ///< the plan's file there; empty: the same path as here
  std::string command = "hyphos";        ///< the program `hyphos` there
  SourceLine source;
};

/// What tells that a process that still runs does no work any more.
struct HealthPlan {
  std::int64_t heartbeat_ms = 0;      ///< hung if its threads take up nothing for so long; 0: off
  std::vector<std::string> channels;  ///< it publishes these within the deadline_ms of each
  bool kill = true;                   ///< `action: kill`; false: only told

  [[nodiscard]] bool enabled() const { return heartbeat_ms > 0 || !channels.empty(); }
};

/// How `hyphos run` starts, watches and ends a process.
struct SupervisionPlan {
  std::vector<std::string> after;  ///< processes that must be ready first
  Ready ready = Ready::nodes;
  std::int64_t ready_timeout_ms = 60'000;  ///< not ready for so long is a failure; 0: no limit
  std::int64_t stop_timeout_ms = 5'000;    ///< between SIGINT and SIGTERM
  Restart restart = Restart::never;
  std::int64_t backoff_ms = 200;         ///< before the first restart; doubles with each one
  std::int64_t max_backoff_ms = 10'000;  ///< up to this
  int max_restarts_per_minute = 10;      ///< one more, and the process has failed for good
  HealthPlan health;
};

struct ProcessPlan {
  std::string name;
  std::string host;
  ProcessKind kind = ProcessKind::native;
  std::vector<std::string> nodes;  ///< in the order in which they are started
  int threads = 0;                 ///< worker threads; 0: one per core, at least 2
  std::vector<int> cpu_affinity;   ///< CPU numbers; empty: all
  std::string log_level = "info";  ///< debug, info, warn, error, off
  std::vector<std::pair<std::string, std::string>> env;  ///< added to the environment
  /// "tcp://*:5553", as written or derived from the host's address; empty if it cannot have one
  /// (no free port below 65536).
  std::string endpoint;
  bool endpoint_given = false;  ///< the plan names it
  SupervisionPlan supervision;
  SourceLine source;
};

/// What a channel is expected to carry: `load:` in the plan. The runtime does not enforce it; the
/// capacity model and the synthetic nodes of the laboratory go by it.
struct ChannelLoad {
  double rate_hz = 0;           ///< of each publisher on its own schedule; 0: see `after`
  std::string after;            ///< or: published on receiving a message of this channel …
  std::int64_t every = 1;       ///< … on every so many-th
  std::int64_t size_bytes = 0;  ///< of one message
  double work_us = 0;           ///< computing for one message before it is published, on one core
};

/// What a node is expected to compute.
struct NodeLoad {
  double work_us = 0;  ///< on one core, for each message that it receives
  /// By channel, for those that differ.
  std::vector<std::pair<std::string, double>> work_us_of;

  [[nodiscard]] HYPHOS_EXPORT double work_us_for(const std::string& channel) const;
};

struct NodePlan {
  std::string name;
  std::string process;
  NodeKind kind = NodeKind::external;
  std::string program;            ///< plug-in file, executable, Python module, or protocol
  std::string python_class;       ///< after the colon of `python: module:Class`; may be empty
  std::vector<std::string> args;  ///< for executables and gateways
  ParamValue params;              ///< a map, or null
  std::string persist;            ///< file that keeps parameters set at run time; empty: none
  std::vector<std::pair<std::string, std::string>> remap;  ///< name in the code → channel
  std::vector<std::string> services;                       ///< that it answers
  std::vector<std::string> calls;                          ///< services that it asks
  std::vector<std::string> actions;                        ///< that it carries out
  std::vector<std::string> goals;                          ///< actions that it sends goals to
  NodeLoad load;
  SourceLine source;

  /// The channel that the node's code means by `name`.
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

struct ChannelPlan {
  std::string name;
  std::string type;  ///< type name; empty: whatever the first end says
  Policy policy;
  Reach reach = Reach::network;
  std::string transport{kAutomaticTransport};  ///< or the name of one
  /// Names of nodes. Absent: not declared, any node may; empty list: none may.
  std::optional<std::vector<std::string>> publishers;
  std::optional<std::vector<std::string>> subscribers;
  std::optional<ChannelLoad> load;
  bool closed = false;    ///< named by data_graph.close_channels: starts closed everywhere
  bool implied = false;   ///< only named by the network listing, not under `channels:`
  bool internal = false;  ///< one of the two of a service or action: not shown as a channel
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

struct DiscoveryPlan {
  bool multicast = false;
  std::string group = "239.255.72.89";
  int port = 5549;
  std::string interface;  ///< e.g. "eth0"; empty: the system's choice
  std::int64_t interval_ms = 1000;
};

/// CurveZMQ keys; files hold one Z85 key of 40 characters. Paths as written: see Plan::resolve().
struct CurvePlan {
  bool enabled = false;
  std::string public_key_file;
  std::string secret_key_file;
  std::vector<std::string> allowed_keys;  ///< files with public keys let in besides our own
};

/// A bad network, for tests: what happens to every message on its way into a process, through any
/// transport. Shares are 0 to 1; each lost message is counted as `drop.<transport>.injected`.
struct FaultPlan {
  double loss = 0;       ///< a message disappears
  double duplicate = 0;  ///< a message comes twice
  double reorder = 0;    ///< a message is overtaken by the one behind it
  double delay_ms = 0;   ///< every message is held back so long
  double jitter_ms = 0;  ///< and up to so much longer
  std::int64_t seed = 1;
};

struct NetworkPlan {
  int base_port = 5550;  ///< derived endpoints use base_port + index of the process
  std::vector<LinkPlan> publishers;
  std::vector<LinkPlan> subscribers;
  DiscoveryPlan discovery;
  CurvePlan curve;
  std::optional<FaultPlan> faults;
};

/// Where the processes have their time from; see docs/time.md.
struct ClockPlan {
  ClockMode mode = ClockMode::real;
  std::string channel = "clock";  ///< simulated: where the time comes from
  double speed = 1;               ///< simulated: what a simulator of this robot begins with
  SourceLine source;
};

struct RecordPlan {
  bool enabled = false;
  bool all = false;                   ///< every channel of the plan
  std::vector<std::string> channels;  ///< if not all
  std::string path = "recordings";    ///< directory or .mcap file, as written
};

struct HYPHOS_EXPORT Plan {
  std::string file;                 ///< as given to load_plan, or the name given to parse_plan
  std::filesystem::path directory;  ///< relative paths in the plan start here
  std::string robot = "robot";
  std::string domain = "0";
  std::vector<std::filesystem::path> plugin_path;  ///< where plug-ins without a '/' are looked for
  std::vector<HostPlan> hosts;
  std::vector<ProcessPlan> processes;
  std::vector<NodePlan> nodes;
  std::vector<ChannelPlan> channels;
  std::vector<CallPlan> calls;  ///< services, then actions
  NetworkPlan network;
  RecordPlan record;
  ClockPlan clock;
  std::vector<std::string> warnings;  ///< "robot.yaml:3:1: text": worth telling, not wrong

  /// Null if there is none of that name. Linear: for start-up, not for the data path.
  [[nodiscard]] const HostPlan* host(std::string_view name) const;
  [[nodiscard]] const ProcessPlan* process(std::string_view name) const;
  [[nodiscard]] const NodePlan* node(std::string_view name) const;
  [[nodiscard]] const ChannelPlan* channel(std::string_view name) const;
  [[nodiscard]] const CallPlan* call(std::string_view name, bool action) const;

  /// `path` if absolute, else below the plan's directory.
  [[nodiscard]] std::filesystem::path resolve(const std::string& path) const;
  /// The file of a plug-in or executable: for a bare plug-in name the first that exists in
  /// plugin_path, else the bare name, for the dynamic loader to find; for a bare executable the one
  /// beside the plan, else the first in PATH.
  [[nodiscard]] std::filesystem::path program_file(const NodePlan& node) const;
};

struct PlanOptions {
  /// "channels.scan.depth=3": set as if written in the file, before anything is checked.
  std::vector<std::string> overrides;
  /// Also check that plug-ins, executables and keys exist and that CPU numbers exist here.
  bool check_files = false;
  /// Only what belongs to these hosts of the plan is looked for; empty: everything.
  std::vector<std::string> check_hosts = {};
};

/// Reads and checks a plan. The Error's text has one line for every mistake, each with file, line,
/// column, key and remedy; `where` is the place of the first. Reads files; nothing is started.
[[nodiscard]] HYPHOS_EXPORT Result<Plan> load_plan(const std::filesystem::path& path,
                                                   const PlanOptions& options = {});
/// The same from memory; `include:` is refused. `name` stands for the file in messages.
[[nodiscard]] HYPHOS_EXPORT Result<Plan> parse_plan(std::string_view text, const std::string& name,
                                                    const PlanOptions& options = {});

/// A peer that a process connects to.
struct PeerLink {
  std::string process;    ///< the peer's process in this plan; empty: outside of it
  std::string transport;  ///< that connects
  std::string endpoint;   ///< to connect to: "tcp://10.0.0.2:5551", "ipc://@hyphos.0.sense"
  std::vector<std::string> channels;  ///< that may come from there
  std::string server_key;             ///< CURVE: file with its public key; empty: ours
};

/// An endpoint that a process binds.
struct BindLink {
  std::string transport;  ///< that binds
  std::string endpoint;
  std::vector<std::string> channels;  ///< that may leave through it
};

/// How one channel travels as seen from one process.
struct ChannelRoutes {
  std::string channel;
  bool publishes = false;   ///< a node of the process may publish it
  bool subscribes = false;  ///< a node of the process may subscribe to it
  /// What takes it to, or brings it from, other processes, in order of preference; without
  /// repetition. Empty: nothing does.
  std::vector<std::string> transports;

  [[nodiscard]] HYPHOS_EXPORT bool uses(std::string_view transport) const;
};

/// What the runtime of one process must open.
struct Connections {
  std::string process;
  /// The transports to open, in order of preference. The first there is always stands here: it
  /// carries channels that the plan does not name, and tools meet there.
  std::vector<std::string> transports;
  std::vector<BindLink> binds;
  std::vector<PeerLink> peers;
  std::vector<ChannelRoutes> channels;  ///< every channel of the plan, in its order

  /// Null if the plan does not name the channel: it then travels by pointer and shared memory.
  [[nodiscard]] HYPHOS_EXPORT const ChannelRoutes* channel(std::string_view name) const;
  [[nodiscard]] HYPHOS_EXPORT bool uses(std::string_view transport) const;
};

/// What carries `channel` from one process to another: a pointer inside one, shm on one host, zmq
/// between hosts, or what the channel's `transport` and `scope` say. Not asked: who publishes.
[[nodiscard]] HYPHOS_EXPORT Route route(const Plan& plan, const ChannelPlan& channel,
                                        std::string_view from_process, std::string_view to_process);

/// Errors: not_found, naming the processes there are.
[[nodiscard]] HYPHOS_EXPORT Result<Connections> connections(const Plan& plan,
                                                            std::string_view process);

/// The plan as tables for people.
[[nodiscard]] HYPHOS_EXPORT std::string to_text(const Plan& plan);
/// The plan as one JSON object, UTF-8; its members are listed in docs/plan.md and only ever added
/// to.
[[nodiscard]] HYPHOS_EXPORT std::string to_json(const Plan& plan);
/// The hypergraph in Graphviz's language: `dot -Tpng`, `dot -Tsvg`.
[[nodiscard]] HYPHOS_EXPORT std::string to_dot(const Plan& plan);

/// What is wrong with a channel's name, or "". Names are words of letters, digits and '_', not
/// starting with a digit, joined by '/': "scan", "front/scan"; at most 128 bytes; the first word
/// "hyphos" is reserved. The same rule holds at run time.
[[nodiscard]] HYPHOS_EXPORT std::string channel_name_problem(std::string_view name);
/// The channels of a service (or action): this + "/request" and "/reply". Reserved names: users
/// cannot open them, and tools show them as services.
/// The name of a service or action: as a channel's, at most 96 bytes.
[[nodiscard]] HYPHOS_EXPORT std::string call_name_problem(std::string_view name);
[[nodiscard]] HYPHOS_EXPORT std::string call_channel_base(std::string_view service, bool action);
/// The policy of those channels.
[[nodiscard]] HYPHOS_EXPORT Policy call_policy();
/// The same for nodes, processes, hosts and robots: one word, '-' allowed inside, at most 48 bytes.
[[nodiscard]] HYPHOS_EXPORT std::string name_problem(std::string_view name);

}  // namespace hyphos
