#include "cosim/physics/mujoco/compile.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace hyphos::cosim {
namespace {

Error bad(Code code, std::string what) { return {code, std::move(what), "mujoco"}; }

}  // namespace

Result<ModelPointer> compile(const std::string& text) {
  mju_user_warning = [](const char*) {};  // World::complaint() reports warnings, so no log file
  // The file system object has several megabytes, so it is on the heap.
  const auto files = std::make_unique<mjVFS>();
  mj_defaultVFS(files.get());
  constexpr const char* kName = "world.xml";
  if (mj_makeEmptyFileVFS(files.get(), kName, static_cast<int>(text.size())) != 0) {
    return bad(Code::exhausted, "cannot pass the model to MuJoCo");
  }
  std::memcpy(files->filedata[files->nfile - 1], text.data(), text.size());
  std::array<char, 500> why{};
  mjModel* model = mj_loadXML(kName, files.get(), why.data(), static_cast<int>(why.size()));
  mj_deleteVFS(files.get());
  if (model == nullptr) return bad(Code::invalid_config, why.data());
  return ModelPointer(model, mj_deleteModel);
}

DataPointer data_of(const mjModel& model) { return {mj_makeData(&model), mj_deleteData}; }

Result<std::string> expanded(const mjModel& model) {
  const int file = ::memfd_create("hyphos-model", MFD_CLOEXEC);
  if (file < 0) return bad(Code::io, std::string("no memory file: ") + std::strerror(errno));
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  std::array<char, 500> why{};
  std::string text;
  const bool saved =
      mj_saveLastXML(path.c_str(), &model, why.data(), static_cast<int>(why.size())) != 0;
  if (saved) {
    std::array<char, 65536> part{};
    ::lseek(file, 0, SEEK_SET);
    for (ssize_t count = 0; (count = ::read(file, part.data(), part.size())) > 0;) {
      text.append(part.data(), static_cast<std::size_t>(count));
    }
  }
  ::close(file);
  if (!saved || text.empty()) return bad(Code::io, std::string("cannot expand it: ") + why.data());
  return text;
}

}  // namespace hyphos::cosim
