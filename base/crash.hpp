#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string_view>

#include "hyphos/export.hpp"

/// The report of a crash: signal, work and stack of the thread, on stderr. `hyphos run` starts the
/// processes that install it. The end of the process and its core dump stay the same.
namespace hyphos::crash {

/// Where a handler of the program already exists for a signal.
enum class Others : bool {
  keep,    ///< that signal is left alone: the program may use it for its own work
  follow,  ///< the report comes first, then the other handler runs
};

/// Installs the handlers of SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT. Later calls do nothing.
HYPHOS_EXPORT void install(std::string_view process, Others others);

/// Writes the work of the calling thread ("node 'x', callback of channel 'scan'") into `text` and
/// returns its length. 0: the thread does no work that it knows. Runs in a signal handler.
using Locate = std::size_t (*)(char* text, std::size_t size);
/// Sets the function that knows the callbacks of channels, so that a callback costs nothing more.
void set_locate(Locate locate);

/// Joins the words into `text`, for a Locate. Uses at most `size` bytes.
std::size_t join(char* text, std::size_t size, std::initializer_list<std::string_view> words);

/// Names the work of this thread while it lives. For work that is not a callback of a channel.
class Work {
 public:
  Work(std::string_view node, std::string_view kind);
  ~Work();
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  /// A Locate for the innermost object of the calling thread.
  static std::size_t locate(char* text, std::size_t size);

 private:
  const std::string_view node_;
  const std::string_view kind_;
  const Work* const outer_;
};

/// Memory on which a handler of this thread runs, so that a stack overflow has a report too. Owned
/// by the thread that made it. Does nothing unless install() was called.
class HandlerStack {
 public:
  HandlerStack();
  ~HandlerStack();
  HandlerStack(const HandlerStack&) = delete;
  HandlerStack& operator=(const HandlerStack&) = delete;

 private:
  std::unique_ptr<std::byte[]> memory_;
};

}  // namespace hyphos::crash
