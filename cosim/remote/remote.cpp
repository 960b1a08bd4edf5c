#include "cosim/remote/remote.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace hyphos::cosim {
namespace {

constexpr std::size_t kRequestHead = 1 + 1 + 4 + 8;
// Limit for one advance. A simulator with more outcomes is broken.
constexpr std::size_t kMostOutcomes = 50'000'000;

/// Sends a request. Returns the error in the reply, or a reader for the rest of the reply.
Result<Reader> ask(Worker& worker, const Writer& request, std::vector<std::byte>& answer) {
  if (auto called = worker.call(request.bytes(), answer); !called) return called.error();
  Reader reader(answer);
  const auto status = reader.get<std::uint8_t>();
  if (status == 1) return get_error(reader);
  if (status != 0 || reader.failed()) {
    return worker.give_up({Code::corrupt,
                           worker.name() + " sent a reply of " + std::to_string(answer.size()) +
                               " bytes that cannot be decoded, and was killed",
                           "cosim"});
  }
  return reader;
}

Error unreadable(Worker& worker, const std::string& what) {
  return worker.give_up(
      {Code::corrupt, worker.name() + " sent " + what + ", and was killed", "cosim"});
}

Result<std::vector<std::byte>> ask_state(Worker& worker) {
  Writer request;
  request.put(Request::save);
  std::vector<std::byte> answer;
  auto reader = ask(worker, request, answer);
  if (!reader) return reader.error();
  const auto block = reader->get_block();
  if (!reader->complete()) return unreadable(worker, "an unreadable state");
  return std::vector<std::byte>(block.begin(), block.end());
}

}  // namespace

Result<void> RemoteNetwork::init(std::uint32_t nodes, std::uint64_t seed) {
  nodes_ = nodes;
  request_.clear();
  request_.put(Request::init);
  request_.put(nodes);
  request_.put(seed);
  bool more = false;
  return read_answer(more);  // with the first event of the network
}

Result<void> RemoteNetwork::set_poses(std::span<const Pose> poses) {
  if (poses.size() != nodes_) {
    return Error{Code::invalid_config,
                 std::to_string(poses.size()) + " poses for " + std::to_string(nodes_) + " nodes",
                 "cosim"};
  }
  poses_.assign(poses.begin(), poses.end());
  poses_new_ = true;
  return success();
}

Result<void> RemoteNetwork::inject(const Packet& packet) {
  // Checked here, so that this call reports the error and not the next advance.
  if (packet.from >= nodes_ || (packet.to != kEveryone && packet.to >= nodes_)) {
    return Error{Code::not_found, "no node " + std::to_string(std::max(packet.from, packet.to)),
                 "cosim"};
  }
  if (packet.stamp < now_) {
    return Error{Code::out_of_range,
                 "a packet at " + std::to_string(packet.stamp.ns) + " ns, but " + worker_->name() +
                     " is already at " + std::to_string(now_.ns) + " ns",
                 "cosim"};
  }
  const Time start = monotonic_now();
  const std::size_t head = kRequestHead + nodes_ * sizeof(Pose);
  if (head + packet_size(packet) > worker_->capacity()) {
    return Error{Code::exhausted,
                 "a packet of " + std::to_string(packet.bytes.size()) +
                     " bytes does not fit into a message of " + std::to_string(worker_->capacity()),
                 "cosim"};
  }
  if (head + packets_.size() + packet_size(packet) > worker_->capacity()) {
    if (auto sent = flush(kNever); !sent) return sent;
  }
  put_packet(packets_, packet);
  ++packet_count_;
  earliest_packet_ = std::min(earliest_packet_, packet.stamp);
  codec_ns_ += (monotonic_now() - start).ns;
  return success();
}

Result<void> RemoteNetwork::advance(Time end) {
  if (end < now_) {
    return Error{Code::out_of_range,
                 "asked to end at " + std::to_string(end.ns) + " ns, but " + worker_->name() +
                     " is already at " + std::to_string(now_.ns) + " ns",
                 "cosim"};
  }
  if (auto ran = flush(end); !ran) return ran;
  now_ = end;
  return success();
}

Result<void> RemoteNetwork::flush(Time end) {
  Time start = monotonic_now();
  request_.clear();
  request_.put(Request::step);
  request_.put(static_cast<std::uint8_t>(poses_new_));
  if (std::exchange(poses_new_, false)) request_.put_bytes(std::as_bytes(std::span(poses_)));
  request_.put(std::exchange(packet_count_, 0U));
  request_.put_bytes(packets_.bytes());
  packets_.clear();
  earliest_packet_ = kNever;
  request_.put(end.ns);
  codec_ns_ += (monotonic_now() - start).ns;
  for (bool more = true; more;) {
    if (auto read = read_answer(more); !read) return read;
    request_.clear();
    request_.put(Request::more);
  }
  return success();
}

Result<void> RemoteNetwork::read_answer(bool& more) {
  auto reader = ask(*worker_, request_, answer_);
  if (!reader) return reader.error();
  const Time start = monotonic_now();
  network_next_.ns = reader->get<std::int64_t>();
  const auto count = reader->get<std::uint32_t>();
  const auto further = reader->get<std::uint8_t>();
  for (std::uint32_t i = 0; i < count; ++i) {
    auto outcome = get_outcome(*reader);
    if (!outcome) return unreadable(*worker_, "an invalid outcome");
    outcomes_.push_back(std::move(*outcome));
  }
  more = further == 1;
  if (!reader->complete() || further > 1 || (more && count == 0) ||
      outcomes_.size() > kMostOutcomes) {
    return unreadable(*worker_, "an unreadable reply");
  }
  codec_ns_ += (monotonic_now() - start).ns;
  return success();
}

Time RemoteNetwork::next_event_time() const { return std::min(network_next_, earliest_packet_); }

Result<void> RemoteNetwork::poll(std::vector<Outcome>& outcomes) {
  std::ranges::move(outcomes_, std::back_inserter(outcomes));
  outcomes_.clear();
  return success();
}

Result<std::vector<std::byte>> RemoteNetwork::save() const {
  auto state = ask_state(*worker_);
  if (!state) return state;
  Writer whole;
  whole.put(now_.ns);
  whole.put(network_next_.ns);
  whole.put_bytes(*state);
  return std::vector<std::byte>(whole.bytes().begin(), whole.bytes().end());
}

Result<void> RemoteNetwork::restore(std::span<const std::byte> state) {
  Reader whole(state);
  const Time now{whole.get<std::int64_t>()};
  const Time next{whole.get<std::int64_t>()};
  if (whole.failed())
    return Error{Code::corrupt, "the saved state is not a state of a simulator", "cosim"};
  request_.clear();
  request_.put(Request::restore);
  request_.put_block(whole.get_bytes(whole.left()));
  const auto answer = ask(*worker_, request_, answer_);
  if (!answer) return answer.error();
  now_ = now;
  network_next_ = next;
  return success();
}

Result<void> RemotePhysics::init(std::uint32_t nodes, std::uint64_t seed) {
  poses_.resize(nodes);
  request_.clear();
  request_.put(Request::init);
  request_.put(nodes);
  request_.put(seed);
  return ask();
}

Result<void> RemotePhysics::advance(Time end) {
  request_.clear();
  request_.put(Request::step);
  request_.put(end.ns);
  return ask();
}

Result<void> RemotePhysics::ask() {
  auto reader = cosim::ask(*worker_, request_, answer_);
  if (!reader) return reader.error();
  return read_poses(*reader);
}

Result<void> RemotePhysics::read_poses(Reader& reader) {
  next_.ns = reader.get<std::int64_t>();
  for (Pose& pose : poses_) pose = reader.get<Pose>();
  if (!reader.complete()) return unreadable(*worker_, "unreadable poses");
  return success();
}

Result<std::string> RemotePhysics::steer(NodeId robot, const Motion& motion) {
  request_.clear();
  request_.put(Request::steer);
  request_.put(robot);
  request_.put(motion);
  auto reader = cosim::ask(*worker_, request_, answer_);
  if (!reader) return reader.error();
  std::string left_out = reader->get_text();
  if (auto read = read_poses(*reader); !read) return read.error();
  return left_out;
}

Result<std::vector<std::byte>> RemotePhysics::save() const { return ask_state(*worker_); }

Result<void> RemotePhysics::restore(std::span<const std::byte> state) {
  request_.clear();
  request_.put(Request::restore);
  request_.put_block(state);
  return ask();
}

}  // namespace hyphos::cosim
