#include "cosim/outside/follow.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "cosim/remote/codec.hpp"

namespace hyphos::cosim {
namespace {

void send_motion(int socket, const Motion& motion) {
  Writer writer;
  writer.put(BodyNews::motion);
  writer.put(motion);
  // A full socket drops the command: the next one follows soon.
  (void)!::send(socket, writer.bytes().data(), writer.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

/// False if the datagram is invalid.
bool publish(Body& body, std::span<const std::byte> news) {
  Reader reader(news);
  switch (reader.get<BodyNews>()) {
    case BodyNews::clock: {
      const auto now = reader.get<Time>();
      if (!reader.complete()) return false;
      body.set_time(now);
      return true;
    }
    case BodyNews::pose: {
      const auto now = reader.get<Time>();
      const auto pose = reader.get<Pose>();
      if (!reader.complete()) return false;
      body.publish_pose(pose, now);
      body.publish_frame(pose, now);
      return true;
    }
    case BodyNews::reading: {
      Reading reading;
      reading.sensor = reader.get<std::uint32_t>();
      reading.message = Buffer::copy_of(reader.get_block());
      const auto count = reader.get<std::uint32_t>();
      for (std::uint32_t i = 0; i < count && !reader.failed(); ++i) {
        reading.attached.push_back(Buffer::copy_of(reader.get_block()));
      }
      if (!reader.complete()) return false;
      body.publish(reading);
      return true;
    }
    case BodyNews::motion:
    case BodyNews::part:
      break;
  }
  return false;
}

/// Puts the parts of a reading together. The rest of a reading whose part was dropped is ignored.
class Parts {
 public:
  /// False if the datagram is invalid.
  bool take(Body& body, std::span<const std::byte> news) {
    Reader reader(news);
    (void)reader.get<BodyNews>();
    const auto number = reader.get<std::uint32_t>();
    const auto count = reader.get<std::uint32_t>();
    const auto block = reader.get_block();
    if (!reader.complete() || number >= count || count > kMostReading / kMostNews * 2) return false;
    if (number == 0) {
      bytes_.clear();
      expected_ = 0;
    }
    if (number != expected_) {
      expected_ = 0;
      return true;
    }
    bytes_.insert(bytes_.end(), block.begin(), block.end());
    ++expected_;
    if (expected_ < count) return true;
    expected_ = 0;
    return publish(body, bytes_);
  }

 private:
  std::vector<std::byte> bytes_;
  std::uint32_t expected_ = 0;  // the next part
};

}  // namespace

Result<void> follow(const BodyNames& names, int socket) {
  auto body = Body::open(names, [socket](const Motion& motion) { send_motion(socket, motion); });
  if (!body) return body.error();
  std::printf("ready\n");
  std::fflush(stdout);
  std::vector<std::byte> room(kMostNews);
  Parts parts;
  while (true) {
    const ssize_t got = ::recv(socket, room.data(), room.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return success();  // the emulation has ended
    const auto news = std::span<const std::byte>(room).first(static_cast<std::size_t>(got));
    const bool part = Reader(news).get<BodyNews>() == BodyNews::part;
    if (!(part ? parts.take(**body, news) : publish(**body, news))) {
      return Error{Code::corrupt, "the emulation sent an invalid datagram", names.robot};
    }
  }
}

}  // namespace hyphos::cosim
