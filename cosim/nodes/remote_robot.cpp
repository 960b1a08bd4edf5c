#include "cosim/nodes/remote_robot.hpp"

#include "cosim/nodes/robot_codec.hpp"

namespace hyphos::cosim {

Error RemoteRobot::nonsense() {
  return worker_->give_up({Code::corrupt, worker_->name() + " sent an invalid reply", ""});
}

Error RemoteRobot::at_this_instant(Error error) const {
  error.where = "at " + std::to_string(now_.ns) + " ns";
  return error;
}

Result<void> RemoteRobot::send() {
  auto sent = worker_->ask(request_.bytes());
  return sent ? sent : Result<void>(at_this_instant(sent.error()));
}

Result<Reader> RemoteRobot::ask() {
  if (auto sent = send(); !sent) return sent.error();
  return receive();
}

Result<Reader> RemoteRobot::receive() {
  if (auto got = worker_->answer(answer_); !got) return at_this_instant(got.error());
  Reader reader(answer_);
  const auto failed = reader.get<std::uint8_t>();
  if (failed == 0 && !reader.failed()) return reader;
  Error error = get_error(reader);
  if (!reader.complete()) return nonsense();
  error.message = worker_->name() + ": " + error.message;
  return error;
}

Result<std::vector<OpenChannel>> RemoteRobot::channels() {
  request_.clear();
  request_.put(RobotRequest::channels);
  auto reader = ask();
  if (!reader) return reader.error();
  auto channels = get_channels(*reader);
  if (!reader->complete()) return nonsense();
  return channels;
}

Result<void> RemoteRobot::wire(const Wiring& wiring) {
  request_.clear();
  request_.put(RobotRequest::wire);
  put_wiring(request_, wiring);
  auto reader = ask();
  if (!reader) return reader.error();
  return reader->complete() ? success() : Result<void>(nonsense());
}

Result<void> RemoteRobot::begin(const RobotInput& input) {
  now_ = input.now;
  request_.clear();
  request_.put(RobotRequest::step);
  put_input(request_, input);
  return send();
}

Result<RobotOutput> RemoteRobot::finish() {
  auto reader = receive();
  if (!reader) return reader.error();
  auto output = get_output(*reader);
  if (!reader->complete()) return nonsense();
  return output;
}

Result<std::vector<RobotDrops>> RemoteRobot::drops() {
  request_.clear();
  request_.put(RobotRequest::drops);
  auto reader = ask();
  if (!reader) return reader.error();
  auto drops = get_drops(*reader);
  if (!reader->complete()) return nonsense();
  return drops;
}

namespace {

void put_failure(Writer& answer, const Error& error) {
  answer.clear();
  answer.put(std::uint8_t{1});
  put_error(answer, error);
}

template <typename T, typename Put>
void put_result(Writer& answer, const Result<T>& result, Put put) {
  if (!result) return put_failure(answer, result.error());
  answer.put(std::uint8_t{0});
  put(*result);
}

/// Returns false if the request is to quit, or is invalid.
bool answer_to(Reader& request, RobotNodes& robot, Writer& answer) {
  switch (request.get<RobotRequest>()) {
    case RobotRequest::channels:
      put_result(answer, robot.channels(), [&](const auto& all) { put_channels(answer, all); });
      return true;
    case RobotRequest::wire: {
      const Wiring wiring = get_wiring(request);
      if (!request.complete()) return false;
      const auto wired = robot.wire(wiring);
      if (!wired) {
        put_failure(answer, wired.error());
      } else {
        answer.put(std::uint8_t{0});
      }
      return true;
    }
    case RobotRequest::step: {
      const RobotInput input = get_input(request);
      if (!request.complete()) return false;
      put_result(answer, robot.step(input), [&](const auto& out) { put_output(answer, out); });
      return true;
    }
    case RobotRequest::drops:
      put_result(answer, robot.drops(), [&](const auto& all) { put_drops(answer, all); });
      return true;
    case RobotRequest::quit:
      break;
  }
  return false;
}

}  // namespace

void serve(IpcChannel& channel, RobotNodes& robot) {
  std::vector<std::byte> request;
  Writer answer;
  while (channel.receive(request, kNever, {})) {
    Reader reader(request);
    answer.clear();
    if (!answer_to(reader, robot, answer)) return;
    if (auto sent = channel.send(answer.bytes());
        !sent) {  // the reply exceeds the size of a message
      put_failure(answer, sent.error());
      if (!channel.send(answer.bytes())) return;
    }
  }
}

void serve_failure(IpcChannel& channel, const Error& failure) {
  std::vector<std::byte> request;
  Writer answer;
  put_failure(answer, failure);
  while (channel.receive(request, kNever, {}) &&
         Reader(request).get<RobotRequest>() != RobotRequest::quit) {
    if (!channel.send(answer.bytes())) return;
  }
}

}  // namespace hyphos::cosim
