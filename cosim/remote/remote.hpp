#pragma once

#include <memory>
#include <vector>

#include "cosim/core/simulator.hpp"
#include "cosim/remote/codec.hpp"
#include "cosim/remote/worker.hpp"

/// Simulators in other processes, behind the interfaces of the engine. All calls between two
/// advances travel as one message in each direction. Motion commands are the exception: each is one
/// message.
namespace hyphos::cosim {

class RemoteNetwork final : public Network {
 public:
  explicit RemoteNetwork(std::unique_ptr<Worker> worker) : worker_(std::move(worker)) {}

  Result<void> init(std::uint32_t nodes, std::uint64_t seed) override;
  Result<void> set_poses(std::span<const Pose> poses) override;
  Result<void> inject(const Packet& packet) override;
  Result<void> advance(Time end) override;
  Time next_event_time() const override;
  Result<void> poll(std::vector<Outcome>& outcomes) override;
  Result<std::vector<std::byte>> save() const override;
  Result<void> restore(std::span<const std::byte> state) override;
  RemoteCost cost() const override { return {worker_->wait_ns(), codec_ns_}; }
  [[nodiscard]] Worker& worker() { return *worker_; }

 private:
  void begin_request();
  Result<void> flush(Time end);
  Result<void> read_answer(bool& more);

  std::unique_ptr<Worker> worker_;
  std::uint32_t nodes_ = 0;
  Time now_;
  Time network_next_ = kNever;
  Time earliest_packet_ = kNever;  // of the packets not yet sent to the network
  std::vector<Pose> poses_;
  bool poses_new_ = false;
  Writer packets_;
  std::uint32_t packet_count_ = 0;
  std::vector<Outcome> outcomes_;
  Writer request_;
  std::vector<std::byte> answer_;
  std::int64_t codec_ns_ = 0;
};

class RemotePhysics final : public Physics {
 public:
  explicit RemotePhysics(std::unique_ptr<Worker> worker) : worker_(std::move(worker)) {}

  Result<void> init(std::uint32_t nodes, std::uint64_t seed) override;
  Result<void> advance(Time end) override;
  Time next_event_time() const override { return next_; }
  std::span<const Pose> poses() const override { return poses_; }
  Result<std::string> steer(NodeId robot, const Motion& motion) override;
  Result<std::vector<std::byte>> save() const override;
  Result<void> restore(std::span<const std::byte> state) override;
  RemoteCost cost() const override { return {worker_->wait_ns(), 0}; }
  [[nodiscard]] Worker& worker() { return *worker_; }

 private:
  Result<void> ask();
  Result<void> read_poses(Reader& reader);

  std::unique_ptr<Worker> worker_;
  Time next_ = kNever;
  std::vector<Pose> poses_;
  Writer request_;
  std::vector<std::byte> answer_;
};

}  // namespace hyphos::cosim
