#pragma once

#include <memory>

#include "cosim/programs/source.hpp"

namespace hyphos::cosim {

/// Each message is one packet: it arrives or it is lost.
class Plain final : public Flow {
 public:
  Plain(FlowOptions options, std::uint16_t number, std::uint32_t nodes,
        std::unique_ptr<Source> source)
      : Flow(std::move(options), number, nodes), source_(std::move(source)) {}

  void step(Instant& at) override {
    while (source_->due() <= at.now()) {
      auto bytes = source_->take();
      const Header header = hand_over(at, bytes.size());
      at.send(header, std::move(bytes));
    }
  }
  void receive(Instant& at, const Delivery& delivery, const Header& header) override {
    arrived(header.sequence, delivery.to, delivery.delivered, at.now(), delivery.parts,
            &DelayParts::processing);
  }
  Time next_event_time() const override { return source_->due(); }

 private:
  std::unique_ptr<Source> source_;
};

}  // namespace hyphos::cosim
