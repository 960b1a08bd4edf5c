#include "gateway/known_types.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/unique_fd.hpp"

namespace hyphos::gateway {

namespace {

/// Runs a program with its output in `output`. Returns its exit status. Errors: it cannot be run.
Result<int> run(std::vector<std::string> words, int output) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // The child must not inherit the signals that this process blocks and receives in its own thread.
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = 0;
  const int fault =
      ::posix_spawnp(&child, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (fault != 0) {
    return Error{Code::not_found,
                 std::string("cannot start the program (") + std::strerror(fault) +
                     "). Put it on PATH, or give --types FILE, made by `hyphos msg descriptors`",
                 words[0]};
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return Error{Code::io, std::strerror(errno), words[0]};
  }
  return status;
}

/// `hyphos`, or the module of the Python that started this process.
std::vector<std::string> program() {
  const char* const python = std::getenv("HYPHOS_PYTHON");
  if (python == nullptr || *python == '\0') return {"hyphos"};
  return {python, "-m", "hyphos"};
}

}  // namespace

Result<std::shared_ptr<Types>> read_types(const TypeSource& source) {
  if (!source.file.empty()) return Types::read(source.file);
  std::vector<std::string> words = program();
  words.insert(words.end(), {"msg", "descriptors"});
  for (const std::string& path : source.ros) words.insert(words.end(), {"--ros", path});
  for (const std::string& path : source.proto_path) {
    words.insert(words.end(), {"--proto-path", path});
  }
  // The kernel removes the memory file on every exit path. Other programs of the domain find the
  // types by its name while they are in use.
  const auto memory = std::make_shared<UniqueFd>(::memfd_create("hyphos-types", MFD_CLOEXEC));
  if (!memory->valid()) return Error{Code::exhausted, std::strerror(errno), "memfd"};
  const auto status = run(words, memory->get());
  if (!status) return status.error();
  if (*status != 0) {
    return Error{Code::invalid_config,
                 "the program failed to list the ROS types. Its output above has the reason",
                 "hyphos msg descriptors"};
  }
  auto types = Types::read("/proc/self/fd/" + std::to_string(memory->get()));
  if (!types) return types.error();
  Types* const made = types->get();
  return std::shared_ptr<Types>(made, [kept = std::move(*types), memory](Types*) {});
}

}  // namespace hyphos::gateway
