#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cosim/remote/ipc_channel.hpp"

namespace hyphos::cosim {

/// A simulator's process and the link to it. The destructor ends the process: it first asks the
/// process to quit, then kills it, and always reaps it. If the engine dies, the kernel kills the
/// process.
class Worker {
 public:
  struct Options {
    std::string name = "simulator";  ///< for error texts
    /// Limit for each reply. It is long because a machine may be busy for long, and waiting does
    /// not change the result of a simulation.
    Duration timeout = Duration::from_ms(30'000);
    std::size_t capacity = 4 << 20;           ///< bytes of one message
    Duration grace = Duration::from_ms(300);  ///< time to quit after the request
  };

  /// Runs `body` in a fork of this process, which must have one thread.
  [[nodiscard]] static Result<std::unique_ptr<Worker>> fork(
      const Options& options, const std::function<void(IpcChannel&)>& body);
  /// Runs a program, with `--link-fd N` as its last arguments.
  [[nodiscard]] static Result<std::unique_ptr<Worker>> start(
      const Options& options, const std::vector<std::string>& command);

  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] std::size_t capacity() const { return channel_.capacity(); }
  [[nodiscard]] const std::string& name() const { return options_.name; }
  /// Sends a request and copies its reply into `answer`. After any failure, the process is killed
  /// and every later call returns the same error: disconnected (the process ended), timeout,
  /// corrupt.
  [[nodiscard]] Result<void> call(std::span<const std::byte> request,
                                  std::vector<std::byte>& answer);
  /// The two halves of a call, so that the process can work while this one does. After ask() call
  /// answer(), where the timeout begins, or destroy the worker, which then kills the process.
  [[nodiscard]] Result<void> ask(std::span<const std::byte> request);
  [[nodiscard]] Result<void> answer(std::vector<std::byte>& answer);
  /// Reports an invalid reply. The effect is the same as that of a failed call().
  [[nodiscard]] Error give_up(const Error& error);
  /// Real time spent waiting for replies.
  [[nodiscard]] std::int64_t wait_ns() const { return wait_ns_; }

 private:
  /// An error in a message of the process, with its name.
  [[nodiscard]] Error of_worker(Error error) const;
  Worker(Options options, IpcChannel channel)
      : options_(std::move(options)), channel_(std::move(channel)) {}
  [[nodiscard]] Result<void> check_alive();
  void kill_and_reap();

  Options options_;
  IpcChannel channel_;
  pid_t pid_ = -1;
  bool asked_ = false;  // a reply is outstanding
  std::optional<Error> broken_;
  std::int64_t wait_ns_ = 0;
};

}  // namespace hyphos::cosim
