#pragma once

#include <memory>
#include <vector>

#include "cosim/programs/source.hpp"

namespace hyphos::cosim {

/// Messages that are acknowledged one by one, repeated until then, and delivered in order.
///
/// A model of TCP whose segments are messages: window and slow start of RFC 5681, and the timer of
/// RFC 6298 with the bounds of Linux (200 ms to 120 s, initially 1 s). A message counts as lost
/// when three later messages are acknowledged (RFC 6675). The sender never gives up during the run.
class Acknowledged final : public Flow {
 public:
  Acknowledged(FlowOptions options, std::uint16_t number, std::uint32_t nodes,
               std::unique_ptr<Source> source)
      : Flow(std::move(options), number, nodes), source_(std::move(source)) {}

  void step(Instant& at) override;
  void receive(Instant& at, const Delivery& delivery, const Header& header) override;
  Time next_event_time() const override;

 private:
  enum class State : std::uint8_t { waiting, under_way, lost, acknowledged };
  struct Segment {
    std::vector<std::byte> bytes;
    Header header;
    State state = State::waiting;
    bool repeated = false;
    std::uint8_t later = 0;  // acknowledgements of later messages
    Time sent;               // time of the last transmission
  };
  struct Arrival {
    bool here = false;
    Time delivered;
    std::optional<DelayParts> parts{};
  };

  void take_acknowledgement(Instant& at, std::uint32_t sequence);
  void measure(Duration round_trip);
  void lose(std::uint32_t sequence);
  void time_out(Time now);
  void fill_window(Instant& at);
  void send(Instant& at, Segment& segment);
  void restart_timer(Time now);

  std::unique_ptr<Source> source_;
  // The sender.
  std::vector<Segment> segments_;
  std::uint32_t oldest_ = 0;   // the oldest message that is not acknowledged
  std::uint32_t unsent_ = 0;   // the first message that was never sent
  std::uint32_t recover_ = 0;  // a loss before it does not halve the window again
  std::uint32_t under_way_ = 0;
  double window_ = 10;  // messages (RFC 6928)
  double threshold_ = 1e9;
  Duration timeout_ = Duration::from_ms(1000);
  Duration smoothed_{0};
  Duration variation_{0};
  Time deadline_{kNever};
  // The receiver.
  std::vector<Arrival> arrivals_;
  std::uint32_t expected_ = 0;
};

}  // namespace hyphos::cosim
