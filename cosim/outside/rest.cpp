#include "cosim/outside/rest.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <memory>
#include <span>
#include <string_view>

#include "hyphos/clock.hpp"

namespace hyphos::cosim {
namespace {

constexpr std::size_t kMostProcesses = 4096;
constexpr std::size_t kBacklog = 11;  // column of softnet_stat: packets between two sockets

std::string_view read_at(int file, std::span<char> into) {
  const ssize_t got = ::pread(file, into.data(), into.size(), 0);
  return {into.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
}

std::string read_all(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t got = 0; (got = ::read(file, part.data(), part.size())) > 0;) {
    text.append(part.data(), static_cast<std::size_t>(got));
  }
  ::close(file);
  return text;
}

std::string of(pid_t process, const char* what) {
  return "/proc/" + std::to_string(process) + "/" + what;
}

template <typename Each>
void each_number(std::string_view text, int base, Each each) {
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    long value = 0;
    const auto [next, error] = std::from_chars(at, end, value, base);
    if (error == std::errc{}) each(value);
    at = next == at ? at + 1 : next;
  }
}

template <typename Each>
void each_thread(pid_t process, Each each) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(of(process, "task").c_str()),
                                                   &::closedir);
  if (folder == nullptr) return;
  while (const dirent* const entry = ::readdir(folder.get())) {
    if (entry->d_name[0] != '.') each(static_cast<pid_t>(std::atoi(entry->d_name)));
  }
}

/// True if packets wait between two sockets of this machine.
bool packets_under_way() {
  bool some = false;
  std::string text = read_all("/proc/net/softnet_stat");
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::size_t column = 0;
    each_number(std::string_view(text).substr(begin, end - begin), 16,
                [&](long value) { some |= column++ == kBacklog && value != 0; });
    begin = end + 1;
  }
  return some;
}

}  // namespace

Rest::~Rest() {
  for (auto& [id, thread] : threads_) {
    ::close(thread.stat);
    ::close(thread.sched);
  }
}

std::vector<pid_t> Rest::descendants() {
  std::vector<pid_t> all{::getpid()};
  for (std::size_t i = 0; i < all.size() && all.size() < kMostProcesses; ++i) {
    each_thread(all[i], [&](pid_t thread) {
      const std::string path = of(all[i], "task/") + std::to_string(thread) + "/children";
      each_number(read_all(path), 10,
                  [&](long child) { all.push_back(static_cast<pid_t>(child)); });
    });
  }
  all.erase(all.begin());
  return all;
}

void Rest::list_threads_of(pid_t process, pid_t except) {
  each_thread(process, [&](pid_t id) {
    if (id == except) return;
    Thread& thread = threads_[id];
    thread.seen = true;
    if (thread.stat >= 0 && thread.process == process) return;
    ::close(thread.stat);
    ::close(thread.sched);
    const std::string folder = of(process, "task/") + std::to_string(id);
    thread.process = process;
    thread.stat = ::open((folder + "/stat").c_str(), O_RDONLY | O_CLOEXEC);
    thread.sched = ::open((folder + "/schedstat").c_str(), O_RDONLY | O_CLOEXEC);
  });
}

void Rest::list_threads() {
  for (auto& [id, thread] : threads_) thread.seen = false;
  list_threads_of(::getpid(), static_cast<pid_t>(::syscall(SYS_gettid)));
  for (const pid_t process : descendants()) list_threads_of(process, 0);
  std::erase_if(threads_, [](const auto& entry) {
    if (entry.second.seen) return false;
    ::close(entry.second.stat);
    ::close(entry.second.sched);
    return true;
  });
}

Rest::State Rest::look(pid_t id, Thread& thread, std::uint64_t& runs) {
  std::array<char, 512> room{};
  const std::string_view sched = read_at(thread.sched, room);
  std::uint64_t number = 0;
  each_number(sched, 10, [&](long value) { number = static_cast<std::uint64_t>(value); });
  runs = number;  // the last of three numbers
  const std::string_view stat = read_at(thread.stat, room);
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos || name_end + 2 >= stat.size()) return State::gone;
  const char state = stat[name_end + 2];
  if (state == 'S' || state == 'Z' || state == 'X') return State::asleep;
  const std::size_t name = stat.find('(');
  busy_ = "thread " + std::to_string(id) + " (" +
          std::string(stat.substr(name + 1, name_end - name - 1)) + ") of process " +
          std::to_string(thread.process) + " is in state " + state;
  return State::awake;
}

bool Rest::at_rest() {
  list_threads();
  for (auto& [id, thread] : threads_) {
    if (look(id, thread, thread.runs) == State::awake) return false;
  }
  if (packets_under_way()) {
    busy_ = "packets are between two sockets";
    return false;
  }
  for (auto& [id, thread] : threads_) {
    std::uint64_t runs = 0;
    if (look(id, thread, runs) != State::asleep) return false;
    if (runs != thread.runs) {
      busy_ =
          "thread " + std::to_string(id) + " of process " + std::to_string(thread.process) + " ran";
      return false;
    }
  }
  return true;
}

Result<void> Rest::wait(Duration limit, Duration pause,
                        const std::function<std::uint64_t()>& activity,
                        const std::function<Result<void>()>& alive) {
  const Time end = monotonic_now() + limit;
  bool rested = false;
  std::uint64_t before = 0;
  for (std::uint64_t round = 0;; ++round) {
    if (auto fine = alive(); !fine) return fine;
    if (at_rest()) {
      if (pause.ns == 0 || (rested && activity() == before)) return success();
      rested = true;
      before = activity();
      const timespec span{pause.ns / 1'000'000'000, pause.ns % 1'000'000'000};
      ::ppoll(nullptr, 0, &span, nullptr);
      continue;
    }
    if (monotonic_now() > end) {
      return Error{Code::timeout,
                   "the programs did not come to rest within " +
                       std::to_string(limit.ns / 1'000'000) + " ms: " + busy_ +
                       ". A program in lock step must wait for messages or for "
                       "the simulated time",
                   "nodes.timeout_s"};
    }
    // The first rounds only yield: most programs need some tens of microseconds.
    const timespec span{0, round < 20 ? 20'000 : 200'000};
    ::ppoll(nullptr, 0, &span, nullptr);
  }
}

}  // namespace hyphos::cosim
