#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/mutex.hpp"

namespace hyphos::python {

namespace nb = nanobind;

/// Keeps a process's graph alive from Python. All open handles are emptied before the interpreter
/// ends, so that no callback runs while it is torn down.
///
/// Invariant: the C++ object is destroyed without the GIL, because its end waits for callbacks that
/// may need the GIL.
///
/// In a forked child a handle of the parent is unusable, and releases nothing.
class HandleBase {
 public:
  HandleBase();
  HandleBase(const HandleBase&) = delete;
  HandleBase& operator=(const HandleBase&) = delete;
  virtual ~HandleBase();
  virtual void reset() = 0;
  /// True if this process inherited the handle by fork(). close() then does nothing.
  [[nodiscard]] bool is_inherited() const;

 private:
  const unsigned generation_;
};

[[noreturn]] void throw_inherited();
[[noreturn]] void throw_closed();

/// Empties every handle. Later callbacks return at once. Called with the GIL held.
void close_all_handles();
/// Called once, when the module is loaded.
void watch_forks();
/// True once close_all_handles() has begun: the interpreter is ending.
[[nodiscard]] bool closing();

template <typename T>
class Handle final : public HandleBase {
 public:
  explicit Handle(T value) : value_(std::move(value)) {}
  ~Handle() override { Handle::reset(); }

  /// A copy, so that a concurrent reset() cannot destroy the object. Throws after reset(), and in a
  /// forked child.
  [[nodiscard]] T get() const {
    if (is_inherited()) throw_inherited();
    const MutexLock lock(mutex_);
    if (!value_) throw_closed();
    return *value_;
  }
  /// Like get(), but empty after reset().
  [[nodiscard]] std::optional<T> get_open() const {
    if (is_inherited()) throw_inherited();
    const MutexLock lock(mutex_);
    return value_;
  }
  void reset() override {
    if (is_inherited()) {
      leave_behind();
      return;
    }
    std::optional<T> doomed;
    {
      const MutexLock lock(mutex_);
      doomed.swap(value_);
    }
    if (!doomed) return;
    nb::gil_scoped_release release;
    doomed.reset();
  }

 private:
  /// Leaks the value: its destructor would access objects of the parent, and a thread there may
  /// have held their locks. It may also have held mutex_, so this function takes no lock.
  void leave_behind() HYPHOS_NO_THREAD_SAFETY_ANALYSIS {
    static_cast<void>(new std::optional<T>(std::move(value_)));
    value_.reset();
  }

  mutable Mutex mutex_;
  std::optional<T> value_ HYPHOS_GUARDED_BY(mutex_);
};

/// Marks a thread that waits in spin() while the interpreter may end. Constructed and destroyed
/// without the GIL.
class Spinning {
 public:
  explicit Spinning(std::function<void()> stop);
  ~Spinning();
  Spinning(const Spinning&) = delete;
  Spinning& operator=(const Spinning&) = delete;
  const std::function<void()> stop;
};

/// A Python callable, or another object, that C++ threads may copy, call and drop without holding
/// the GIL.
class Callable {
 public:
  explicit Callable(nb::object function);
  /// Calls the function. The caller holds the GIL. A Python error is reported with its traceback
  /// and rethrown as std::runtime_error, so that the runtime counts `callback_error`.
  template <typename... Args>
  void operator()(Args&&... args) const {
    (void)result(std::forward<Args>(args)...);
  }
  /// The same with the result, which is invalid after an error while the interpreter ends.
  template <typename... Args>
  nb::object result(Args&&... args) const {
    try {
      return object()(std::forward<Args>(args)...);
    } catch (nb::python_error& error) {
      // While the interpreter ends, objects that the callback uses are closed, so errors are
      // normal.
      if (!closing()) rethrow(error);
    }
    return {};
  }
  /// The Python object. The caller holds the GIL.
  [[nodiscard]] nb::object object() const { return nb::borrow<nb::object>(function_.get()); }
  /// Calls a check. Returns "" if it returns None, True or "". Otherwise returns the reason for the
  /// refusal, which may also be an exception of the check.
  template <typename... Args>
  [[nodiscard]] std::string ask(Args&&... args) const {
    try {
      return reason(nb::borrow<nb::object>(function_.get())(std::forward<Args>(args)...));
    } catch (nb::python_error& error) {
      return reason(error);
    }
  }

 private:
  [[noreturn]] static void rethrow(nb::python_error& error);
  static std::string reason(const nb::object& answer);
  static std::string reason(nb::python_error& error);
  std::shared_ptr<PyObject> function_;
};

}  // namespace hyphos::python
