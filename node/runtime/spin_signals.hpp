#pragma once

namespace hyphos {

/// Handles SIGINT and SIGTERM while the main thread spins. In another thread, changes nothing.
///
/// A signal without a handler of the program ends the spinning runtime. An ignored signal stays
/// ignored. A handler of the program is called as usual, and then wakes the spinning thread. A
/// forked child has the handlers from before spin(), starting with its first signal. If several
/// objects exist, the last one is in effect.
class SpinSignals {
 public:
  /// `stop_event`: an eventfd, which a signal writes to end the runtime.
  explicit SpinSignals(int stop_event);
  ~SpinSignals();
  SpinSignals(const SpinSignals&) = delete;
  SpinSignals& operator=(const SpinSignals&) = delete;

  /// An eventfd that becomes readable after a handler of the program was called. -1: not the main
  /// thread.
  [[nodiscard]] int event() const { return own_event_; }
  /// True if a handler was called since the last call.
  bool take();

 private:
  int own_event_ = -1;
  int outer_stop_ = -1;
  int outer_own_ = -1;
};

}  // namespace hyphos
