#pragma once

#include <deque>

#include "netem/wired.hpp"

namespace hyphos::lab {

/// One channel that all hosts share, half-duplex, with the distributed coordination function of
/// IEEE Std 802.11-2020, 10.3, on the OFDM PHY of its clause 17 (802.11a; 802.11g without older
/// stations beside it). The values are those of its table "OFDM PHY characteristics" for channels
/// of 20 MHz and of dot11ShortRetryLimit.
struct WifiOptions {
  double rate_mbit = 54;           ///< of data frames to one station
  double multicast_rate_mbit = 6;  ///< of frames to everyone: the lowest, which all understand
  Duration slot = Duration::from_us(9);
  Duration sifs = Duration::from_us(16);
  std::int64_t window_min = 15;    ///< CWmin
  std::int64_t window_max = 1023;  ///< CWmax
  std::uint32_t retry_limit = 7;   ///< times a frame is sent before it is given up
  LossOptions loss{};              ///< of a frame on the air, each time it is sent
  QueueOptions queue{};            ///< of each station
  std::uint64_t seed = 1;
};

/// Airtimes, after the TXTIME calculation of 17.4.3: 16 µs of preamble, 4 µs of SIGNAL, then
/// symbols of 4 µs that carry 16 bits of SERVICE, the frame, and 6 bits of tail.
class Airtime {
 public:
  explicit Airtime(const WifiOptions& options) : options_(options) {}

  /// DIFS = SIFS + 2 slots.
  [[nodiscard]] Duration difs() const { return options_.sifs + options_.slot * 2; }
  /// A data frame around so many bytes of IP: 24 of MAC header, 8 of LLC and SNAP, 4 of FCS.
  [[nodiscard]] Duration data(std::uint32_t ip_bytes, bool multicast) const;
  /// 14 bytes at the highest of the mandatory rates (6, 12, 24 Mbit/s) that data are not below.
  [[nodiscard]] Duration ack() const;
  /// What follows a frame that could not be understood: SIFS + the slowest ACK + DIFS.
  [[nodiscard]] Duration eifs() const;

 private:
  WifiOptions options_;
};

/// Simplified where it changes little: stations hear each other at once and all equally well (no
/// hidden stations, no capture); a frame that meets another is lost for everyone, and whoever
/// heard it waits EIFS, its senders too; acknowledgements are never lost; access in an idle channel
/// falls on a slot boundary. There is no RTS/CTS, no aggregation (802.11n), no change of rate.
class Wifi final : public Network {
 public:
  Wifi(Station stations, const WifiOptions& options, Buffers& buffers, Receiver& receiver);
  void advance(Time now) override;
  [[nodiscard]] Time next() const override;

  /// CW of a station: how many slots its next back-off lasts at most.
  [[nodiscard]] std::int64_t contention_window(Station station) const {
    return radios_[station].window;
  }

 private:
  struct Radio {
    std::deque<Packet> queue;       // the front is being sent, or is to be
    std::uint64_t queue_bytes = 0;  // without the front
    std::int64_t window = 0;
    std::int64_t slots = 0;  // of its back-off that are left, counted from first_slot_
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
  std::vector<Station> senders_;  // of the frames on the air
  Phase phase_ = Phase::idle;
  bool arrived_ = false;  // the frame on the air: its only receiver understands it
  Time phase_end_;        // of data and answer
  Time first_slot_;       // of idle: the end of the last exchange + DIFS or EIFS
};

}  // namespace hyphos::lab
