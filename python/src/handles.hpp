#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace hyphos::python {

namespace nb = nanobind;

/// What keeps a process's graph alive from Python. All open handles are emptied before the
/// interpreter ends, so that no callback comes while it is being torn down.
///
/// Invariant: the C++ object is destroyed without the GIL, since ending it waits for callbacks that
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
  /// Another process made it, and this one inherited it by fork(): close() does nothing.
  [[nodiscard]] bool is_inherited() const;

 private:
  const unsigned generation_;
};

[[noreturn]] void throw_inherited();
[[noreturn]] void throw_closed();

/// Empties every handle and makes later callbacks return at once. Called with the GIL held.
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

  /// A copy, so that a concurrent reset() cannot pull the object away. Throws after reset(), and in
  /// a forked child.
  [[nodiscard]] T get() const {
    if (is_inherited()) throw_inherited();
    const std::lock_guard lock(mutex_);
    if (!value_) throw_closed();
    return *value_;
  }
  /// The same; empty after reset().
  [[nodiscard]] std::optional<T> get_open() const {
    if (is_inherited()) throw_inherited();
    const std::lock_guard lock(mutex_);
    return value_;
  }
  void reset() override {
    if (is_inherited()) {
      leave_behind();
      return;
    }
    std::optional<T> doomed;
    {
      const std::lock_guard lock(mutex_);
      doomed.swap(value_);
    }
    if (!doomed) return;
    nb::gil_scoped_release release;
    doomed.reset();
  }

 private:
  /// Its destructor would touch objects of the parent. A thread there may have held the lock.
  void leave_behind() {
    static_cast<void>(new std::optional<T>(std::move(value_)));
    value_.reset();
  }

  mutable std::mutex mutex_;
  std::optional<T> value_;
};

/// A thread waits in spin(), and the interpreter may end meanwhile. Made and destroyed without the
/// GIL.
class Spinning {
 public:
  explicit Spinning(std::function<void()> stop);
  ~Spinning();
  Spinning(const Spinning&) = delete;
  Spinning& operator=(const Spinning&) = delete;
  const std::function<void()> stop;
};

/// A Python callable that C++ threads may copy, call and drop without holding the GIL.
class Callable {
 public:
  explicit Callable(nb::object function);
  /// Calls with the GIL held, which the caller has taken. A Python error is reported with its
  /// traceback and rethrown as std::runtime_error, so that the runtime counts `callback_error`.
  template <typename... Args>
  void operator()(Args&&... args) const {
    try {
      nb::borrow<nb::object>(function_.get())(std::forward<Args>(args)...);
    } catch (nb::python_error& error) {
      // The interpreter ends: what the callback uses is closed under it, and nobody can do better.
      if (!closing()) rethrow(error);
    }
  }
  /// The same for a check: "" if it returns None, True or ""; else why it refuses, which may also
  /// be what it raises.
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
