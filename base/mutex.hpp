#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>

#include "base/thread_annotations.hpp"

namespace hyphos {

/// std::mutex with thread-safety annotations, which the standard library of gcc lacks. Not
/// recursive. Costs the same. For critical sections of some tens of nanoseconds: BriefMutex.
class HYPHOS_CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() HYPHOS_ACQUIRE() { mutex_.lock(); }
  [[nodiscard]] bool try_lock() HYPHOS_TRY_ACQUIRE() { return mutex_.try_lock(); }
  void unlock() HYPHOS_RELEASE() { mutex_.unlock(); }
  /// Convinces the analysis, and does nothing: the caller holds the mutex.
  void assert_held() const HYPHOS_ASSERT_CAPABILITY(this) {}

 private:
  friend class NativeLock;
  std::mutex mutex_;
};

/// std::shared_mutex with thread-safety annotations: one writer, or many readers.
class HYPHOS_CAPABILITY("shared mutex") SharedMutex {
 public:
  SharedMutex() = default;
  SharedMutex(const SharedMutex&) = delete;
  SharedMutex& operator=(const SharedMutex&) = delete;

  void lock() HYPHOS_ACQUIRE() { mutex_.lock(); }
  [[nodiscard]] bool try_lock() HYPHOS_TRY_ACQUIRE() { return mutex_.try_lock(); }
  void unlock() HYPHOS_RELEASE() { mutex_.unlock(); }
  void lock_shared() HYPHOS_ACQUIRE_SHARED() { mutex_.lock_shared(); }
  void unlock_shared() HYPHOS_RELEASE_SHARED() { mutex_.unlock_shared(); }

 private:
  std::shared_mutex mutex_;
};

/// Holds a Mutex, SharedMutex or BriefMutex for the rest of a scope.
template <typename M>
class HYPHOS_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(M& mutex) HYPHOS_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() HYPHOS_RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  M& mutex_;
};

/// Holds a SharedMutex for reading for the rest of a scope.
class HYPHOS_SCOPED_CAPABILITY ReaderLock {
 public:
  explicit ReaderLock(SharedMutex& mutex) HYPHOS_ACQUIRE_SHARED(mutex) : mutex_(mutex) {
    mutex_.lock_shared();
  }
  ~ReaderLock() HYPHOS_RELEASE_GENERIC() { mutex_.unlock_shared(); }
  ReaderLock(const ReaderLock&) = delete;
  ReaderLock& operator=(const ReaderLock&) = delete;

 private:
  SharedMutex& mutex_;
};

/// Holds a mutex, and may release it and take it again before the end of the scope. The conditions
/// need it. A function with a parameter `UniqueLock<M>& lock` has HYPHOS_REQUIRES(mutex, lock), and
/// may then release the lock and take it again. HYPHOS_REQUIRES accepts only capabilities, so this
/// class is one.
template <typename M>
class HYPHOS_CAPABILITY("lock") HYPHOS_SCOPED_CAPABILITY UniqueLock {
 public:
  explicit UniqueLock(M& mutex) HYPHOS_ACQUIRE(mutex) : mutex_(mutex) { lock(); }
  /// Takes the mutex at lock() or try_lock().
  UniqueLock(M& mutex, std::defer_lock_t /*tag*/) HYPHOS_EXCLUDES(mutex) : mutex_(mutex) {}
  ~UniqueLock() HYPHOS_RELEASE() {
    if (owns_) mutex_.unlock();
  }
  UniqueLock(const UniqueLock&) = delete;
  UniqueLock& operator=(const UniqueLock&) = delete;

  void lock() HYPHOS_ACQUIRE() {
    mutex_.lock();
    owns_ = true;
  }
  [[nodiscard]] bool try_lock() HYPHOS_TRY_ACQUIRE() { return owns_ = mutex_.try_lock(); }
  void unlock() HYPHOS_RELEASE() {
    owns_ = false;
    mutex_.unlock();
  }
  [[nodiscard]] bool owns_lock() const { return owns_; }
  [[nodiscard]] M& mutex() const HYPHOS_RETURN_CAPABILITY(mutex_) { return mutex_; }

 private:
  M& mutex_;
  bool owns_ = false;
};

/// Lends a lock to a function that accepts only std::unique_lock, and that returns with it held.
class NativeLock {
 public:
  explicit NativeLock(UniqueLock<Mutex>& held) HYPHOS_REQUIRES(held)
      : lock_(held.mutex().mutex_, std::adopt_lock) {}
  ~NativeLock() { (void)lock_.release(); }
  NativeLock(const NativeLock&) = delete;
  NativeLock& operator=(const NativeLock&) = delete;

  [[nodiscard]] std::unique_lock<std::mutex>& get() { return lock_; }

 private:
  std::unique_lock<std::mutex> lock_;
};

/// std::condition_variable for a Mutex. A predicate that reads guarded members is a lambda with
/// HYPHOS_REQUIRES(mutex).
class Condition {
 public:
  void notify_one() noexcept { condition_.notify_one(); }
  void notify_all() noexcept { condition_.notify_all(); }

  /// Sleeps until notified. Spurious wake-ups are possible.
  void wait(UniqueLock<Mutex>& lock) HYPHOS_REQUIRES(lock) {
    NativeLock native(lock);
    condition_.wait(native.get());
  }
  template <typename Ready>
  void wait(UniqueLock<Mutex>& lock, Ready ready)
      HYPHOS_REQUIRES(lock) HYPHOS_NO_THREAD_SAFETY_ANALYSIS {
    NativeLock native(lock);
    condition_.wait(native.get(), ready);
  }
  template <typename Clock, typename Duration>
  std::cv_status wait_until(UniqueLock<Mutex>& lock,
                            const std::chrono::time_point<Clock, Duration>& deadline)
      HYPHOS_REQUIRES(lock) {
    NativeLock native(lock);
    return condition_.wait_until(native.get(), deadline);
  }
  /// Returns the last result of `ready`.
  template <typename Clock, typename Duration, typename Ready>
  bool wait_until(UniqueLock<Mutex>& lock, const std::chrono::time_point<Clock, Duration>& deadline,
                  Ready ready) HYPHOS_REQUIRES(lock) HYPHOS_NO_THREAD_SAFETY_ANALYSIS {
    NativeLock native(lock);
    return condition_.wait_until(native.get(), deadline, ready);
  }
  template <typename Rep, typename Period>
  std::cv_status wait_for(UniqueLock<Mutex>& lock,
                          const std::chrono::duration<Rep, Period>& duration)
      HYPHOS_REQUIRES(lock) {
    NativeLock native(lock);
    return condition_.wait_for(native.get(), duration);
  }
  template <typename Rep, typename Period, typename Ready>
  bool wait_for(UniqueLock<Mutex>& lock, const std::chrono::duration<Rep, Period>& duration,
                Ready ready) HYPHOS_REQUIRES(lock) HYPHOS_NO_THREAD_SAFETY_ANALYSIS {
    NativeLock native(lock);
    return condition_.wait_for(native.get(), duration, ready);
  }

  /// For a function that accepts only std::condition_variable.
  [[nodiscard]] std::condition_variable& native() { return condition_; }

 private:
  std::condition_variable condition_;
};

}  // namespace hyphos
