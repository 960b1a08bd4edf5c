// hyphos-cosim-emulate: connects TAP devices in network namespaces by the radio of a scenario, in
// real time. `hyphos cosim emulate` creates the namespaces and starts this program.

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "cosim/emulate/bystander.hpp"
#include "cosim/emulate/devices.hpp"
#include "cosim/emulate/json.hpp"
#include "cosim/mavlink/vehicles.hpp"
#include "cosim/outside/bodies.hpp"
#include "cosim/realtime/emulator.hpp"
#include "cosim/scenario/simulators.hpp"

namespace {

using namespace hyphos;
using namespace hyphos::cosim;

constexpr const char* kUsage =
    "usage: hyphos-cosim-emulate describe SCENARIO [--seed N]\n"
    "       hyphos-cosim-emulate run SCENARIO --host NAMESPACE=ADDRESS/PREFIX ...\n"
    "           [--seconds S] [--seed N] [--trace FILE] [--mcap FILE] [--radio-process]\n"
    "           [--body ROBOT=FD ...]\n"
    "One host for each robot, in the order of the robots. Prints `ready` when the devices are up, "
    "and\n"
    "starts with the first line of its input. Ends after S seconds, with SIGINT or SIGTERM, or "
    "with\n"
    "its parent process. Then prints the result of the run as one line of JSON.\n";
constexpr const char* kDevice = "radio0";
constexpr Duration kProgressEvery = Duration::from_ms(500);

struct Words {
  bool describes = false;
  std::string scenario;
  std::vector<lab::Host> hosts;
  double seconds = 0;  // 0: the duration in the scenario
  std::string trace;
  std::string mcap;
  std::vector<int> bodies;  // sockets, by robot number. -1: none
  Overrides overrides;
  RunOptions run;
};

Error usage(const std::string& what) { return {Code::invalid_config, what, "usage"}; }

/// The number of a robot, and the socket of its body: "0=5".
Result<void> take_body(std::string_view value, Words& to) {
  constexpr std::size_t kMostRobots = 65'536;
  std::size_t robot = 0;
  int socket = -1;
  const char* const end = value.data() + value.size();
  const auto [equals, error] = std::from_chars(value.data(), end, robot);
  if (error != std::errc{} || equals == end || *equals != '=' || robot >= kMostRobots ||
      std::from_chars(equals + 1, end, socket).ptr != end || socket < 0) {
    return usage("--body takes the number of a robot and a socket: 0=5");
  }
  if (to.bodies.size() <= robot) to.bodies.resize(robot + 1, -1);
  to.bodies[robot] = socket;
  return success();
}

Result<void> take(std::string_view option, const std::string& value, Words& to) {
  if (option == "--seed") {
    to.overrides.seed = value;
  } else if (option == "--trace") {
    to.trace = value;
  } else if (option == "--mcap") {
    to.mcap = value;
  } else if (option == "--body") {
    return take_body(value, to);
  } else if (option == "--host") {
    auto host = lab::parse_host(value);
    if (!host) return host.error();
    to.hosts.push_back(std::move(*host));
  } else if (option == "--seconds") {
    const char* last = value.data() + value.size();
    const auto [end, error] = std::from_chars(value.data(), last, to.seconds);
    if (error != std::errc{} || end != last || !(to.seconds > 0 && to.seconds < 1e7)) {
      return usage("--seconds takes a positive number");
    }
  } else {
    return usage("unknown option " + std::string(option));
  }
  return success();
}

Result<Words> parse(std::span<const char* const> words) {
  Words to;
  if (words.size() < 2) return usage("a command and a scenario are required");
  const std::string_view command = words[0];
  to.describes = command == "describe";
  if (!to.describes && command != "run") return usage("unknown command " + std::string(command));
  to.scenario = words[1];
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (std::string_view(words[i]) == "--radio-process") {
      to.run.radio_process = true;
      continue;
    }
    if (i + 1 == words.size()) return usage("a value is missing after " + std::string(words[i]));
    if (auto taken = take(words[i], words[i + 1], to); !taken) return taken.error();
    ++i;
  }
  return to;
}

/// Prints one line without blocking: if the reader does not keep up, the line is dropped.
void tell(const std::string& line) {
  const std::string text = line + "\n";
  (void)!::write(STDOUT_FILENO, text.data(), text.size());
}

Result<int> signals_as_file() {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&wanted, number);
  sigprocmask(SIG_BLOCK, &wanted, nullptr);
  const int file = ::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
  if (file < 0) return Error{Code::io, std::string("signalfd: ") + std::strerror(errno), ""};
  return file;
}

/// A file descriptor that becomes readable when the parent process has ended.
Result<int> parent_as_file() {
  const auto file = static_cast<int>(::syscall(SYS_pidfd_open, ::getppid(), 0));
  if (file < 0) {
    return Error{Code::disconnected, std::string("pidfd_open: ") + std::strerror(errno),
                 "the process that started this one"};
  }
  return file;
}

void be_punctual(int priority) {
  ::prctl(PR_SET_TIMERSLACK, 1);
  if (priority == 0) return;
  const sched_param wanted{priority};
  if (::sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &wanted) != 0) {
    std::fprintf(stderr, "no real-time priority (%s): the timing of the run will be less exact\n",
                 std::strerror(errno));
  }
}

/// Real-time priority for a while, if the scenario has one. Processes that start meanwhile keep it.
class Punctual {
 public:
  explicit Punctual(int priority) {
    const sched_param wanted{priority};
    raised_ = priority > 0 && ::sched_setscheduler(0, SCHED_FIFO, &wanted) == 0;
  }
  Punctual(const Punctual&) = delete;
  Punctual& operator=(const Punctual&) = delete;
  ~Punctual() {
    const sched_param ordinary{};
    if (raised_) ::sched_setscheduler(0, SCHED_OTHER, &ordinary);
  }

 private:
  bool raised_;
};

/// Opens the simulators. Their processes get the priority of the radio: ns-3 must reply for every
/// event, also on a busy machine.
Result<Simulators> open_punctual(const Scenario& scenario, const RunOptions& run) {
  const Punctual now(scenario.realtime.priority);
  return open_simulators(scenario, run);
}

Result<std::vector<lab::Tun>> open_devices(const Scenario& scenario,
                                           const std::vector<lab::Host>& hosts) {
  std::vector<lab::Tun> devices;
  const RealTimeOptions& options = scenario.realtime;
  for (std::size_t robot = 0; robot < hosts.size(); ++robot) {
    lab::Frames frames{RealTimeOptions::mac(robot)};
    frames.ipv6 = options.address6(robot);
    frames.forwards = scenario.routing.protocol != RoutingProtocol::none;
    if (!frames.ipv6.empty()) frames.ipv6 += "/" + std::to_string(options.prefix6);
    auto device = lab::Tun::open(hosts[robot], kDevice, options.mtu, &frames);
    if (!device) return device.error();
    devices.push_back(std::move(*device));
  }
  return devices;
}

/// The packets that the radio of a robot holds. 0: no limit.
std::uint32_t radio_queue(const Scenario& scenario) {
  const bool queues =
      scenario.network == NetworkKind::analytic || scenario.network == NetworkKind::ns3;
  return queues ? scenario.radio.queue_packets : 0;
}

struct RadioRate {
  double bytes_per_second = 0;
  std::uint32_t overhead = 0;  // bytes for each frame
};

/// The rate of a radio on a free channel, and the fixed costs of a frame as bytes. 0: no limit.
Result<RadioRate> radio_rate(const Scenario& scenario) {
  if (radio_queue(scenario) == 0 || !scenario.realtime.hold_senders) return RadioRate{};
  auto model = RadioModel::make(scenario.radio, &scenario.scene, scenario.seed);
  if (!model) return model.error();
  std::uint32_t rate = 0;
  if (const Radio* named = model->named(); named != nullptr) {
    const RateControl& control = named->rate_control();
    const auto fastest = static_cast<std::uint32_t>(named->kind().rates.size() - 1);
    rate = control.remembers() ? fastest : control.everyone();
  }
  constexpr std::size_t kPayload = 1'400;
  constexpr std::size_t kHeaders = 42;  // of a frame, which the airtime contains
  const Duration small = model->airtime(rate, 0);
  const double per_byte = (model->airtime(rate, kPayload) - small).seconds() / kPayload;
  const Duration fixed = small + model->difs() + model->slot() * (model->cw_min() / 2) +
                         model->sifs() + model->ack_airtime(rate);
  const double overhead = std::max(0.0, fixed.seconds() / per_byte - kHeaders);
  // A little more than the radio can, so that its queue is never empty.
  return RadioRate{1.05 / per_byte, static_cast<std::uint32_t>(overhead)};
}

Result<void> refuse_what_cannot_be(const Scenario& scenario, const Words& words) {
  if (words.hosts.size() != scenario.robots.size()) {
    return usage("the scenario has " + std::to_string(scenario.robots.size()) + " robots, but " +
                 std::to_string(words.hosts.size()) + " hosts are given");
  }
  if (scenario.transport == Transport::tcp) {
    return Error{Code::invalid_config,
                 "radio.transport: real programs use the TCP of the kernel: remove this key",
                 words.scenario};
  }
  if (scenario.routing.protocol == RoutingProtocol::aodv) {
    return Error{Code::invalid_config,
                 "routing.protocol: aodv is for lock step (`hyphos cosim run`): in real time use "
                 "babel or table",
                 words.scenario};
  }
  return success();
}

/// Measures the cost of the scenario with simulators of its own, and prints it. Gazebo's server
/// cannot be rewound, so it is left out.
Result<void> rehearse_first(const Scenario& scenario, const RunOptions& run) {
  if (scenario.physics == PhysicsKind::gazebo) return success();
  auto simulators = open_punctual(scenario, run);
  if (!simulators) return simulators.error();
  const Punctual now(scenario.realtime.priority);
  RehearsalOptions options{scenario.step, static_cast<std::uint32_t>(scenario.robots.size()),
                           scenario.seed};
  auto rehearsal = rehearse(*simulators->physics, *simulators->network, options);
  if (!rehearsal) return rehearsal.error();
  tell(rehearsed(scenario, *rehearsal));
  return success();
}

/// The bodies of the robots. Null if no program has asked for one.
Result<std::unique_ptr<Bodies>> open_bodies(const Scenario& scenario, const Words& words,
                                            Physics& physics) {
  if (words.bodies.empty()) return std::unique_ptr<Bodies>();
  auto sensors = open_sensors(scenario, physics);
  if (!sensors) return sensors.error();
  Bodies::Options options;
  options.names = scenario.robots;
  options.pose_rate_hz = scenario.team.wiring.pose_rate_hz;
  options.command_channel = scenario.team.wiring.command_channel;
  options.sensors = std::move(*sensors);
  for (const auto& body : scenario.team.bodies) {
    const BodyOptions of = body.value_or(BodyOptions{});
    options.limits.push_back(of.limits);
    options.clock_hz.push_back(of.clock_rate_hz);
  }
  if (words.bodies.size() > options.limits.size()) {
    return usage("--body names a robot that the scenario does not have");
  }
  return Bodies::open(std::move(options), words.bodies);
}

/// Opens a trace and describes it in its first line.
Result<std::FILE*> open_trace(const std::string& path) {
  if (path.empty()) return nullptr;
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return Error{Code::io, "the file cannot be written", path};
  std::fputs("# real-time emulation: the trace differs from run to run\n", file);
  return file;
}

/// The recording of the run. Null: none is wanted.
Result<std::unique_ptr<McapTrace>> open_mcap(const Scenario& scenario, const std::string& path) {
  if (path.empty()) return std::unique_ptr<McapTrace>();
  auto made = McapTrace::create(path, true, scenario, McapTrace::Of::real_time);
  if (!made) return made.error();
  return std::make_unique<McapTrace>(std::move(*made));
}

Result<void> emulate(Scenario scenario, const Words& words) {
  if (words.seconds > 0) scenario.duration = Duration::from_seconds(words.seconds);
  scenario.radio.host_jitter = {0};  // real hosts have their own jitter
  auto parent = parent_as_file();
  if (!parent) return parent.error();
  if (auto rehearsed = rehearse_first(scenario, words.run); !rehearsed) return rehearsed;
  RunOptions run = words.run;
  run.patience = Duration::from_ms(5000);  // robots do not wait for a radio that hangs
  auto simulators = open_punctual(scenario, run);
  if (!simulators) return simulators.error();
  auto signals = signals_as_file();
  if (!signals) return signals.error();
  auto file = open_trace(words.trace);
  if (!file) return file.error();
  auto opened = open_devices(scenario, words.hosts);
  if (!opened) return opened.error();
  auto rate = radio_rate(scenario);
  if (!rate) return rate.error();
  Devices devices(std::move(*opened), {scenario.robots, scenario.realtime.spin,
                                       scenario.realtime.mtu, rate->overhead, *signals, *parent});
  Trace trace(*file);
  EmulatorOptions options{scenario.step, {scenario.duration.ns}};
  options.nodes = static_cast<std::uint32_t>(scenario.robots.size());
  options.seed = scenario.seed;
  options.limits = scenario.realtime.limits;
  options.radio_queue = radio_queue(scenario);
  options.radio_rate = rate->bytes_per_second;
  options.overhead = rate->overhead;
  Emulator emulator(
      {*simulators->physics, *simulators->network, devices, *file == nullptr ? nullptr : &trace},
      options);
  auto bodies = open_bodies(scenario, words, *simulators->physics);
  if (!bodies) return bodies.error();
  auto vehicles = mavlink::Vehicles::open(scenario.mavlink);
  if (!vehicles) return vehicles.error();
  auto mcap = open_mcap(scenario, words.mcap);
  if (!mcap) return mcap.error();
  if (*mcap) {
    emulator.observe(
        [&](const Packet& packet) { (*mcap)->sent(packet); },
        [&](const Outcome& outcome, const Packet& packet) { (*mcap)->outcome(outcome, packet); });
  }
  if (*bodies || *mcap || scenario.paced()) {
    emulator.each_window([&](Time now, Physics& physics) -> Result<void> {
      if (*mcap) (*mcap)->instant(now, physics.poses());
      if (*bodies) {
        if (auto worked = (*bodies)->window(now, physics); !worked) return worked;
      }
      return vehicles->window(now, physics);
    });
  }
  if (auto ready = emulator.start(); !ready) return ready;
  tell("ready");
  if (std::array<char, 64> word{}; ::read(STDIN_FILENO, word.data(), word.size()) <= 0) {
    return Error{Code::canceled, "ended before the start", "hyphos-cosim-emulate"};
  }
  ::fcntl(STDOUT_FILENO, F_SETFL, ::fcntl(STDOUT_FILENO, F_GETFL) | O_NONBLOCK);
  const MachineWatch machine;
  const Bystander bystander;
  be_punctual(scenario.realtime.priority);  // this thread only
  Time told = devices.now();
  emulator.run_while([&](Time) {
    if (const Time now = devices.now(); now - told >= kProgressEvery) {
      told = now;
      tell(progress(emulator.report()));
    }
    return !devices.asked_to_end();
  });
  auto ran = emulator.run();
  ::fcntl(STDOUT_FILENO, F_SETFL, ::fcntl(STDOUT_FILENO, F_GETFL) & ~O_NONBLOCK);
  RealTimeReport report = emulator.report();
  report.programs = bystander.snapshot();
  if (ran) tell(summary(scenario, report, machine.finish(), bodies->get(), *vehicles));
  if (*mcap) {
    if (auto closed = (*mcap)->close(); !closed && ran) return closed;
  }
  if (*file != nullptr && std::fclose(*file) != 0 && ran) {
    return Error{Code::io, "the file cannot be written completely", words.trace};
  }
  return ran;
}

Result<void> work(std::span<const char* const> arguments) {
  auto words = parse(arguments);
  if (!words) return words.error();
  auto scenario = load_scenario(words->scenario, words->overrides);
  if (!scenario) return scenario.error();
  if (words->describes) {
    tell(describe_emulation(*scenario));
    return success();
  }
  if (auto fine = refuse_what_cannot_be(*scenario, *words); !fine) return fine;
  return emulate(std::move(*scenario), *words);
}

}  // namespace

int main(int argc, char** argv) {
  const auto done = work({argv + 1, static_cast<std::size_t>(argc - 1)});
  if (done) return 0;
  const Error& error = done.error();
  if (error.where == "usage") {
    std::fprintf(stderr, "%s\n%s", error.message.c_str(), kUsage);
    return 2;
  }
  std::fprintf(stderr, "%s\n%s\n", error.to_string().c_str(),
               std::string(advice(error.code)).c_str());
  return 1;
}
