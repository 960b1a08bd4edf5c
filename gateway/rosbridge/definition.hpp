#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Parses the definition of a type for tools, in the format of ROS 1 connection headers: the text
/// of the type, then the texts of all types inside it, each after a line of '=' and "MSG:
/// package/Type".
namespace hyphos::gateway::rosbridge {

struct Field {
  std::string name;
  std::string type;  ///< "float32", "geometry_msgs/Point"
  int length = -1;   ///< -1: not an array, 0: any length, otherwise the fixed length
};

struct Constant {
  std::string name;
  std::string value;
};

struct Definition {
  std::string type;
  std::vector<Field> fields;
  std::vector<Constant> constants;
};

/// The definitions of `type` and of the types inside it, `type` first.
[[nodiscard]] std::vector<Definition> read_definitions(std::string_view type,
                                                       std::string_view text);

/// The parts of the built-in time types of ROS, which have no text. nullopt for other types.
[[nodiscard]] std::optional<Definition> time_definition(std::string_view type);

/// Converts positional arguments to an object: [1, "a"] becomes {"x":1,"text":"a"}. Empty if there
/// are more arguments than fields. `args` must be well-formed JSON.
[[nodiscard]] std::string arguments_by_name(const std::vector<std::string_view>& args,
                                            const Definition& request);

/// The TypeDefs of rosapi as a JSON list.
[[nodiscard]] std::string typedefs_json(const std::vector<Definition>& definitions);

}  // namespace hyphos::gateway::rosbridge
