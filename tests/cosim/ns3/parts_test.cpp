// The parts of delays in ns-3: they add up exactly, and each has its cause.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "cosim/network/radio_model.hpp"
#include "cosim/remote/remote.hpp"
#include "tests/cosim/ns3/agreement.hpp"

namespace hyphos::cosim {
namespace {

struct Link {
  Ns3Options options{};
  double metres = 60;
  std::size_t bytes = 300;
  NodeId to = 1;
  int packets = 200;
  Duration every = Duration::from_ms(5);
};

/// The delivered copies of packets from 0, by their ids, with their delays.
struct Arrived {
  Duration delay{};
  DelayParts parts{};
};

/// Checks that each delivered copy has parts that add up, and returns them.
std::vector<Arrived> send(const Link& link) {
  auto worker =
      Worker::start({}, {COSIM_WORKER, "--adapter", COSIM_NS3, "--options", to_text(link.options)});
  RemoteNetwork network(std::move(worker).or_throw());
  network.init(2, 3).or_throw();
  std::vector<Pose> poses(2);
  poses[0].position.z = poses[1].position.z = 1;
  poses[1].position.x = link.metres;
  network.set_poses(poses).or_throw();
  std::map<PacketId, Time> stamps;
  for (int i = 0; i < link.packets; ++i) {
    const Time stamp{1'000'000 + i * link.every.ns};
    const auto id = static_cast<PacketId>(i + 1);
    stamps[id] = stamp;
    network.inject({id, 0, link.to, stamp, Buffer::adopt(std::vector<std::byte>(link.bytes))})
        .or_throw();
  }
  std::vector<Outcome> outcomes;
  const Time end{link.packets * link.every.ns + 20'000'000'000};
  network.advance(end).or_throw();
  network.poll(outcomes).or_throw();
  std::vector<Arrived> all;
  for (const Outcome& one : outcomes) {
    if (one.fate != Fate::delivered) continue;
    EXPECT_TRUE(one.parts.has_value()) << one.id;
    if (!one.parts) return all;
    const Duration delay = one.time - stamps[one.id];
    EXPECT_EQ(one.parts->sum().ns, delay.ns) << one.id;
    for (const Duration part :
         {one.parts->processing, one.parts->queueing, one.parts->retransmission,
          one.parts->transmission, one.parts->propagation}) {
      EXPECT_GE(part.ns, 0) << one.id;
    }
    EXPECT_GT(one.parts->transmission.ns, 0);
    all.push_back({delay, *one.parts});
  }
  return all;
}

Ns3Options radio(const std::string& kind, const std::string& rate = "") {
  Ns3Options options;
  options.radio.kind = kind;
  if (!rate.empty()) options.radio.rate = rate;
  return options;
}

double mean_ms(const std::vector<Arrived>& all, Duration DelayParts::* part) {
  double sum = 0;
  for (const Arrived& one : all) sum += (one.parts.*part).ms();
  return all.empty() ? 0 : sum / static_cast<double>(all.size());
}

TEST(Ns3Parts, a_free_channel_has_the_parts_of_its_numbers) {
  Link link;
  link.options.radio.host_jitter = {0};
  const auto model = RadioModel::make(link.options.radio, nullptr, 3).or_throw();
  const auto all = send(link);
  ASSERT_EQ(all.size(), 200U);
  for (const Arrived& one : all) {
    EXPECT_EQ(one.parts.retransmission.ns, 0);
    EXPECT_EQ(one.parts.processing.ns, 0);
    EXPECT_NEAR(static_cast<double>(one.parts.propagation.ns), 60 / 0.299792458, 1);
    EXPECT_EQ(one.parts.transmission.ns, all[0].parts.transmission.ns);
    EXPECT_GE(one.parts.queueing, model.sifs()) << "the waiting time before a frame";
  }
  // Half of the size is about half of the airtime of the bytes.
  link.bytes = 1300;
  const auto long_ones = send(link);
  const double more = (long_ones[0].parts.transmission - all[0].parts.transmission).ms();
  EXPECT_NEAR(more, (model.airtime(1300) - model.airtime(300)).ms(), 0.01);
}

TEST(Ns3Parts, they_add_up_for_every_radio_and_transport) {
  for (const char* kind : {"simple", "802.11g", "802.11n", "802.11ac", "802.11ax", "802.15.4"}) {
    for (const bool everyone : {false, true}) {
      Link link;
      if (std::string(kind) != "simple") link.options = radio(kind);
      link.to = everyone ? kEveryone : 1;
      link.metres = 20;
      link.bytes = 80;
      link.every = Duration::from_ms(20);
      EXPECT_GT(send(link).size(), 100U) << kind << (everyone ? " to everyone" : " to one");
    }
  }
}

TEST(Ns3Parts, a_full_queue_makes_queueing_longer) {
  Link link;
  const double alone = mean_ms(send(link), &DelayParts::queueing);
  link.every = Duration::from_us(1);
  link.packets = 50;
  const double together = mean_ms(send(link), &DelayParts::queueing);
  EXPECT_GT(together, 10 * alone);
}

TEST(Ns3Parts, weak_links_repeat_frames) {
  Link link;
  link.options = radio("802.11g", "24");
  link.options.radio.rate_control = "fixed";
  link.options.radio.channel.fading = "rayleigh";
  link.metres = 30;
  const double near = mean_ms(send(link), &DelayParts::retransmission);
  link.metres = 100;
  const auto far = send(link);
  ASSERT_GT(far.size(), 20U);
  EXPECT_GT(mean_ms(far, &DelayParts::retransmission), 3 * near + 0.01);
}

TEST(Ns3Parts, packets_of_several_frames_transmit_all_of_them) {
  Link link;
  link.options.radio.host_jitter = {0};
  link.every = Duration::from_ms(50);
  link.packets = 20;
  link.bytes = 1400;
  const double one = mean_ms(send(link), &DelayParts::transmission);
  link.bytes = 4 * 1480 - 8;  // four fragments of IP
  const double four = mean_ms(send(link), &DelayParts::transmission);
  EXPECT_NEAR(four / one, 4, 0.3);
  link.options = radio("802.15.4");
  link.bytes = 90;
  const double small = mean_ms(send(link), &DelayParts::transmission);
  link.bytes = 250;
  EXPECT_GT(mean_ms(send(link), &DelayParts::transmission), 2 * small);
}

TEST(Ns3Parts, over_tcp_they_add_up_and_lost_segments_are_retransmission) {
  Link link;
  link.options.transport = Transport::tcp;
  const auto good = send(link);
  ASSERT_EQ(good.size(), 200U);
  // The first packet waits for the connection.
  EXPECT_GT(good[0].parts.queueing.ms(), 5 * good[100].parts.queueing.ms());
  link.bytes = 20'000;
  link.packets = 20;
  link.every = Duration::from_ms(200);
  const auto large = send(link);
  ASSERT_EQ(large.size(), 20U);
  EXPECT_GT(mean_ms(large, &DelayParts::transmission),
            10 * mean_ms(good, &DelayParts::transmission));
}

}  // namespace
}  // namespace hyphos::cosim
