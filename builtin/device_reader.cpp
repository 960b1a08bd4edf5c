#include "builtin/device_reader.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

namespace hyphos::builtin {
namespace {

constexpr int kReopenMs = 1'000;

std::string reason(int error) { return std::generic_category().message(error); }

}  // namespace

DeviceReader::DeviceReader(const Logger& log, std::string name, Functions functions)
    : log_(log),
      name_(std::move(name)),
      functions_(std::move(functions)),
      end_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!end_.valid()) {
    throw Exception(Error{Code::exhausted, "no event descriptor: " + reason(errno), name_});
  }
  thread_ = std::thread([this] { run(); });
}

DeviceReader::~DeviceReader() {
  const std::uint64_t one = 1;
  (void)!::write(end_.get(), &one, sizeof(one));
  thread_.join();
}

void DeviceReader::run() {
  std::string reported;
  do {
    const Result<UniqueFd> device = functions_.open();
    if (!device) {
      // Once for each reason, not once for each attempt.
      if (device.error().message != reported) {
        reported = device.error().message;
        log_.warn(device.error().to_string(), ". The node tries again every second");
      }
      continue;
    }
    reported.clear();
    log_.info("reads ", name_);
    const std::string why = read(device->get());
    functions_.stop(device->get());
    functions_.lost();
    if (why.empty()) return;
    log_.warn(name_, " is gone: ", why, ". The node tries again every second");
  } while (!ended_within_a_second());
}

std::string DeviceReader::read(int device) {
  std::array<std::byte, 4096> bytes;
  for (;;) {
    std::array<pollfd, 2> wait = {pollfd{end_.get(), POLLIN, 0}, pollfd{device, POLLIN, 0}};
    if (::poll(wait.data(), wait.size(), -1) < 0 && errno != EINTR) return reason(errno);
    if (wait[0].revents != 0) return "";
    if (wait[1].revents == 0) continue;
    const ssize_t got = ::read(device, bytes.data(), bytes.size());
    if (got > 0) {
      functions_.data({bytes.data(), static_cast<std::size_t>(got)});
    } else if (got == 0) {
      return "it was closed";
    } else if (errno != EAGAIN && errno != EINTR) {
      return reason(errno);
    }
  }
}

bool DeviceReader::ended_within_a_second() const {
  pollfd wait{end_.get(), POLLIN, 0};
  return ::poll(&wait, 1, kReopenMs) > 0;
}

}  // namespace hyphos::builtin
