#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cosim/remote/ipc_channel.hpp"

namespace hyphos::cosim {

/// A simulator's process and the link to it. Its end ends the process: asked first, then killed,
/// and in any case reaped. A process whose engine dies is killed by the kernel.
class Worker {
 public:
  struct Options {
    std::string name = "simulator";  ///< in errors
    /// For each answer. A machine may be called away for long, and a simulation loses nothing by
    /// waiting.
    Duration timeout = Duration::from_ms(30'000);
    std::size_t capacity = 4 << 20;           ///< bytes of one message
    Duration grace = Duration::from_ms(300);  ///< to end by itself when it is asked to
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
  /// Sends a request and copies its answer into `answer`. Whatever goes wrong, the process is
  /// killed and every later call gives the same error: disconnected (it ended), timeout, corrupt.
  [[nodiscard]] Result<void> call(std::span<const std::byte> request,
                                  std::vector<std::byte>& answer);
  /// The halves of a call, so that the process can work while this one does. After ask() comes
  /// answer(), from where on the timeout counts, or the end of the worker, which is killed then.
  [[nodiscard]] Result<void> ask(std::span<const std::byte> request);
  [[nodiscard]] Result<void> answer(std::vector<std::byte>& answer);
  /// An answer made no sense: as above.
  [[nodiscard]] Error give_up(const Error& error);
  /// Real time spent waiting for answers.
  [[nodiscard]] std::int64_t wait_ns() const { return wait_ns_; }

 private:
  Worker(Options options, IpcChannel channel)
      : options_(std::move(options)), channel_(std::move(channel)) {}
  [[nodiscard]] Result<void> check_alive();
  void kill_and_reap();

  Options options_;
  IpcChannel channel_;
  pid_t pid_ = -1;
  bool asked_ = false;  // it owes an answer
  std::optional<Error> broken_;
  std::int64_t wait_ns_ = 0;
};

}  // namespace hyphos::cosim
