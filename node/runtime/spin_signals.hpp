#pragma once

namespace hyphos {

/// Handles SIGINT and SIGTERM while the main thread spins; in another thread, changes nothing.
///
/// A signal without a handler of the program's own ends the runtime that spins; one that is ignored
/// stays so. Its own handler is called as usual, and the thread that spins wakes up. A forked
/// child has the handlers from before spin(), from its first signal on. Of several objects at a
/// time, the last one counts.
class SpinSignals {
 public:
  /// `stop_event`: an eventfd, written by a signal that ends the runtime.
  explicit SpinSignals(int stop_event);
  ~SpinSignals();
  SpinSignals(const SpinSignals&) = delete;
  SpinSignals& operator=(const SpinSignals&) = delete;

  /// An eventfd: readable after a handler of the program was called. -1: not the main thread.
  [[nodiscard]] int event() const { return own_event_; }
  /// Whether a handler was called since the last call.
  bool take();

 private:
  int own_event_ = -1;
  int outer_stop_ = -1;
  int outer_own_ = -1;
};

}  // namespace hyphos
