#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "view/core/prediction.hpp"
#include "view/panels/session.hpp"

namespace hyphos::view {

/// Reads the output of `hyphos plan check --json` beside the view, because the command may still
/// run: the file may be a pipe. A problem becomes a notice of the session.
class CheckReader {
 public:
  CheckReader() = default;
  CheckReader(const CheckReader&) = delete;
  CheckReader& operator=(const CheckReader&) = delete;
  ~CheckReader() { stop(); }

  /// Called once. Call stop() before the session ends.
  void start(const std::string& file, Session& session);
  /// Ends the wait for a pipe.
  void stop();
  /// True until the file has been read. Thread: that of the view, as the next function.
  [[nodiscard]] bool running() const { return running_; }
  /// The reason why there is no prediction. None if there is one, or none was asked for.
  [[nodiscard]] const std::optional<Error>& problem() const { return problem_; }
  /// Shows an answer that was read elsewhere.
  void set(Prediction prediction) { prediction_ = std::move(prediction); }
  [[nodiscard]] const Prediction* prediction() const {
    return prediction_ ? &*prediction_ : nullptr;
  }

 private:
  std::atomic<bool> over_ = false;
  bool running_ = false;
  std::optional<Prediction> prediction_;
  std::optional<Error> problem_;
  std::thread thread_;
};

}  // namespace hyphos::view
