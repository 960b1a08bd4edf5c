#include "hyphos/runtime.hpp"

#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <thread>

#include "base/crash.hpp"
#include "base/log.hpp"
#include "node/params/params_service.hpp"
#include "node/runtime/arguments.hpp"
#include "node/runtime/environment.hpp"
#include "node/runtime/group_service.hpp"
#include "node/runtime/process_service.hpp"
#include "node/runtime/runtime_impl.hpp"
#include "node/runtime/spin_signals.hpp"
#include "plan/names.hpp"
#include "plan/transports.hpp"
#include "transport/shm/shm.hpp"
#include "wire/clock_tick.hpp"

namespace hyphos {
namespace {

constexpr std::int64_t kLingerMs = 200;
constexpr std::int64_t kBeatsPerHeartbeat = 4;
constexpr std::string_view kPlanTypes = "plan.types";

/// Checks the options that a program sets in code. Loading the plan checks the plan's own values.
Result<void> check_options(const RuntimeOptions& options) {
  if (options.threads < 0 || options.threads > plan::kMaxThreads) {
    return Error{Code::invalid_config,
                 "threads: expected 1 to " + std::to_string(plan::kMaxThreads) +
                     ", or 0 for one per core, found " + std::to_string(options.threads),
                 "options"};
  }
  if (const std::string why = plan::domain_problem(options.domain);
      !options.domain.empty() && !why.empty()) {
    return Error{Code::invalid_config, "domain: '" + options.domain + "': " + why, "options"};
  }
  if (options.base_ns < 0) {
    return Error{Code::invalid_config, "base_ns: expected a time since 1970, found a negative one",
                 "options"};
  }
  return success();
}

/// Loads the plan of a file or of a text, or copies the given one.
Result<Plan> chosen_plan(const RuntimeOptions& options) {
  if (!options.plan_file.empty() && !options.plan.empty()) {
    return Error{Code::invalid_config, "give either plan_file or plan, not both", "options"};
  }
  if (const auto& made = options.plan.plan()) {
    if (!options.overrides.empty()) {
      return Error{Code::invalid_config,
                   "overrides change the text of a plan, but a made Plan was given. Pass them to "
                   "parse_plan() as PlanOptions::overrides",
                   "options"};
    }
    Plan plan = *made;
    if (!options.domain.empty()) plan.domain = options.domain;
    return plan;
  }
  std::vector<std::string> overrides = options.overrides;
  // Endpoint names include the domain, so two copies of one plan do not connect.
  if (!options.domain.empty()) overrides.push_back("domain=" + options.domain);
  const PlanOptions how{std::move(overrides), false, {}};
  if (!options.plan_file.empty()) return load_plan(options.plan_file, how);
  if (options.plan.empty()) return plan_by_hand(options.process, how);
  return parse_plan(options.plan.text(), "plan in code", how);
}

log::Level parse_level(const std::string& text) {
  if (text == "debug") return log::Level::debug;
  if (text == "warn") return log::Level::warn;
  if (text == "error") return log::Level::error;
  if (text == "off") return log::Level::off;
  return log::Level::info;
}

}  // namespace

Runtime::Impl::~Impl() {
  shutdown();
  if (stop_event_ >= 0) ::close(stop_event_);
}

Result<void> Runtime::Impl::read_plan() {
  by_hand_ = options_.plan_file.empty() && options_.plan.empty();
  if (by_hand_ && options_.overrides.empty()) return success();
  auto plan = chosen_plan(options_);
  if (!plan) return plan.error();
  plan_ = std::move(*plan);
  // `hyphos run`, which passes this folder, has printed the warnings.
  if (options_.state_folder.empty()) {
    for (const std::string& warning : plan_->warnings) log::warn("plan", warning);
  }
  if (options_.lockstep && plan_->process(options_.process) == nullptr) {
    options_.process = plan_->processes.front().name;  // for its threads and settings
  }
  auto links = connections(*plan_, options_.process);
  if (!links) return links.error();
  connections_ = std::move(*links);
  domain_ = plan_->domain;
  if (options_.lockstep) {
    for (const std::string& name : options_.lockstep_nodes) {
      if (plan_->node(name) != nullptr) continue;
      return Error{Code::not_found, "the plan has no node '" + name + "'", plan_->file};
    }
  }
  return apply_process_settings(*plan_->process(options_.process));
}

Result<void> Runtime::Impl::apply_process_settings(const ProcessPlan& process) {
  log::set_level(parse_level(process.log_level));
  if (process.threads > 0) threads_ = process.threads;
  if (process.cpu_affinity.empty()) return success();
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  for (const int cpu : process.cpu_affinity) CPU_SET(static_cast<std::size_t>(cpu), &cpus);
  // Before any thread is created, so that all threads inherit it.
  if (sched_setaffinity(0, sizeof(cpus), &cpus) != 0) {
    return Error{Code::invalid_config,
                 "cpu_affinity of process '" + process.name + "' names no CPU of this machine (" +
                     std::strerror(errno) + ")",
                 process.source.to_string()};
  }
  return success();
}

Result<void> Runtime::Impl::start() {
  if (auto checked = check_options(options_); !checked) return checked;
  auto domain = domain_of_environment(options_);
  if (!domain) return domain.error();
  if (!domain->empty()) options_.domain = std::move(*domain);
  stop_event_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (stop_event_ < 0) return Error{Code::exhausted, std::strerror(errno), "eventfd"};
  // At least two, so that one busy callback on a single core does not block all others.
  threads_ = static_cast<int>(std::max(2U, std::thread::hardware_concurrency()));
  options_.offline |= options_.lockstep;
  if (auto read = read_plan(); !read) return read.error();
  if (!plan_ && !options_.domain.empty()) domain_ = options_.domain;
  if (plan_) load_groups();
  if (options_.threads > 0) threads_ = options_.threads;
  make_clock();
  if (auto opened = open_transports(); !opened) return opened.error();
  if (plan_) {
    start_heartbeat(plan_->process(options_.process)->supervision.health.heartbeat_ms);
  }
  return follow_clock();
}

// The heartbeat runs on the pool. So the supervisor detects a blocked pool and a stopped process.
void Runtime::Impl::start_heartbeat(std::int64_t heartbeat_ms) {
  if (heartbeat_ms <= 0) return;
  registry_->beat(monotonic_now().ns);
  const std::int64_t period_ns = heartbeat_ms * 1'000'000 / kBeatsPerHeartbeat;
  graph_->timeouts().every(period_ns,
                           [registry = registry_] { registry->beat(monotonic_now().ns); });
}

/// `hyphos run` writes the types of the plan's `protos:` into the state folder.
void Runtime::Impl::announce_plan_types() {
  if (!plan_ || plan_->protos.empty() || options_.state_folder.empty()) return;
  std::ifstream in(std::filesystem::path(options_.state_folder) / kPlanTypes, std::ios::binary);
  const std::string types((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (const auto added = graph_->definitions().add(types); !added) {
    log::warn("types", "protos of the plan: " + added.error().to_string());
  }
}

Result<void> Runtime::Impl::open_transports() {
  auto links = open_links(options_, plan(), connections_ ? &*connections_ : nullptr, domain_);
  if (!links) return links.error();
  registry_ = links->registry;
  announcer_ = std::move(links->announcer);
  graph_ = std::make_unique<graph::Graph>(
      threads_, registry_,
      [this](const std::string& channel, const Policy& wish) {
        graph::ChannelRules found = rules(channel, wish);
        // Real time passes between the steps, so that an age would not be repeatable.
        if (options_.lockstep) found.policy.lifespan_ms = 0;
        return found;
      },
      options_.lockstep, clock_, std::move(links->publish_types));
  links_ = std::move(links->open);
  for (const OpenLink& link : links_) graph_->add_transport(link.transport);
  announce_plan_types();
  log_ = std::make_shared<LogChannel>(
      *graph_, clock_,
      LogChannel::Options{options_.process, domain_, options_.lockstep, links_.empty()});
  log_->start();
  return success();
}

graph::ChannelRules Runtime::Impl::rules(const std::string& channel, const Policy& wish) const {
  graph::ChannelRules rules;
  rules.policy = wish;
  const std::string first(plan::transports().front().name);
  rules.transports = {first};
  if (!plan_) return rules;
  const ChannelPlan* planned = plan_->channel(channel);
  if (planned == nullptr) return rules;
  if (!planned->implied) rules.policy = planned->policy;
  rules.planned = true;
  // `hyphos validate` makes nodes offline, to report all differences together.
  if (!options_.offline || options_.lockstep) rules.type = planned->type;
  rules.where = planned->source.to_string();
  rules.open = planned->open;
  const ChannelRoutes* routes = connections_->channel(channel);
  rules.transports = routes != nullptr ? routes->transports : std::vector<std::string>{};
  if (planned->reach == Reach::local) return rules;
  if (rules.transports.empty()) {
    rules.transports = {first};  // for tools, and for channels without a route in the plan
  } else if (std::find(rules.transports.begin(), rules.transports.end(), first) ==
             rules.transports.end()) {
    rules.tools_only = first;  // for tools only, to avoid duplicates in processes of the plan
  }
  return rules;
}

bool Runtime::Impl::is_here(const NodePlan& node) {
  if (!options_.lockstep) return hosts(node);
  const auto& chosen = options_.lockstep_nodes;
  return chosen.empty() || std::find(chosen.begin(), chosen.end(), node.name) != chosen.end();
}

void Runtime::Impl::make_clock() {
  ClockMode mode = plan_ ? plan_->clock.mode : ClockMode::real;
  if (plan_) clock_channel_ = plan_->clock.channel;
  if (options_.clock) mode = *options_.clock;
  if (!options_.clock_channel.empty()) clock_channel_ = options_.clock_channel;
  clock_ = std::make_shared<detail::ClockCore>(mode, options_.base_ns);
}

/// Simulated time: the receiving thread applies the ticks. So time advances even while all threads
/// of the pool sleep until a later time.
Result<void> Runtime::Impl::follow_clock() {
  registry_->set_clock(*clock_, clock_channel_);
  if (clock_->mode() == ClockMode::real) return success();
  TypeSupport type;
  type.id = wire::clock_type();
  Policy policy;
  policy.latched = true;
  auto made =
      graph_->subscribe(clock_channel_, type, policy, Scope::network, Mode::inline_, true,
                        options_.process, [this](const detail::Delivery&, const void* value) {
                          const auto& envelope = *static_cast<const Envelope*>(value);
                          const auto tick = wire::parse_clock(envelope.payload.bytes());
                          if (tick) {
                            clock_->apply(*tick);
                            registry_->set_clock(*clock_, clock_channel_);
                            return;
                          }
                          std::uint64_t more = 0;
                          if (clock_log_.allow(more))
                            log::warn("clock", clock_channel_ + ": " + tick.error().message);
                        });
  if (!made) return made.error();
  clock_ticks_ = std::move(*made);
  return success();
}

Clock Runtime::Impl::clock() {
  if (clock_->mode() == ClockMode::real && !down_.load()) {
    const MutexLock lock(mutex_);
    if (!wall_watch_ && !stopping()) wall_watch_ = std::make_unique<WallWatch>(clock_);
  }
  return Clock(clock_);
}

Result<void> Runtime::Impl::usable() const {
  if (!mark_.is_inherited()) return success();
  return ForkMark::error("the runtime of process '" + options_.process + "'", options_.process);
}

Result<Node> Runtime::Impl::make_node(std::string name, std::shared_ptr<Impl> self) {
  if (auto good = usable(); !good) return good.error();
  const NodePlan* planned = nullptr;
  if (plan_ && options_.lockstep) {
    planned = plan_->node(name);  // null: a player or recorder
  } else if (plan_ && by_hand_) {
    planned = plan_->node(name);                // null: a node without overrides
  } else if (plan_ && !plan_->nodes.empty()) {  // a plan without nodes accepts any
    const ProcessPlan& process = *plan_->process(options_.process);
    planned = plan_->node(name);
    // A program with one node uses the plan's name for it, and ignores the name in its code.
    if (process.nodes.size() == 1 && (planned == nullptr || planned->process == process.name ||
                                      !plan_->may_run(*planned, process.name))) {
      name = process.nodes.front();
      planned = plan_->node(name);
    }
    if (planned == nullptr || !plan_->may_run(*planned, options_.process)) {
      std::string known;
      for (const std::string& other : process.nodes) known += (known.empty() ? "" : ", ") + other;
      return Error{Code::not_found,
                   "process '" + process.name + "' has no node '" + name + "'. Its nodes: " + known,
                   process.source.to_string()};
    }
  }
  if (std::string problem = name_problem(name); !problem.empty()) {
    return Error{Code::invalid_config, std::move(problem), name};
  }
  if (down_) return Error{Code::disconnected, "the runtime has been stopped", name};
  const MutexLock lock(mutex_);
  std::weak_ptr<Node::Impl>& place = nodes_[name];
  const auto other = place.lock();
  const bool ended = other != nullptr && !other->check_open();
  if (other != nullptr && !(ended && planned != nullptr && plan_->group_of(name) != nullptr)) {
    return Error{Code::already_exists, "this process already has a node '" + name + "'", name};
  }
  auto params = std::make_shared<Params::Impl>(name, options_.process, planned,
                                               param_files(name, planned), *graph_);
  auto node = make_for_this_process<Node::Impl>(name, std::move(self), planned, std::move(params));
  place = node;
  node->params()->set_serve([weak = std::weak_ptr(node)] { return params::serve(weak.lock()); });
  return Node(std::move(node));
}

Result<std::shared_ptr<Transforms::Impl>> Runtime::Impl::transforms(
    Transforms::Impl::Channels channels, const std::string& node, TransformsOptions options) {
  if (auto good = usable(); !good) return good.error();
  const MutexLock lock(transforms_mutex_);
  if (down_) return Error{Code::disconnected, "the process is shutting down", node};
  if (const auto known = transforms_.find(channels.moving); known != transforms_.end()) {
    return known->second;
  }
  const ChannelPlan* planned = plan_ ? plan_->channel(channels.fixed) : nullptr;
  if (planned != nullptr && !planned->implied && !planned->policy.latched) {
    log::warn("tf", "channel '" + channels.fixed + "' of the plan is not latched: processes that " +
                        "start late will miss static transforms. Add latched: true");
  }
  const std::string name = channels.moving;
  std::string remedy = plan_ ? transform_remedy(*plan_, channels) : std::string();
  auto made =
      std::make_shared<Transforms::Impl>(*graph_, std::move(channels), node, std::move(options));
  made->tree().store()->set_remedy(std::move(remedy));
  if (auto opened = made->open(); !opened) return opened.error();
  transforms_.emplace(name, made);
  return made;
}

void Runtime::Impl::shutdown() {
  if (mark_.is_inherited()) return;
  if (down_.exchange(true)) return;
  request_stop();
  if (clock_) clock_->stop();
  std::map<std::string, std::shared_ptr<Transforms::Impl>> transforms;
  {
    const MutexLock lock(transforms_mutex_);
    transforms.swap(transforms_);
  }
  std::vector<std::shared_ptr<Node::Impl>> nodes;
  {
    const MutexLock lock(mutex_);
    for (auto& [name, weak] : nodes_) {
      if (auto node = weak.lock()) nodes.push_back(std::move(node));
    }
  }
  std::optional<Node> own;
  {
    const MutexLock lock(mutex_);
    own.swap(own_node_);
  }
  if (own) own->close();
  // First, so that a callback that waits for a transform does not delay the rest.
  for (const auto& [channel, tree] : transforms) tree->close();
  if (registry_) registry_->set_state(ProcessState::stopping);
  if (announcer_) announcer_->stop();
  std::unique_ptr<WallWatch> watch;
  {
    const MutexLock lock(mutex_);
    watch.swap(wall_watch_);
  }
  watch.reset();
  if (clock_ticks_) clock_ticks_->close();
  // Before the timers, whose callbacks may wait for a reply or sleep.
  for (const auto& node : nodes) node->end_waits();
  if (graph_) {
    graph_->timers().stop();
    graph_->timeouts().stop();
  }
  for (const auto& node : nodes) node->close();
  close_shared_params();
  if (log_) log_->stop();
  if (graph_) graph_->stop(kLingerMs);
  std::vector<LoadedPlugin> plugins;
  {
    const MutexLock lock(plugins_mutex_);
    plugins.swap(plugins_);
  }
}

void Runtime::Impl::serve_tools() {
  const bool has_plan = plan_ && !by_hand_ && !options_.offline && !options_.lockstep;
  if (!has_plan || down_ || serves_tools_.exchange(true)) return;
  const auto* shm = dynamic_cast<transport::ShmTransport*>(graph_->transport("shm"));
  if (shm == nullptr) return;
  auto params = std::make_shared<Params::Impl>(options_.process, options_.process, nullptr,
                                               ParamFiles{}, *graph_);
  // It lives inside this object.
  const std::shared_ptr<Impl> self(std::shared_ptr<Impl>(), this);
  const Node node(
      make_for_this_process<Node::Impl>(options_.process, self, nullptr, std::move(params)));
  auto served = control::serve(node, *this, shm->participant_id());
  if (served && !plan_->groups.empty()) served = control::serve_groups(node, *this);
  if (!served) {
    log::warn("node", "tools cannot change this process: " + served.error().to_string());
    return;
  }
  const MutexLock lock(mutex_);
  own_node_ = node;
}

void Runtime::Impl::ready() {
  serve_tools();
  params_done();
  registry_->set_state(ProcessState::ready);
  warn_of_namesakes();
}

int Runtime::Impl::spin(const std::function<void()>& interrupted, int closed) {
  if (const auto good = usable(); !good) {
    log::error("spin", good.error().to_string());
    return 1;
  }
  if (!stopping()) {
    serve_tools();
    params_done();
    warn_of_namesakes();
  }
  {
    // Before `ready`: from then on, a signal is the normal end of this process.
    SpinSignals signals(stop_event_);
    if (!stopping()) registry_->set_state(ProcessState::ready);
    if (interrupted) interrupted();  // for a signal that arrived earlier
    std::array<pollfd, 3> wait{
        {{stop_event_, POLLIN, 0}, {signals.event(), POLLIN, 0}, {closed, POLLIN, 0}}};
    for (;;) {
      const int count = ::poll(wait.data(), wait.size(), -1);
      if (count < 0 && errno != EINTR) break;
      if (count > 0 && wait[0].revents != 0) break;  // at once, if it was stopped earlier
      if (signals.take() && interrupted) interrupted();
      if (count > 0 && wait[2].revents != 0) return exit_code();
    }
  }
  const int code = exit_code();  // before the stop, which interrupts callbacks
  stopping_.store(true, std::memory_order_release);
  shutdown();
  return code;
}

int Runtime::Impl::exit_code() const {
  if (!strict_.load(std::memory_order_relaxed)) return 0;
  const CallbackErrors errors = graph_->executor().callback_errors();
  if (errors.count == 0) return 0;
  log::error("strict", "exceptions left callbacks: " + std::to_string(errors.count) +
                           ". The first: " + errors.first);
  return 1;
}

void Runtime::Impl::request_stop() {
  if (mark_.is_inherited()) return;  // the child shares the parent's event
  stopping_.store(true, std::memory_order_release);
  if (graph_) graph_->executor().begin_ending();
  if (clock_) clock_->stop();
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto n = ::write(stop_event_, &one, sizeof(one));
}

Result<void> Runtime::Impl::set_peer_open(const std::string& channel, const std::string& peer,
                                          bool open) {
  const std::vector<std::string> here = graph_->channels();
  const bool is_here = std::find(here.begin(), here.end(), channel) != here.end();
  if (!is_here && (!plan_ || plan_->channel(channel) == nullptr)) {
    std::string known;
    for (const std::string& name : here) known += (known.empty() ? "" : ", ") + name;
    return Error{Code::not_found,
                 "no channel '" + channel + "' in this process, there are: " + known, channel};
  }
  return hyphos::set_peer_open(links_, channel, rules(channel, {}).transports, peer, open,
                               connections_ ? connections_->peers : std::vector<PeerLink>{});
}

Result<Runtime> Runtime::open(RuntimeOptions options) {
  auto impl = make_for_this_process<Impl>(std::move(options));
  if (auto started = impl->start(); !started) return started.error();
  return Runtime(std::move(impl));
}

Result<Runtime> Runtime::open(int argc, char** argv) {
  auto read = read_arguments(argc, argv);
  if (!read) return read.error();
  if (read->supervised) {
    crash::install(read->options.process, crash::Others::keep);
    crash::set_locate(&graph::Subscriber::locate);
  }
  auto opened = open(std::move(read->options));
  if (opened && read->strict) opened->impl()->be_strict();
  return opened;
}

Result<Node> Runtime::node(std::string name) { return impl_->make_node(std::move(name)); }
Result<void> Runtime::load_plugins() { return impl_->load_plugins(); }
std::vector<EndpointInfo> Runtime::endpoints() const { return impl_->endpoints(); }
void Runtime::ready() { impl_->ready(); }
int Runtime::spin(const std::function<void()>& interrupted) { return impl_->spin(interrupted); }
Result<void> Runtime::usable() const { return impl_->usable(); }
void Runtime::request_stop() { impl_->request_stop(); }
bool Runtime::stopping() const { return impl_->stopping(); }
const Plan* Runtime::plan() const { return impl_->plan(); }
Clock Runtime::clock() const { return impl_->clock(); }
const std::string& Runtime::process() const { return impl_->options().process; }
const std::string& Runtime::domain() const { return impl_->domain(); }

void Runtime::settle(std::function<void()> work) { impl_->graph().settle(std::move(work)); }
std::optional<Time> Runtime::next_timer() const {
  const std::int64_t due = impl_->graph().timers().next_due_ns();
  if (due == std::numeric_limits<std::int64_t>::max()) return std::nullopt;
  return Time{due};
}
CallbackErrors Runtime::callback_errors() const {
  return impl_->graph().executor().callback_errors();
}
std::vector<ChannelInfo> Runtime::channels() const { return impl_->graph().list(); }

Result<void> Runtime::announce_types(std::string_view descriptors) {
  if (auto good = usable(); !good) return good;
  return impl_->graph().definitions().add(descriptors);
}

std::string Runtime::announced_types() const { return impl_->graph().definitions().all(); }

Result<void> Runtime::set_channel_open(const std::string& channel, bool open, Where where) {
  if (auto good = usable(); !good) return good;
  return impl_->graph().with_channel(channel,
                                     [&](graph::Channel& one) { one.set_open(where, open); });
}

Result<void> Runtime::open_channel_only(const std::string& channel, Where where) {
  if (auto good = usable(); !good) return good;
  return impl_->graph().with_channel(channel, [&](graph::Channel& one) { one.set_open(where); });
}

Result<Where> Runtime::channel_open(const std::string& channel) const {
  Where places = Where::both;
  auto found = impl_->graph().with_channel(
      channel, [&](graph::Channel& one) { places = one.open_places(); });
  if (!found) return found.error();
  return places;
}

Result<void> Runtime::set_channel_open(const std::string& channel, const std::string& peer,
                                       bool open) {
  if (auto good = usable(); !good) return good;
  return impl_->set_peer_open(channel, peer, open);
}

}  // namespace hyphos
