#pragma once

#include <map>
#include <memory>
#include <utility>

#include "cosim/programs/source.hpp"

namespace hyphos::cosim {

/// Requests, each with a reply of the same size in the instant of the read. The times of a message
/// cover the round trip.
class Ping final : public Flow {
 public:
  Ping(FlowOptions options, std::uint16_t number, std::uint32_t nodes,
       std::unique_ptr<Source> source)
      : Flow(std::move(options), number, nodes), source_(std::move(source)) {}

  void step(Instant& at) override {
    while (source_->due() <= at.now()) {
      auto bytes = source_->take();
      Header header = hand_over(at, bytes.size());
      header.kind = Header::Kind::request;
      at.send(header, std::move(bytes));
    }
  }
  void receive(Instant& at, const Delivery& delivery, const Header& told) override {
    if (told.kind == Header::Kind::request) {
      if (delivery.parts) requests_[{told.sequence, delivery.to}] = *delivery.parts;
      at.send(header(Header::Kind::reply, delivery.to, told.from, told.sequence, told.sent),
              std::vector<std::byte>(delivery.bytes.size()));
    } else if (told.kind == Header::Kind::reply) {
      auto parts = delivery.parts;
      const auto request = requests_.find({told.sequence, told.from});
      if (parts && request != requests_.end()) *parts += request->second;
      arrived(told.sequence, told.from, delivery.delivered, at.now(), parts,
              &DelayParts::processing);
      if (request != requests_.end()) requests_.erase(request);
    }
  }
  Time next_event_time() const override { return source_->due(); }

 private:
  std::unique_ptr<Source> source_;
  std::map<std::pair<std::uint32_t, NodeId>, DelayParts> requests_;  // replies are under way
};

}  // namespace hyphos::cosim
