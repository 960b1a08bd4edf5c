#pragma once

/// Annotations for clang's thread-safety analysis, which `make lint` runs. Other compilers ignore
/// them. Source: https://clang.llvm.org/docs/ThreadSafetyAnalysis.html
#if defined(__clang__)
#define HYPHOS_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define HYPHOS_THREAD_ATTRIBUTE(x)
#endif

/// On a class: its objects are locks.
#define HYPHOS_CAPABILITY(name) HYPHOS_THREAD_ATTRIBUTE(capability(name))
/// On a class: its constructor locks, and its destructor unlocks.
#define HYPHOS_SCOPED_CAPABILITY HYPHOS_THREAD_ATTRIBUTE(scoped_lockable)
/// On a member: every access needs this lock.
#define HYPHOS_GUARDED_BY(lock) HYPHOS_THREAD_ATTRIBUTE(guarded_by(lock))
/// On a pointer: every access to its target needs this lock.
#define HYPHOS_PT_GUARDED_BY(lock) HYPHOS_THREAD_ATTRIBUTE(pt_guarded_by(lock))
/// On a lock: a thread that needs both takes the other lock later.
#define HYPHOS_ACQUIRED_BEFORE(...) HYPHOS_THREAD_ATTRIBUTE(acquired_before(__VA_ARGS__))
/// On a function or lambda: the caller holds these locks.
#define HYPHOS_REQUIRES(...) HYPHOS_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define HYPHOS_REQUIRES_SHARED(...) HYPHOS_THREAD_ATTRIBUTE(requires_shared_capability(__VA_ARGS__))
/// On a function: the caller must not hold these locks, because the function takes them.
#define HYPHOS_EXCLUDES(...) HYPHOS_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))
#define HYPHOS_ACQUIRE(...) HYPHOS_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define HYPHOS_ACQUIRE_SHARED(...) HYPHOS_THREAD_ATTRIBUTE(acquire_shared_capability(__VA_ARGS__))
#define HYPHOS_RELEASE(...) HYPHOS_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define HYPHOS_RELEASE_SHARED(...) HYPHOS_THREAD_ATTRIBUTE(release_shared_capability(__VA_ARGS__))
#define HYPHOS_RELEASE_GENERIC(...) HYPHOS_THREAD_ATTRIBUTE(release_generic_capability(__VA_ARGS__))
/// On a function that returns true if it took the lock.
#define HYPHOS_TRY_ACQUIRE(...) \
  HYPHOS_THREAD_ATTRIBUTE(try_acquire_capability(true __VA_OPT__(, ) __VA_ARGS__))
/// On a function that returns a reference to this lock.
#define HYPHOS_RETURN_CAPABILITY(lock) HYPHOS_THREAD_ATTRIBUTE(lock_returned(lock))
/// On a function whose caller holds the lock in a way that the analysis cannot follow. A comment at
/// the call gives the reason.
#define HYPHOS_ASSERT_CAPABILITY(lock) HYPHOS_THREAD_ATTRIBUTE(assert_capability(lock))
/// On a function that the analysis cannot follow. A comment gives the reason.
#define HYPHOS_NO_THREAD_SAFETY_ANALYSIS HYPHOS_THREAD_ATTRIBUTE(no_thread_safety_analysis)
