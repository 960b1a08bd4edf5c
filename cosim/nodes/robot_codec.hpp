#pragma once

#include "cosim/nodes/robot.hpp"
#include "cosim/remote/codec.hpp"

/// The protocol between the engine and the process of a robot.
namespace hyphos::cosim {

/// `quit` has the value of Request::quit, because every Worker ends its process with it.
enum class RobotRequest : std::uint8_t {
  quit = static_cast<std::uint8_t>(Request::quit),
  channels,
  wire,
  step,
  drops,
};

void put_channels(Writer& writer, const std::vector<OpenChannel>& channels);
[[nodiscard]] std::vector<OpenChannel> get_channels(Reader& reader);
void put_wiring(Writer& writer, const Wiring& wiring);
[[nodiscard]] Wiring get_wiring(Reader& reader);
void put_input(Writer& writer, const RobotInput& input);
[[nodiscard]] RobotInput get_input(Reader& reader);
void put_output(Writer& writer, const RobotOutput& output);
[[nodiscard]] RobotOutput get_output(Reader& reader);
void put_drops(Writer& writer, const std::vector<RobotDrops>& drops);
[[nodiscard]] std::vector<RobotDrops> get_drops(Reader& reader);

}  // namespace hyphos::cosim
