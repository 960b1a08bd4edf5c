#include "plan/build.hpp"

#include <sched.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "plan/names.hpp"

namespace hyphos::plan {
namespace {

constexpr std::size_t kMaxEnv = 256;

void check_name(const Entry& entry, const std::string& path, Draft& draft) {
  if (const std::string why = name_problem(entry.key); !why.empty()) {
    draft.error(entry.source, path + ": '" + entry.key + "': " + why);
  }
}

/// The default host of processes, or empty if the plan must name one.
std::string only_host(const Draft& draft) {
  return draft.several_hosts ? std::string() : draft.plan.hosts.front().name;
}

ProcessPlan& add_process(const std::string& name, const SourceLine& source, Draft& draft) {
  ProcessPlan process;
  process.name = name;
  process.host = only_host(draft);
  process.source = source;
  if (process.host.empty()) {
    draft.error(to_source(source), "processes." + name +
                                       ": needs a host, because the plan has several" +
                                       suggestion(draft.problems, "", "hosts", draft.host_names()) +
                                       ". Add it under processes");
  }
  draft.plan.processes.push_back(std::move(process));
  return draft.plan.processes.back();
}

void read_env(const Section& section, ProcessPlan& process, Draft& draft) {
  const std::string path = section.path("env");
  for (const Entry& entry : named_entries(section.find("env"), path, kMaxEnv, draft.problems)) {
    const std::string key = path + "." + entry.key;
    if (const std::string why = env_name_problem(entry.key); !why.empty()) {
      draft.error(entry.source, key + ": " + why);
    }
    if (entry.value.is(Value::Kind::list) || entry.value.is(Value::Kind::map)) {
      draft.error(entry.value.source, key + ": expected text, found " + describe(entry.value));
    }
    process.env.emplace_back(entry.key, entry.value.text);
  }
}

/// `prefix: gdb -ex run --args`, or a list for words with spaces.
void read_prefix(const Section& section, ProcessPlan& process, Draft& draft) {
  const Value* const value = section.find("prefix");
  const bool is_text = value != nullptr && value->is(Value::Kind::scalar);
  for (const Word& word : section.words("prefix")) {
    if (const std::string why = file_name_problem(word.text); !why.empty()) {
      draft.error(word.source, section.path("prefix") + ": '" + word.text + "': " + why);
    } else if (!is_text) {
      process.prefix.push_back(word.text);
    } else {
      std::istringstream parts(word.text);
      for (std::string part; parts >> part;) process.prefix.push_back(part);
    }
  }
  if (is_text && value->text.find_first_of("\"'") != std::string::npos) {
    draft.error(value->source, section.path("prefix") +
                                   ": quotes are not read. Give a list of words instead: [gdb, "
                                   "-ex, \"break main\", --args]");
  }
}

void read_affinity(const Section& section, ProcessPlan& process, Draft& draft) {
  for (const Word& word : section.words("cpu_affinity")) {
    Value as_value;
    as_value.kind = Value::Kind::scalar;
    as_value.text = word.text;
    std::int64_t cpu = -1;
    if (!read_integer(as_value, cpu) || cpu < 0 || cpu >= CPU_SETSIZE) {
      draft.error(word.source, section.path("cpu_affinity") + ": expected CPU numbers from 0 to " +
                                   std::to_string(CPU_SETSIZE - 1) + ", found '" + word.text + "'");
    } else if (std::count(process.cpu_affinity.begin(), process.cpu_affinity.end(), cpu) > 0) {
      draft.error(word.source, section.path("cpu_affinity") + ": CPU " + word.text + " twice");
    } else {
      process.cpu_affinity.push_back(static_cast<int>(cpu));
    }
  }
}

void read_process_endpoint(const Section& section, ProcessPlan& process, Draft& draft) {
  const std::string text = section.text("endpoint", "");
  if (!section.has("endpoint")) return;
  std::string why;
  const std::optional<Endpoint> endpoint = parse_endpoint(text, why);
  if (!endpoint) {
    section.error("endpoint", "'" + text + "': " + why);
    return;
  }
  if (endpoint->host == "localhost") {
    draft.error(section.at("endpoint"),
                section.path("endpoint") + ": a name cannot be bound, use 127.0.0.1");
  }
  process.endpoint = endpoint->to_string();
  process.endpoint_given = true;
}

void read_remote(const Section& section, HostPlan& host, Draft& draft) {
  for (const char* key : {"ssh_options", "workdir", "plan", "command"}) {
    if (section.has(key) && host.ssh.empty()) {
      section.error(key, "has no effect without ssh. Add ssh: user@host, or remove it");
    }
  }
  for (const Word& word : section.words("ssh_options")) {
    if (!file_name_problem(word.text).empty()) {
      draft.error(word.source, section.path("ssh_options") +
                                   ": a word must not be empty or contain control characters");
    }
    host.ssh_options.push_back(word.text);
  }
  const auto file = [&](const char* key, std::string fallback) {
    std::string text = section.text(key, std::move(fallback));
    if (const std::string why = file_name_problem(text); section.has(key) && !why.empty()) {
      section.error(key, "'" + text + "': " + why);
    }
    return text;
  };
  host.workdir = file("workdir", "");
  host.plan = file("plan", "");
  host.command = file("command", host.command);
}

void read_program(const Section& section, NodePlan& node, Draft& draft) {
  struct Form {
    const char* key;
    NodeKind kind;
    std::string (*problem)(std::string_view);
  };
  constexpr Form kForms[] = {{"plugin", NodeKind::plugin, &file_name_problem},
                             {"python", NodeKind::python, &python_problem},
                             {"executable", NodeKind::executable, &file_name_problem},
                             {"gateway", NodeKind::gateway, &name_problem},
                             {"builtin", NodeKind::builtin, &name_problem}};
  for (const Form& form : kForms) {
    if (!section.has(form.key)) continue;
    if (node.kind != NodeKind::external) {
      section.error(form.key, "the node is already a " + std::string(to_string(node.kind)) +
                                  ". Keep one of plugin, python, executable, gateway, builtin");
      continue;
    }
    node.kind = form.kind;
    node.program = section.text(form.key, "");
    if (const std::string why = form.problem(node.program); !why.empty()) {
      section.error(form.key, "'" + node.program + "': " + why);
    }
  }
  if (node.kind == NodeKind::python) {
    if (const std::size_t colon = node.program.find(':'); colon != std::string::npos) {
      node.python_class = node.program.substr(colon + 1);
      node.program.resize(colon);
    }
  }
  for (const Word& word : section.words("args")) node.args.push_back(word.text);
  if (section.has("args") && node.kind != NodeKind::executable && node.kind != NodeKind::gateway) {
    draft.error(section.at("args"),
                section.path("args") +
                    ": only executables and gateways take arguments. Pass values to a " +
                    std::string(to_string(node.kind)) + " node as params");
  }
}

}  // namespace

SourceLine to_line(const Source& source) {
  return {source.file ? *source.file : std::string(), source.line, source.column};
}

const std::vector<Entry>& named_entries(const Value* value, const std::string& path,
                                        std::size_t most, Problems& problems) {
  static const std::vector<Entry> none;
  if (value == nullptr || value->is(Value::Kind::null)) return none;
  if (!value->is(Value::Kind::map)) {
    problems.error(value->source, path + ": expected a map of names, found " + describe(*value));
    return none;
  }
  if (value->entries.size() > most) {
    problems.error(value->source, path + ": more than " + std::to_string(most) + " entries");
    return none;
  }
  return value->entries;
}

Source to_source(const SourceLine& line) {
  return {std::make_shared<const std::string>(line.file), line.line, line.column};
}

std::vector<std::string_view> Draft::host_names() const {
  std::vector<std::string_view> names;
  for (const HostPlan& host : plan.hosts) names.push_back(host.name);
  return names;
}

std::vector<std::string_view> Draft::process_names() const {
  std::vector<std::string_view> names;
  for (const ProcessPlan& process : plan.processes) names.push_back(process.name);
  return names;
}

std::vector<std::string_view> Draft::node_names() const {
  std::vector<std::string_view> names;
  for (const NodePlan& node : plan.nodes) names.push_back(node.name);
  return names;
}

ProcessPlan* Draft::process(std::string_view name) {
  return const_cast<ProcessPlan*>(std::as_const(plan).process(name));
}

void read_hosts(const Value* value, Draft& draft) {
  const std::vector<Entry>& entries = named_entries(value, "hosts", kMaxHosts, draft.problems);
  draft.several_hosts = entries.size() > 1;
  std::map<std::string, std::string> addresses;
  for (const Entry& entry : entries) {
    check_name(entry, "hosts", draft);
    const Section section(&entry.value, "hosts." + entry.key, draft.problems,
                          {"address", "netns", "ssh", "ssh_options", "workdir", "plan", "command"});
    HostPlan host;
    host.name = entry.key;
    host.source = to_line(entry.source);
    host.address = section.text("address", draft.several_hosts ? "" : "127.0.0.1");
    host.netns = section.text("netns", "");
    host.ssh = section.text("ssh", "");
    if (host.address.empty()) {
      section.error("address", "missing: a plan with several hosts needs the address of each");
    } else if (const std::string why = address_problem(host.address); !why.empty()) {
      section.error("address", "'" + host.address + "': " + why);
    } else if (const auto [first, is_new] = addresses.emplace(host.address, host.name); !is_new) {
      section.error("address", "'" + host.address + "' is the address of host '" + first->second +
                                   "' already. Put its processes on one host");
    }
    if (section.has("netns") && !name_problem(host.netns).empty()) {
      section.error("netns", "'" + host.netns + "': " + name_problem(host.netns));
    }
    const auto bad_ssh = [](char c) { return c <= ' ' || c == '\x7f'; };
    if (section.has("ssh") && (host.ssh.empty() || host.ssh.front() == '-' ||
                               std::any_of(host.ssh.begin(), host.ssh.end(), bad_ssh))) {
      section.error("ssh", "expected user@host, found '" + host.ssh + "'");
    }
    read_remote(section, host, draft);
    draft.plan.hosts.push_back(std::move(host));
  }
  if (!draft.plan.hosts.empty()) return;
  HostPlan local;
  local.name = "local";
  local.address = "127.0.0.1";
  draft.plan.hosts.push_back(std::move(local));
}

void read_processes(const Value* value, Draft& draft) {
  for (const Entry& entry : named_entries(value, "processes", kMaxProcesses, draft.problems)) {
    check_name(entry, "processes", draft);
    const Section section(
        &entry.value, "processes." + entry.key, draft.problems,
        {"host", "nodes", "threads", "cpu_affinity", "log_level", "env", "prefix", "endpoint",
         "after", "ready", "ready_timeout_ms", "stop_timeout_ms", "restart", "backoff_ms",
         "max_backoff_ms", "max_restarts_per_minute", "health", "params", "replicas"});
    ProcessPlan process;
    process.name = entry.key;
    process.source = to_line(entry.source);
    process.host = section.text("host", only_host(draft));
    if (process.host.empty()) {
      section.error("host", "missing: the plan has several hosts" +
                                suggestion(draft.problems, "", "hosts", draft.host_names()));
    } else if (draft.plan.host(process.host) == nullptr) {
      section.error("host",
                    "unknown host '" + process.host + "'" +
                        suggestion(draft.problems, process.host, "hosts", draft.host_names()));
    }
    process.threads = static_cast<int>(section.integer("threads", 0, 0, kMaxThreads));
    process.log_level = section.choice<std::string>("log_level", "info",
                                                    {{"debug", "debug"},
                                                     {"info", "info"},
                                                     {"warn", "warn"},
                                                     {"error", "error"},
                                                     {"off", "off"}});
    read_affinity(section, process, draft);
    read_env(section, process, draft);
    read_prefix(section, process, draft);
    read_process_endpoint(section, process, draft);
    read_supervision(section, process, draft);
    for (const Word& word : section.words("nodes")) {
      const auto [placed, is_new] = draft.placed.emplace(word.text, word);
      if (is_new) {
        draft.placed_in.emplace(word.text, process.name);
        process.nodes.push_back(word.text);
      } else {
        draft.error(word.source, section.path("nodes") + ": node '" + word.text +
                                     "' is placed already, in process '" +
                                     draft.placed_in[word.text] + "' at " +
                                     placed->second.source.to_string() + ". Keep one");
      }
    }
    draft.plan.processes.push_back(std::move(process));
  }
}

void read_nodes(const Value* value, Draft& draft) {
  for (const Entry& entry : named_entries(value, "nodes", kMaxNodes, draft.problems)) {
    check_name(entry, "nodes", draft);
    const Section section(
        &entry.value, "nodes." + entry.key, draft.problems,
        {"plugin", "python", "executable", "gateway", "builtin", "args", "params", "persist",
         "remap", "process", "services", "calls", "actions", "goals", "load", "replicas"});
    NodePlan node;
    node.name = entry.key;
    node.source = to_line(entry.source);
    read_program(section, node, draft);
    if (const Value* params = section.find("params")) {
      if (params->is(Value::Kind::map) || params->is(Value::Kind::null)) {
        node.params = to_param(*params);
      } else {
        section.error("params", "expected a map, found " + describe(*params));
      }
    }
    draft.node_calls.push_back({section.words("services"), section.words("calls"),
                                section.words("actions"), section.words("goals")});
    node.persist = read_persist(section, node.name);
    node.process = section.text("process", "");
    const auto placed = draft.placed_in.find(node.name);
    if (!node.process.empty() && draft.plan.process(node.process) == nullptr) {
      section.error("process", "unknown process '" + node.process + "'" +
                                   suggestion(draft.problems, node.process, "processes",
                                              draft.process_names()));
    } else if (placed != draft.placed_in.end() && !node.process.empty() &&
               placed->second != node.process) {
      section.error("process", "'" + node.process + "' here, but process '" + placed->second +
                                   "' names the node at " +
                                   draft.placed[node.name].source.to_string() + ". Keep one");
    } else if (placed != draft.placed_in.end()) {
      node.process = placed->second;
    } else if (!node.process.empty()) {
      draft.process(node.process)->nodes.push_back(node.name);
    }
    draft.plan.nodes.push_back(std::move(node));
  }
  for (const auto& [name, word] : draft.placed) {
    if (draft.plan.node(name) == nullptr) {
      draft.error(word.source, "processes." + draft.placed_in[name] + ".nodes: unknown node '" +
                                   name + "'" +
                                   suggestion(draft.problems, name, "nodes", draft.node_names()));
    }
  }
}

void place_nodes(Draft& draft) {
  for (NodePlan& node : draft.plan.nodes) {
    if (!node.process.empty()) continue;
    node.process = node.kind == NodeKind::executable ? node.name : "main";
    ProcessPlan* process = draft.process(node.process);
    if (process == nullptr) process = &add_process(node.process, node.source, draft);
    process->nodes.push_back(node.name);
  }
  if (draft.plan.processes.empty()) {
    add_process("main", {draft.plan.file, 1, 1}, draft);
  }
  for (ProcessPlan& process : draft.plan.processes) {
    const NodePlan* program = nullptr;
    for (const std::string& name : process.nodes) {
      const NodePlan* node = draft.plan.node(name);
      if (node == nullptr || node->kind == NodeKind::external) continue;
      if (program != nullptr &&
          (node->kind == NodeKind::executable || program->kind == NodeKind::executable)) {
        draft.error(to_source(node->source),
                    "nodes." + name + ": shares process '" + process.name + "' with node '" +
                        program->name +
                        "', but an executable needs its own process. Give one "
                        "of them another process");
      }
      if (program == nullptr) program = node;
      if (node->kind == NodeKind::python) process.kind = ProcessKind::python;
      if (node->kind == NodeKind::executable) process.kind = ProcessKind::executable;
    }
  }
}

namespace {

/// The paths of a list of files or folders, relative to the plan's folder, with their places.
std::vector<std::pair<std::filesystem::path, Source>> read_paths(const char* key,
                                                                 const Section& top, Draft& draft) {
  std::vector<std::pair<std::filesystem::path, Source>> paths;
  for (const Word& word : top.words(key)) {
    if (const std::string why = file_name_problem(word.text); !why.empty()) {
      draft.error(word.source, std::string(key) + ": " + why);
    }
    paths.emplace_back(draft.plan.resolve(word.text), word.source);
  }
  return paths;
}

}  // namespace

Result<Plan> build_plan(const Value& root, Plan start, const PlanOptions& options,
                        Problems& problems) {
  Draft draft(problems);
  draft.plan = std::move(start);
  const Section top(&root, "", problems,
                    {"hyphos", "robot", "domain", "plugin_path", "protos", "hosts", "processes",
                     "nodes", "groups", "transport", "channels", "network", "data_graph", "record",
                     "clock", "shared_params"});
  Plan& plan = draft.plan;
  plan.robot = top.text("robot", plan.robot);
  plan.domain = top.text("domain", plan.domain);
  if (const std::string why = name_problem(plan.robot); !why.empty()) {
    top.error("robot", "'" + plan.robot + "': " + why);
  }
  if (const std::string why = domain_problem(plan.domain); !why.empty()) {
    top.error("domain", "'" + plan.domain + "': " + why);
  }
  for (const auto& [place, source] : read_paths("plugin_path", top, draft)) {
    plan.plugin_path.push_back(place);
  }
  for (const auto& [place, source] : read_paths("protos", top, draft)) {
    plan.protos.push_back(place);
    std::error_code ignored;
    if (!options.check_files || std::filesystem::exists(place, ignored)) continue;
    draft.error(source, "protos: '" + place.string() +
                            "' does not exist. Give a folder of .proto files, or a file of "
                            "descriptors (protoc --include_imports -o FILE)");
  }
  if (plan.plugin_path.empty()) plan.plugin_path.push_back(plan.resolve("."));
  read_hosts(top.find("hosts"), draft);
  read_processes(top.find("processes"), draft);
  read_nodes(top.find("nodes"), draft);
  read_groups(top.find("groups"), draft);
  place_nodes(draft);
  finish_groups(draft);
  override_params(top.find("processes"), draft);
  check_persist(draft);
  read_transport(top, draft);
  read_channels(top.find("channels"), draft);
  read_clock(top.find("clock"), draft);
  read_calls(draft);
  add_group_channels(draft);
  read_remaps(top.find("nodes"), draft);
  read_loads(top.find("channels"), top.find("nodes"), draft);
  read_network(top.find("network"), draft);
  read_data_graph(top.find("data_graph"), draft);
  read_record(top.find("record"), draft);
  read_shared_params(top.find("shared_params"), draft);
  finish_supervision(draft);
  // The checks across sections assume that each section is valid.
  if (!problems.failed()) check_size(draft);
  if (!problems.failed()) check_whole(draft);
  if (options.check_files) check_files(options.check_hosts, draft);
  plan.warnings = problems.warnings();
  if (problems.failed()) return problems.to_error();
  return std::move(plan);
}

}  // namespace hyphos::plan
