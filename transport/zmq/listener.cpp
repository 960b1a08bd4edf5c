#include "transport/zmq/listener.hpp"

#include <algorithm>

#include "wire/control.hpp"

namespace hyphos::transport::zmq {
namespace {

EndpointMap::Offer sorted(EndpointMap::Offer offer) {
  if (offer) std::sort(offer->begin(), offer->end());
  return offer;
}

}  // namespace

EndpointMap EndpointMap::of(const std::vector<BindPoint>& binds) {
  EndpointMap endpoints;
  for (const BindPoint& bind : binds) {
    const Offer offer = sorted(bind.channels);
    const auto found = std::find(endpoints.offers.begin(), endpoints.offers.end(), offer);
    const auto index = static_cast<std::size_t>(found - endpoints.offers.begin());
    if (index > kEndpointMask) {
      endpoints.too_many = true;
      return endpoints;
    }
    if (found == endpoints.offers.end()) endpoints.offers.push_back(offer);
    endpoints.of_bind.push_back(static_cast<EndpointIndex>(index));
  }
  return endpoints;
}

Result<void> Listener::open_room(const Context& context, const ZmqConfig& config, bool tcp) {
  Room room;
  room.router = Socket(context, ZMQ_ROUTER);
  if (!room.router) return last_error("cannot make a socket", config.bind.front().endpoint);
  set_common(room.router, tcp ? config.heartbeat_ms : 0);
  room.router.set(ZMQ_ROUTER_MANDATORY, 1);
  room.router.set(ZMQ_MAXMSGSIZE, static_cast<std::int64_t>(wire::kMaxControlBytes));
  if (config.curve) {
    if (auto used = use_curve(room.router, *config.curve, std::nullopt); !used) return used;
  }
  room.monitor = Monitor(context, room.router, "hyphos-router-" + std::to_string(routers_.size()));
  routers_.push_back(std::move(room));
  return success();
}

Result<void> Listener::bind(const Context& context, const ZmqConfig& config,
                            const EndpointMap& endpoints) {
  if (config.bind.empty()) return success();
  if (endpoints.too_many) {
    return Error{Code::exhausted,
                 "the endpoints of a process offer more than " + std::to_string(kEndpointMask + 1) +
                     " different lists of channels. Let some endpoints offer the same list",
                 config.process_name};
  }
  if (config.curve) {
    if (auto opened = gatekeeper_.open(context, *config.curve); !opened) return opened;
  }
  const bool tcp = std::any_of(config.bind.begin(), config.bind.end(),
                               [](const BindPoint& bind) { return is_tcp(bind.endpoint); });
  while (routers_.size() < endpoints.offers.size()) {
    if (auto opened = open_room(context, config, tcp); !opened) return opened;
  }
  for (std::size_t i = 0; i < config.bind.size(); ++i) {
    const std::string& endpoint = config.bind[i].endpoint;
    Socket& router = routers_[endpoints.of_bind[i]].router;
    if (ipc_in_use(endpoint)) {
      return Error{Code::already_exists, "another process listens here", endpoint};
    }
    if (zmq_bind(router.raw(), endpoint.c_str()) != 0) return last_error("cannot bind", endpoint);
    endpoints_.push_back(router.last_endpoint());
  }
  for (Room& room : routers_) room.fd = room.router.fd();
  return success();
}

void Listener::close() {
  for (Room& room : routers_) room.monitor = Monitor();  // before the socket that it watches
  routers_.clear();
}

bool Listener::write(const std::string& connection, std::span<Frame> frames) {
  const EndpointIndex endpoint_index = endpoint_of(connection);
  if (connection.empty() || endpoint_index >= routers_.size()) return false;
  Socket& router = routers_[endpoint_index].router;
  Frame address = Frame::copy_of(std::string_view(connection).substr(1));
  if (!router.send(address, true)) return false;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    (void)router.send(frames[i], i + 1 < frames.size());
  }
  return true;
}

bool Listener::receive(EndpointIndex endpoint_index, std::string& connection,
                       std::span<Frame> frames, std::size_t& count) {
  count = 0;
  if (endpoint_index >= routers_.size()) return false;
  Socket& router = routers_[endpoint_index].router;
  Frame frame;
  if (!router.receive(frame)) return false;
  connection.assign(1, static_cast<char>(endpoint_index));
  connection.append(reinterpret_cast<const char*>(frame.bytes().data()), frame.size());
  for (bool more = frame.more(); more;) {
    if (!router.receive(frame)) break;
    more = frame.more();
    if (count < frames.size()) frames[count++] = std::move(frame);
  }
  return true;
}

bool Listener::readable(EndpointIndex endpoint_index) const {
  return endpoint_index < routers_.size() && routers_[endpoint_index].router.readable();
}

void Listener::set_linger(int linger_ms) {
  for (Room& room : routers_) room.router.set(ZMQ_LINGER, linger_ms);
}

void Listener::add_data_fds(std::vector<pollfd>& to) const {
  for (const Room& room : routers_) to.push_back({room.fd, POLLIN, 0});
}

void Listener::add_event_fds(std::vector<pollfd>& to) const {
  for (const Room& room : routers_) to.push_back({room.monitor.socket().fd(), POLLIN, 0});
  if (gatekeeper_.socket()) to.push_back({gatekeeper_.socket().fd(), POLLIN, 0});
}

Listener::Events Listener::serve_events() {
  Events events;
  events.refused = gatekeeper_.serve();
  for (Room& room : routers_) {
    for (Monitor::Event event; (event = room.monitor.next()) != Monitor::Event::none;) {
      ++(event == Monitor::Event::refused ? events.refused : events.lost);
    }
  }
  return events;
}

}  // namespace hyphos::transport::zmq
