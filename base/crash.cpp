#include "base/crash.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <utility>

namespace hyphos::crash {
namespace {

constexpr std::size_t kMostFrames = 64;
constexpr std::size_t kStackBytes = 64 * 1024;
constexpr unsigned kLongestS = 10;  // a report that takes longer ends with the process

struct Signal {
  int number;
  std::string_view name;
};
constexpr std::array<Signal, 5> kSignals = {{{SIGSEGV, "SIGSEGV"},
                                             {SIGBUS, "SIGBUS"},
                                             {SIGFPE, "SIGFPE"},
                                             {SIGILL, "SIGILL"},
                                             {SIGABRT, "SIGABRT"}}};

// A signal handler can access only static variables. They are written before the handlers exist.
std::array<char, 64> process_name{};
std::array<struct sigaction, kSignals.size()> before{};
std::atomic<bool> installed{false};
std::atomic<pid_t> reporter{0};  // the thread that writes the report
std::atomic<Locate> locate_callback{nullptr};
// Never allocated on the first access, which may be in a handler.
thread_local const Work* work_here __attribute__((tls_model("initial-exec"))) = nullptr;

/// A line of bounded length that needs no heap.
class Line {
 public:
  Line& operator<<(std::string_view text) {
    const std::size_t count = std::min(text.size(), text_.size() - size_ - 1);
    std::memcpy(text_.data() + size_, text.data(), count);
    size_ += count;
    return *this;
  }
  Line& number(std::uintptr_t value, int base) {
    std::array<char, 24> digits{};
    char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), value, base).ptr;
    return *this << std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data()));
  }
  void write() {
    text_[size_++] = '\n';
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text_.data(), size_);
    size_ = 0;
  }

 private:
  std::array<char, 1024> text_{};
  std::size_t size_ = 0;
};

void describe(const Signal& signal, const siginfo_t& info) {
  Line line;
  line << "hyphos: crash of process '" << process_name.data() << "': " << signal.name;
  if (info.si_code <= 0 && info.si_pid != ::getpid()) {
    line << " sent by process ";
    line.number(static_cast<std::uintptr_t>(info.si_pid), 10);
  } else if (info.si_code > 0) {
    line << " at address 0x";
    line.number(reinterpret_cast<std::uintptr_t>(info.si_addr), 16);
  }
  std::array<char, 16> thread{};
  ::prctl(PR_GET_NAME, thread.data());
  line << " in thread '" << thread.data() << "'";
  std::array<char, 512> place{};
  std::size_t length = Work::locate(place.data(), place.size());
  const Locate locate = locate_callback.load();
  if (length == 0 && locate != nullptr) length = locate(place.data(), place.size());
  if (length > 0) line << " in " << std::string_view(place.data(), length);
  line.write();
}

/// The address of the instruction that the signal interrupted. Null on other architectures.
void* interrupted([[maybe_unused]] const void* context) {
#if defined(__x86_64__)
  const auto* const saved = static_cast<const ucontext_t*>(context);
  return reinterpret_cast<void*>(saved->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<void*>(static_cast<const ucontext_t*>(context)->uc_mcontext.pc);
#else
  return nullptr;
#endif
}

/// One line for each frame: "  #3 /usr/lib/libx.so(+0x12ab) symbol". `hyphos run` adds file and
/// line. The frames of the handler itself are left out.
void print_stack(const void* context) {
  std::array<void*, kMostFrames> frames{};
  const int count = ::backtrace(frames.data(), static_cast<int>(frames.size()));
  const auto end = frames.begin() + count;
  const auto found = std::find(frames.begin(), end, interrupted(context));
  const int first = found == end ? 0 : static_cast<int>(found - frames.begin());
  Line line;
  for (int i = first; i < count; ++i) {
    line << "  #";
    line.number(static_cast<std::uintptr_t>(i - first), 10);
    Dl_info info{};
    const auto address = reinterpret_cast<std::uintptr_t>(frames[static_cast<std::size_t>(i)]);
    if (::dladdr(frames[static_cast<std::size_t>(i)], &info) != 0 && info.dli_fname != nullptr) {
      line << " " << info.dli_fname << "(+0x";
      line.number(address - reinterpret_cast<std::uintptr_t>(info.dli_fbase), 16);
      line << ")";
      if (info.dli_sname != nullptr) line << " " << info.dli_sname;
    } else {
      line << " 0x";
      line.number(address, 16);
    }
    line.write();
  }
}

extern "C" void hyphos_on_crash(int number, siginfo_t* info, void* context) {
  const int saved = errno;
  ::alarm(kLongestS);
  std::size_t index = 0;
  while (index + 1 < kSignals.size() && kSignals[index].number != number) ++index;
  const auto self = static_cast<pid_t>(::syscall(SYS_gettid));
  pid_t first = 0;
  if (reporter.compare_exchange_strong(first, self)) {
    describe(kSignals[index], *info);
    print_stack(context);
  } else {
    // The report of the thread that crashed first ends this process. A crash inside the report ends
    // it at once.
    while (first != self) ::pause();
  }
  // The signal comes again, now for the handler before this one. By default it ends the process and
  // leaves a core dump, as without this handler.
  ::sigaction(number, &before[index], nullptr);
  ::raise(number);
  errno = saved;
}

}  // namespace

std::size_t join(char* text, std::size_t size, std::initializer_list<std::string_view> words) {
  std::size_t used = 0;
  for (const std::string_view word : words) {
    const std::size_t count = std::min(word.size(), size - used);
    std::memcpy(text + used, word.data(), count);
    used += count;
  }
  return used;
}

std::size_t Work::locate(char* text, std::size_t size) {
  const Work* const work = work_here;
  if (work == nullptr) return 0;
  return join(text, size, {"node '", work->node_, "', ", work->kind_});
}

Work::Work(std::string_view node, std::string_view kind)
    : node_(node), kind_(kind), outer_(std::exchange(work_here, this)) {}
Work::~Work() { work_here = outer_; }

void set_locate(Locate locate) { locate_callback.store(locate); }

HandlerStack::HandlerStack() {
  if (!installed.load()) return;
  stack_t now{};
  if (::sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;
  memory_ = std::make_unique_for_overwrite<std::byte[]>(kStackBytes);
  stack_t own{};
  own.ss_sp = memory_.get();
  own.ss_size = kStackBytes;
  if (::sigaltstack(&own, nullptr) != 0) memory_.reset();
}

HandlerStack::~HandlerStack() {
  if (memory_ == nullptr) return;
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  ::sigaltstack(&none, nullptr);
}

void install(std::string_view process, Others others) {
  static std::atomic<bool> called{false};
  if (called.exchange(true)) return;
  const std::size_t count = std::min(process.size(), process_name.size() - 1);
  std::memcpy(process_name.data(), process.data(), count);
  // The first call loads a library, which a signal handler must not do.
  std::array<void*, 1> first{};
  (void)::backtrace(first.data(), 1);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction now{};
    ::sigaction(kSignals[i].number, nullptr, &now);
    const bool is_default = (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL;
    if (!is_default && others == Others::keep) continue;
    before[i] = now;
    struct sigaction ours{};
    ours.sa_sigaction = &hyphos_on_crash;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigemptyset(&ours.sa_mask);
    ::sigaction(kSignals[i].number, &ours, nullptr);
  }
  installed.store(true);
  // For the calling thread, which is usually the main thread. It lives as long as the program.
  static thread_local const HandlerStack stack;
}

}  // namespace hyphos::crash
