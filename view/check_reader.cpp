#include "view/check_reader.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/unique_fd.hpp"

namespace hyphos::view {
namespace {

constexpr int kLook = 100;  // ms, between two looks at the end of the program

Error failed(const std::string& file) {
  return {errno == ENOENT ? Code::not_found : Code::io,
          "cannot read the prediction: " + std::generic_category().message(errno), file};
}

Result<std::string> read_all(const std::string& file, const std::atomic<bool>& over) {
  // A named pipe without a writer must not block the end of the program.
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) return failed(file);
  std::string text;
  std::array<char, 1 << 16> piece{};
  while (!over) {
    pollfd ready{fd.get(), POLLIN, 0};
    const int polled = ::poll(&ready, 1, kLook);
    if (polled == 0 || (polled < 0 && errno == EINTR)) continue;
    if (polled < 0) return failed(file);
    const ssize_t count = ::read(fd.get(), piece.data(), piece.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count < 0) return failed(file);
    if (count == 0) break;
    text.append(piece.data(), static_cast<std::size_t>(count));
    if (text.size() > kMaxPrediction) break;
  }
  return text;
}

Result<Prediction> read_prediction(const std::string& file, const std::atomic<bool>& over) {
  auto text = read_all(file, over);
  if (!text) return text.error();
  auto parsed = parse_prediction(*text);
  if (!parsed) return Error{parsed.error().code, parsed.error().message, file};
  return parsed;
}

}  // namespace

void CheckReader::stop() {
  over_ = true;
  if (thread_.joinable()) thread_.join();
}

void CheckReader::start(const std::string& file, Session& session) {
  running_ = true;
  thread_ = std::thread([this, file, &session] {
    auto found = read_prediction(file, over_);
    if (over_) return;
    session.post([this, found = std::move(found), &session] {
      running_ = false;
      if (found) {
        prediction_ = *found;
        return;
      }
      problem_ = found.error();
      session.notify(problem_->to_string(), true);
    });
  });
}

}  // namespace hyphos::view
