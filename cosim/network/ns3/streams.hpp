#pragma once

#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "cosim/network/ns3/fates.hpp"
#include "ns3/node-container.h"
#include "ns3/socket.h"

namespace hyphos::cosim {

/// Packets over TCP: one connection for each pair and direction. The first packet opens the
/// connection, which then stays open. A length of 4 bytes precedes each packet and marks its end. A
/// packet is delivered with its last byte.
///
/// A connection that fails to open or gives up drops all packets waiting in it as `retry_limit`.
/// The next packet opens a new connection.
class Streams {
 public:
  /// Sets the sizes and times of Linux where ns-3's defaults differ. Call it before the nodes get
  /// their stacks.
  static void set_defaults();

  Streams(Fates& fates, std::size_t most_waiting) : fates_(fates), most_waiting_(most_waiting) {}
  ~Streams();
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  /// From now on the nodes listen at `address(node)`.
  void init(const ns3::NodeContainer& nodes, std::vector<ns3::Ipv4Address> addresses);
  void send(const Packet& packet);

 private:
  struct Connection {
    ns3::Ptr<ns3::Socket> socket;
    std::uint16_t port = 0;  // of the sender
    bool open = false;
    /// Id, length and bytes that TCP has not taken yet.
    std::deque<std::pair<PacketId, std::vector<std::byte>>> waiting{};
    std::size_t written = 0;          // bytes written of the first entry
    std::deque<PacketId> expected{};  // in the order of the bytes
    std::vector<std::byte> arrived{};
  };
  using Key = std::pair<NodeId, NodeId>;

  Connection& connect(Key key);
  void write(Key key);
  void fail(Key key);
  void accept(NodeId node, const ns3::Ptr<ns3::Socket>& socket, const ns3::Address& from);
  void read(Key key, std::uint16_t port, const ns3::Ptr<ns3::Socket>& socket);
  void deliver(NodeId to, Connection& connection);
  static void silence(const ns3::Ptr<ns3::Socket>& socket);

  Fates& fates_;
  std::size_t most_waiting_;
  ns3::NodeContainer nodes_;
  std::vector<ns3::Ipv4Address> addresses_;
  std::vector<ns3::Ptr<ns3::Socket>> listening_;
  std::map<Key, Connection> connections_;
  std::vector<ns3::Ptr<ns3::Socket>> accepted_;
};

}  // namespace hyphos::cosim
