#pragma once

#include <sched.h>
#include <sys/types.h>

#include <cctype>
#include <cstddef>
#include <stdexcept>
#include <string>

namespace hyphos::lab {

/// The processors that a process may run on, in the kernel's list format: "0-2,5".
class Cpus {
 public:
  Cpus() { CPU_ZERO(&set_); }

  /// Throws std::invalid_argument. Its text begins with `what`.
  static Cpus parse(const std::string& what, const std::string& text) {
    Cpus cpus;
    for (std::size_t at = 0; at <= text.size(); ++at) {
      const int first = number(what, text, at);
      int last = first;
      if (at < text.size() && text[at] == '-') last = number(what, text, ++at);
      if (first > last || (at < text.size() && text[at] != ',')) throw unreadable(what, text);
      for (int cpu = first; cpu <= last; ++cpu) CPU_SET(cpu, &cpus.set_);
    }
    return cpus;
  }
  /// The processors of a process. 0 is this process. Empty if the process has ended.
  static Cpus of(pid_t pid) {
    Cpus cpus;
    if (sched_getaffinity(pid, sizeof cpus.set_, &cpus.set_) != 0) CPU_ZERO(&cpus.set_);
    return cpus;
  }

  /// Throws std::invalid_argument if this process may not use all of the processors. The kernel
  /// would silently ignore the others. The text begins with `what`.
  void expect_here(const std::string& what) const {
    const Cpus here = of(0);
    Cpus both;
    CPU_AND(&both.set_, &set_, &here.set_);
    if (CPU_EQUAL(&both.set_, &set_)) return;
    throw std::invalid_argument(what + ": " + text() + " exceeds the processors of this process, " +
                                here.text());
  }
  /// Binds the calling thread and all threads that it starts from now on.
  [[nodiscard]] bool bind() const { return sched_setaffinity(0, sizeof set_, &set_) == 0; }

  void add(const Cpus& other) { CPU_OR(&set_, &set_, &other.set_); }
  [[nodiscard]] std::string text() const {
    std::string list;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(cpu, &set_)) continue;
      int last = cpu;
      while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set_)) ++last;
      list += (list.empty() ? "" : ",") + std::to_string(cpu);
      if (last > cpu) list += "-" + std::to_string(last);
      cpu = last;
    }
    return list;
  }

 private:
  static std::invalid_argument unreadable(const std::string& what, const std::string& text) {
    return std::invalid_argument(what + ": '" + text +
                                 "' is not a list of processors such as 0-2,5");
  }
  /// Returns the number at `at`, and moves `at` behind it.
  static int number(const std::string& what, const std::string& text, std::size_t& at) {
    int value = 0;
    const std::size_t begin = at;
    for (; at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0; ++at) {
      value = value * 10 + (text[at] - '0');
      if (value >= CPU_SETSIZE) throw unreadable(what, text);
    }
    if (at == begin) throw unreadable(what, text);
    return value;
  }

  cpu_set_t set_;
};

}  // namespace hyphos::lab
