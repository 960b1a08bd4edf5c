// The service through which tools change a running process, and its client.
#include "node/runtime/process_service.hpp"

#include <array>
#include <cstdio>

#include "hyphos/control/control.pb.h"
#include "hyphos/service.hpp"
#include "node/runtime/runtime_impl.hpp"

namespace hyphos {
namespace {

using control::v1::ChangeChannel;
using control::v1::ChannelState;

Result<void> apply(const ChangeChannel& change, Runtime::Impl& runtime) {
  if (change.places() > static_cast<std::uint32_t>(Where::both)) {
    return Error{Code::unsupported, "the request is from a newer version of Hyphos",
                 change.channel()};
  }
  const auto places = static_cast<Where>(change.places());
  if (!change.peer().empty()) {
    return runtime.set_peer_open(change.channel(), change.peer(), change.open());
  }
  return runtime.graph().with_channel(change.channel(), [&](graph::Channel& channel) {
    if (change.only()) {
      channel.set_open(places);
    } else {
      channel.set_open(places, change.open());
    }
  });
}

Result<ChannelState> answer(const ChangeChannel& change, Runtime::Impl& runtime) {
  if (auto changed = apply(change, runtime); !changed) return changed.error();
  ChannelState state;
  auto read = runtime.graph().with_channel(change.channel(), [&](graph::Channel& channel) {
    state.set_places(static_cast<std::uint32_t>(channel.open_places()));
  });
  if (!read) return read.error();
  return state;
}

}  // namespace

std::string control::service_of(std::uint64_t participant) {
  std::array<char, 32> name{};
  std::snprintf(name.data(), name.size(), "_process/p%llx",
                static_cast<unsigned long long>(participant));
  return name.data();
}

Result<void> control::serve(const Node& node, Runtime::Impl& runtime, std::uint64_t participant) {
  try {
    (void)node.service<ChangeChannel, ChannelState>(
        service_of(participant),
        [&runtime](const ChangeChannel& change) { return answer(change, runtime); });
  } catch (const Exception& error) {
    return error.error();
  }
  return success();
}

Result<Where> Node::change_channel(std::uint64_t participant, const ChannelChange& change,
                                   Duration timeout) const {
  ChangeChannel request;
  request.set_channel(change.channel);
  request.set_open(change.open);
  request.set_places(static_cast<std::uint32_t>(change.where));
  request.set_only(change.only);
  request.set_peer(change.peer);
  try {
    const std::string service = control::service_of(participant);
    const auto client = this->client<ChangeChannel, ChannelState>(service);
    const auto state = client.call(std::move(request), timeout);
    if (!state && state.error().code == Code::not_found && state.error().where == service) {
      return Error{Code::not_found,
                   "it runs without a plan, so only its program can open and close channels",
                   change.channel};
    }
    if (!state) return state.error();
    return static_cast<Where>(state->places() & static_cast<std::uint32_t>(Where::both));
  } catch (const Exception& error) {
    return error.error();
  }
}

}  // namespace hyphos
