#include "cosim/programs/ping_pong.hpp"

namespace hyphos::cosim {

void PingPong::step(Time now, std::span<const Delivery> inbox, std::span<const Pose> /*poses*/,
                    Outbox& outbox) {
  for (const Delivery& delivery : inbox) {
    if (delivery.to == 1) {
      outbox.send(1, 0, delivery.bytes);
    } else {
      round_trips_.push_back(now - sent_);
      next_ = now + options_.pause;
    }
  }
  if (next_ <= now) {
    sent_ = now;
    next_ = kNever;
    const std::vector<std::byte> ping(options_.bytes, std::byte{0x5a});
    outbox.send(0, 1, Buffer::copy_of(ping));
  }
}

}  // namespace hyphos::cosim
