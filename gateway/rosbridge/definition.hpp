#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What tools ask of a type's definition, as connection headers of ROS 1 carry it: the type's own
/// text, then those of all types in it, each behind a line of '=' and "MSG: package/Type".
namespace hyphos::gateway::rosbridge {

struct Field {
  std::string name;
  std::string type;  ///< "float32", "geometry_msgs/Point"
  int length = -1;   ///< -1: one; 0: any number; else so many
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

/// Of `type` and those in it that the text has, `type` first.
[[nodiscard]] std::vector<Definition> read_definitions(std::string_view type,
                                                       std::string_view text);

/// What ROS's own times are made of, for which there is no text; nothing for other types.
[[nodiscard]] std::optional<Definition> time_definition(std::string_view type);

/// A list of positional arguments as an object: [1, "a"] becomes {"x":1,"text":"a"}. Empty if there
/// are more of them than fields. `args` is JSON without errors in its structure.
[[nodiscard]] std::string arguments_by_name(const std::vector<std::string_view>& args,
                                            const Definition& request);

/// rosapi's TypeDefs as a JSON list.
[[nodiscard]] std::string typedefs_json(const std::vector<Definition>& definitions);

}  // namespace hyphos::gateway::rosbridge
