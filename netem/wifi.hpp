#pragma once

#include <deque>

#include "netem/wired.hpp"

namespace hyphos::lab {

/// One channel that all hosts share, half-duplex, with the distributed coordination function of
/// IEEE Std 802.11-2020, 10.3, on the OFDM PHY of its clause 17 (802.11a, or 802.11g without older
/// stations). The values are those of its table "OFDM PHY characteristics" for channels of 20 MHz
/// and of dot11ShortRetryLimit.
struct WifiOptions {
  double rate_mbit = 54;           ///< for data frames to one station
  double multicast_rate_mbit = 6;  ///< for frames to everyone: the lowest rate
  Duration slot = Duration::from_us(9);
  Duration sifs = Duration::from_us(16);
  std::int64_t window_min = 15;    ///< CWmin
  std::int64_t window_max = 1023;  ///< CWmax
  std::uint32_t retry_limit = 7;   ///< transmissions of a frame before it is given up
  LossOptions loss{};              ///< of each transmission of a frame
  QueueOptions queue{};            ///< of each station
  std::uint64_t seed = 1;
};

/// Airtimes after the TXTIME calculation of 17.4.3: 16 µs of preamble, 4 µs of SIGNAL, then symbols
/// of 4 µs with 16 bits of SERVICE, the frame, and 6 bits of tail.
class Airtime {
 public:
  explicit Airtime(const WifiOptions& options) : options_(options) {}

  /// DIFS = SIFS + 2 slots.
  [[nodiscard]] Duration difs() const { return options_.sifs + options_.slot * 2; }
  /// A data frame around the given bytes of IP: 24 bytes of MAC header, 8 of LLC and SNAP, 4 of
  /// FCS.
  [[nodiscard]] Duration data(std::uint32_t ip_bytes, bool multicast) const;
  /// 14 bytes at the highest mandatory rate (6, 12, 24 Mbit/s) that does not exceed the data rate.
  [[nodiscard]] Duration ack() const;
  /// The wait after an unreadable frame: SIFS + the slowest ACK + DIFS.
  [[nodiscard]] Duration eifs() const;

 private:
  WifiOptions options_;
};

/// Simplifications with little effect: stations sense each other at once and equally well (no
/// hidden stations, no capture). A frame that meets another frame is lost for every receiver, and
/// all stations wait EIFS, including its senders. Acknowledgements are never lost. Access in an
/// idle channel begins at a slot boundary. There is no RTS/CTS, no aggregation (802.11n) and no
/// rate adaptation.
class Wifi final : public Network {
 public:
  Wifi(Station stations, const WifiOptions& options, Buffers& buffers, Receiver& receiver);
  void advance(Time now) override;
  [[nodiscard]] Time next() const override;

  /// CW of a station: the largest number of slots of its next back-off.
  [[nodiscard]] std::int64_t contention_window(Station station) const {
    return radios_[station].window;
  }

 private:
  struct Radio {
    std::deque<Packet> queue;       // the front is being sent or is next
    std::uint64_t queue_bytes = 0;  // without the front
    std::int64_t window = 0;
    std::int64_t slots = 0;  // remaining back-off, counted from first_slot_
    std::uint32_t attempts = 0;
  };
  enum class Phase : std::uint8_t { idle, data, answer };

  void take(Time now, const Packet& packet) override;
  [[nodiscard]] bool full(const Radio& radio, const Packet& packet) const;
  [[nodiscard]] std::int64_t least_slots() const;
  void begin_frames();
  void end_data();
  void end_exchange();
  void give_up(Radio& radio, Drop why);
  void pop(Radio& radio);

  WifiOptions options_;
  Airtime airtime_;
  Random random_;
  std::vector<Radio> radios_;
  std::vector<Loss> paths_;       // from × stations + to
  std::vector<Station> senders_;  // senders of the frames on the air
  Phase phase_ = Phase::idle;
  bool arrived_ = false;  // its only receiver receives the frame on the air
  Time phase_end_;        // of data and answer
  Time first_slot_;       // of idle: end of the last exchange + DIFS or EIFS
};

}  // namespace hyphos::lab
