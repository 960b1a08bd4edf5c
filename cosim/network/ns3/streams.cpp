#include "cosim/network/ns3/streams.hpp"

#include <algorithm>
#include <cstring>

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/inet-socket-address.h"
#include "ns3/nstime.h"
#include "ns3/packet.h"
#include "ns3/simulator.h"
#include "ns3/tcp-socket-factory.h"
#include "ns3/uinteger.h"

namespace hyphos::cosim {
namespace {

constexpr std::uint16_t kPort = 4001;
constexpr std::uint32_t kBufferBytes = 1 << 20;

Time now() { return {ns3::Simulator::Now().GetNanoSeconds()}; }

}  // namespace

void Streams::set_defaults() {
  using ns3::Config::SetDefault;
  SetDefault("ns3::TcpSocket::SegmentSize", ns3::UintegerValue(1448));
  SetDefault("ns3::TcpSocket::InitialCwnd", ns3::UintegerValue(10));
  SetDefault("ns3::TcpSocket::SndBufSize", ns3::UintegerValue(kBufferBytes));
  SetDefault("ns3::TcpSocket::RcvBufSize", ns3::UintegerValue(kBufferBytes));
  SetDefault("ns3::TcpSocket::TcpNoDelay", ns3::BooleanValue(true));
  SetDefault("ns3::TcpSocket::DelAckTimeout", ns3::TimeValue(ns3::MilliSeconds(40)));
  SetDefault("ns3::TcpSocketBase::MinRto", ns3::TimeValue(ns3::MilliSeconds(200)));
}

Streams::~Streams() {
  for (const auto& [key, connection] : connections_) silence(connection.socket);
  for (const auto& socket : accepted_) silence(socket);
}

void Streams::silence(const ns3::Ptr<ns3::Socket>& socket) {
  const auto nothing = ns3::MakeNullCallback<void, ns3::Ptr<ns3::Socket>>();
  socket->SetConnectCallback(nothing, nothing);
  socket->SetCloseCallbacks(nothing, nothing);
  socket->SetRecvCallback(nothing);
  socket->SetSendCallback(ns3::MakeNullCallback<void, ns3::Ptr<ns3::Socket>, std::uint32_t>());
}

void Streams::init(const ns3::NodeContainer& nodes, std::vector<ns3::Ipv4Address> addresses) {
  nodes_ = nodes;
  addresses_ = std::move(addresses);
  for (NodeId node = 0; node < nodes_.GetN(); ++node) {
    const auto socket =
        ns3::Socket::CreateSocket(nodes_.Get(node), ns3::TcpSocketFactory::GetTypeId());
    socket->Bind(ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), kPort));
    socket->Listen();
    socket->SetAcceptCallback(
        ns3::MakeNullCallback<bool, ns3::Ptr<ns3::Socket>, const ns3::Address&>(),
        ns3::Callback<void, ns3::Ptr<ns3::Socket>, const ns3::Address&>(
            [this, node](ns3::Ptr<ns3::Socket> made, const ns3::Address& from) {
              accept(node, made, from);
            }));
    listening_.push_back(socket);
  }
}

void Streams::send(const Packet& packet) {
  const Key key{packet.from, packet.to};
  const auto found = connections_.find(key);
  Connection& connection = found != connections_.end() ? found->second : connect(key);
  if (connection.waiting.size() >= most_waiting_) {
    fates_.dropped(packet.id, packet.to, now(), DropReason::queue_full);
    return;
  }
  const auto length = static_cast<std::uint32_t>(packet.bytes.size());
  std::vector<std::byte> framed(sizeof length + packet.bytes.size());
  std::memcpy(framed.data(), &length, sizeof length);
  std::copy_n(packet.bytes.data(), packet.bytes.size(), framed.begin() + sizeof length);
  connection.expected.push_back(packet.id);
  connection.waiting.emplace_back(packet.id, std::move(framed));
  write(key);
}

Streams::Connection& Streams::connect(Key key) {
  Connection& connection = connections_[key];
  connection.socket =
      ns3::Socket::CreateSocket(nodes_.Get(key.first), ns3::TcpSocketFactory::GetTypeId());
  const ns3::Ptr<ns3::Socket>& socket = connection.socket;
  socket->Bind();
  ns3::Address own;
  socket->GetSockName(own);
  connection.port = ns3::InetSocketAddress::ConvertFrom(own).GetPort();
  using Told = ns3::Callback<void, ns3::Ptr<ns3::Socket>>;
  const Told failed([this, key](ns3::Ptr<ns3::Socket>) { fail(key); });
  socket->SetConnectCallback(Told([this, key](ns3::Ptr<ns3::Socket>) {
                               connections_[key].open = true;
                               write(key);
                             }),
                             failed);
  socket->SetCloseCallbacks(failed, failed);
  socket->SetSendCallback(ns3::Callback<void, ns3::Ptr<ns3::Socket>, std::uint32_t>(
      [this, key](ns3::Ptr<ns3::Socket>, std::uint32_t) { write(key); }));
  socket->Connect(ns3::InetSocketAddress(addresses_[key.second], kPort));
  return connection;
}

void Streams::write(Key key) {
  const auto found = connections_.find(key);
  if (found == connections_.end() || !found->second.open) return;
  Connection& connection = found->second;
  while (!connection.waiting.empty()) {
    const auto& [id, framed] = connection.waiting.front();
    const auto part = static_cast<std::uint32_t>(std::min<std::size_t>(
        framed.size() - connection.written, connection.socket->GetTxAvailable()));
    if (part == 0) return;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(framed.data()) + connection.written;
    const auto piece = ns3::Create<ns3::Packet>(bytes, part);
    piece->AddByteTag(PacketTag(id));
    const int taken = connection.socket->Send(piece);
    if (taken <= 0) return;
    connection.written += static_cast<std::size_t>(taken);
    if (connection.written < framed.size()) continue;
    connection.written = 0;
    connection.waiting.pop_front();
  }
}

void Streams::fail(Key key) {
  const auto found = connections_.find(key);
  if (found == connections_.end()) return;
  const Connection lost = std::move(found->second);
  connections_.erase(found);
  for (const PacketId id : lost.expected) {
    fates_.dropped(id, key.second, now(), DropReason::retry_limit);
  }
  // The caller is this socket, which must not be destroyed in its own callback.
  ns3::Simulator::ScheduleNow([socket = lost.socket] {
    silence(socket);
    socket->Close();
  });
}

void Streams::accept(NodeId node, const ns3::Ptr<ns3::Socket>& socket, const ns3::Address& from) {
  const auto peer = ns3::InetSocketAddress::ConvertFrom(from);
  const auto sender = std::ranges::find(addresses_, peer.GetIpv4());
  const Key key{static_cast<NodeId>(sender - addresses_.begin()), node};
  accepted_.push_back(socket);
  socket->SetRecvCallback(ns3::Callback<void, ns3::Ptr<ns3::Socket>>(
      [this, key, port = peer.GetPort()](ns3::Ptr<ns3::Socket> readable) {
        read(key, port, readable);
      }));
}

void Streams::read(Key key, std::uint16_t port, const ns3::Ptr<ns3::Socket>& socket) {
  const auto found = connections_.find(key);
  while (const ns3::Ptr<ns3::Packet> part = socket->Recv()) {
    // Late bytes of a connection that was given up already count as lost.
    if (found == connections_.end() || found->second.port != port) continue;
    Connection& connection = found->second;
    const std::size_t had = connection.arrived.size();
    connection.arrived.resize(had + part->GetSize());
    part->CopyData(reinterpret_cast<std::uint8_t*>(connection.arrived.data() + had),
                   part->GetSize());
    deliver(key.second, connection);
  }
}

void Streams::deliver(NodeId to, Connection& connection) {
  const std::span<const std::byte> arrived(connection.arrived);
  std::size_t used = 0;
  std::uint32_t length = 0;
  while (arrived.size() - used >= sizeof length) {
    std::memcpy(&length, arrived.data() + used, sizeof length);
    if (arrived.size() - used - sizeof length < length) break;
    fates_.delivered(connection.expected.front(), to, now(),
                     Buffer::copy_of(arrived.subspan(used + sizeof length, length)));
    connection.expected.pop_front();
    used += sizeof length + length;
  }
  connection.arrived.erase(connection.arrived.begin(),
                           connection.arrived.begin() + static_cast<std::ptrdiff_t>(used));
}

}  // namespace hyphos::cosim
