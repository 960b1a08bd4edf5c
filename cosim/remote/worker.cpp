#include "cosim/remote/worker.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "cosim/remote/codec.hpp"

namespace hyphos::cosim {
namespace {

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) {
    return std::string("was killed by signal ") + std::to_string(WTERMSIG(status)) + " (" +
           ::strsignal(WTERMSIG(status)) + ")";
  }
  return "ended with status " + std::to_string(WEXITSTATUS(status));
}

/// In the new process: die with the engine, even if the engine has already died.
void follow(pid_t engine) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != engine) ::_exit(1);
}

}  // namespace

Result<std::unique_ptr<Worker>> Worker::fork(const Options& options,
                                             const std::function<void(IpcChannel&)>& body) {
  auto channel = IpcChannel::create(options.capacity);
  if (!channel) return channel.error();
  std::unique_ptr<Worker> worker(new Worker(options, std::move(*channel)));
  const pid_t engine = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return shm::os_error(errno, "cannot start a process", options.name);
  if (pid == 0) {
    follow(engine);
    worker->channel_.become(IpcChannel::End::worker);
    body(worker->channel_);
    ::_exit(0);
  }
  worker->pid_ = pid;
  return worker;
}

Result<std::unique_ptr<Worker>> Worker::start(const Options& options,
                                              const std::vector<std::string>& command) {
  auto channel = IpcChannel::create(options.capacity);
  if (!channel) return channel.error();
  std::unique_ptr<Worker> worker(new Worker(options, std::move(*channel)));
  const std::string fd = std::to_string(worker->channel_.fd());
  std::vector<std::string> words = command;
  words.insert(words.end(), {"--link-fd", fd});
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t engine = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return shm::os_error(errno, "cannot start a process", options.name);
  if (pid == 0) {  // only calls that are safe after the fork of a threaded process
    follow(engine);
    ::fcntl(worker->channel_.fd(), F_SETFD, 0);
    ::execvp(arguments.front(), arguments.data());
    ::_exit(127);
  }
  worker->pid_ = pid;
  return worker;
}

Worker::~Worker() {
  if (pid_ < 0) return;
  Writer quit;
  quit.put(Request::quit);
  if (!broken_ && !asked_ && channel_.send(quit.bytes())) {
    const Time deadline = monotonic_now() + options_.grace;
    while (monotonic_now() < deadline) {
      int status = 0;
      if (::waitpid(pid_, &status, WNOHANG) == pid_) return;
      ::poll(nullptr, 0, 1);
    }
  }
  kill_and_reap();
}

void Worker::kill_and_reap() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

Result<void> Worker::check_alive() {
  int status = 0;
  if (pid_ < 0 || ::waitpid(pid_, &status, WNOHANG) == 0) return success();
  const std::string who = options_.name + " (process " + std::to_string(pid_) + ") ";
  pid_ = -1;  // reaped
  return Error{Code::disconnected, who + how_it_ended(status), "cosim"};
}

Error Worker::give_up(const Error& error) {
  if (!broken_) broken_ = error;
  kill_and_reap();
  return *broken_;
}

Result<void> Worker::call(std::span<const std::byte> request, std::vector<std::byte>& answer) {
  if (auto asked = ask(request); !asked) return asked;
  return this->answer(answer);
}

Result<void> Worker::ask(std::span<const std::byte> request) {
  if (broken_) return *broken_;
  auto sent = channel_.send(request);
  asked_ = sent.ok();
  if (!sent && sent.error().code == Code::corrupt) return give_up(of_worker(sent.error()));
  return sent;
}

Result<void> Worker::answer(std::vector<std::byte>& answer) {
  if (broken_) return *broken_;
  asked_ = false;
  const Time start = monotonic_now();
  auto got = channel_.receive(answer, start + options_.timeout, [&] { return check_alive(); });
  wait_ns_ += (monotonic_now() - start).ns;
  if (got) return got;
  Error error = got.error();
  if (error.code == Code::timeout) {
    error.message = options_.name + " (process " + std::to_string(pid_) + ") did not reply for " +
                    std::to_string(options_.timeout.ns / 1'000'000) + " ms and was killed";
  } else if (error.code == Code::corrupt) {
    error = of_worker(std::move(error));
  }
  return give_up(error);
}

Error Worker::of_worker(Error error) const {
  error.message = options_.name + " sent " + error.message + " and was killed";
  return error;
}

}  // namespace hyphos::cosim
