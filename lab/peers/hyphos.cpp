// Hyphos through its public API. In process, a shared pointer travels, as over the bare oneTBB
// edge. Between processes, bytes are written into a loan, and a hop forwards the received message.
// Queues hold 64 messages (4 large messages, 1024 in the in-process flood). `shm`, `ipc` and `tcp`
// run their callbacks inline, like the receiving threads of the other peers. The variants with
// protobuf of `ipc` and `tcp` run them serially, as the HyperGraph ROS paper.

#include "hyphos/hyphos.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include "hyphos/msgs/sensor.pb.h"
#include "lab/common/main.hpp"

namespace hyphos::lab {
namespace {

constexpr std::size_t kLarge = 8u << 20;

// One method to create, send and read messages, independent of the edge. A process has at most one
// publisher and one subscriber.
class Carrier {
 public:
  virtual ~Carrier() = default;
  virtual void advertise(const Node& node, const std::string& channel,
                         const PublisherOptions& options) = 0;
  virtual void listen(const Node& node, const std::string& channel,
                      const SubscriptionOptions& options, OnMessage on_message) = 0;
  virtual void publish(std::size_t size, Fill fill) = 0;
  virtual void forward() = 0;  // forwards the message whose callback is running
};

void expect(const Published& published) {
  if (!published)
    throw std::runtime_error("publish: " + std::string(to_string(*published.failure)));
}

// The common part: the endpoints, and the message in the current callback.
template <typename T>
class TypedCarrier : public Carrier {
 public:
  void advertise(const Node& node, const std::string& channel,
                 const PublisherOptions& options) override {
    publisher_.emplace(node.publisher<T>(channel, options));
  }
  void listen(const Node& node, const std::string& channel, const SubscriptionOptions& options,
              OnMessage on_message) override {
    on_message_ = std::move(on_message);
    node.subscribe<T>(channel, options, [this](const Message<T>& message) {
      received_ = &message;
      read(*message);
    });
  }
  void forward() override { expect(publisher_->publish(*received_)); }

 protected:
  virtual void read(const T& value) = 0;

  std::optional<Publisher<T>> publisher_;
  OnMessage on_message_;

 private:
  const Message<T>* received_ = nullptr;
};

// In process: an object that points to its payload, as in peers/tbb.cpp.
struct Pointed {
  std::byte header[sizeof(Header)];
  const std::byte* payload;
  std::size_t size;
};

class PointerCarrier final : public TypedCarrier<Pointed> {
 public:
  explicit PointerCarrier(std::size_t size) {
    for (auto& block : blocks_) block = std::make_unique<std::byte[]>(size);
  }
  void publish(std::size_t size, Fill fill) override {
    auto message = std::make_shared<Pointed>();
    fill(message->header);
    message->payload = blocks_[next_++ % std::size(blocks_)].get();
    message->size = size;
    expect(publisher_->publish(std::shared_ptr<const Pointed>(std::move(message))));
  }

 private:
  void read(const Pointed& value) override {
    touch(value.payload + value.size - 1);
    on_message_(value.header, value.size);
  }

  std::unique_ptr<std::byte[]> blocks_[16];
  std::size_t next_ = 0;
};

class BytesCarrier final : public TypedCarrier<Buffer> {
 public:
  void publish(std::size_t size, Fill fill) override {
    WritableBuffer memory = publisher_->loan_bytes(size);
    fill(memory.data());
    expect(publisher_->publish(std::move(memory).freeze()));
  }

 private:
  void read(const Buffer& value) override { on_message_(value.data(), value.size()); }
};

// An image: a protobuf head, and the pixels in a separate buffer.
class AttachedCarrier final : public TypedCarrier<Attached<msgs::Image>> {
 public:
  void publish(std::size_t size, Fill fill) override {
    Attached<msgs::Image> image;
    image.head.mutable_header()->set_frame_id("camera");
    image.head.set_width(static_cast<std::uint32_t>(size));
    image.head.set_height(1);
    WritableBuffer pixels = publisher_->loan_bytes(size);
    fill(pixels.data());
    image.buffers.push_back(std::move(pixels).freeze());
    expect(publisher_->publish(std::move(image)));
  }

 private:
  void read(const Attached<msgs::Image>& value) override {
    on_message_(value.buffers[0].data(), value.buffers[0].size());
  }
};

// A protobuf message: serialized once and parsed once. The header is in the first ranges.
class ScanCarrier final : public TypedCarrier<msgs::LaserScan> {
 public:
  explicit ScanCarrier(std::size_t size) {
    scan_->mutable_header()->set_frame_id("laser");
    scan_->set_range_max(30);
    scan_->mutable_ranges()->Resize(static_cast<int>(size / sizeof(float)), 1.0F);
  }
  void publish(std::size_t, Fill fill) override {
    // The last message was serialized before publish() returned, because its subscriber is in
    // another process.
    fill(reinterpret_cast<std::byte*>(scan_->mutable_ranges()->mutable_data()));
    expect(publisher_->publish(std::shared_ptr<const msgs::LaserScan>(scan_)));
  }

 private:
  const std::shared_ptr<msgs::LaserScan> scan_ = std::make_shared<msgs::LaserScan>();

  void read(const msgs::LaserScan& value) override {
    on_message_(value.ranges().data(),
                static_cast<std::size_t>(value.ranges_size()) * sizeof(float));
  }
};

// A separate struct type for each measured size.
template <std::size_t Size>
struct Block {
  Block() {}  // NOLINT(modernize-use-equals-default): do not zero a loan
  alignas(64) std::byte bytes[Size];
};

template <std::size_t Size>
class StructCarrier final : public TypedCarrier<Block<Size>> {
 public:
  void publish(std::size_t, Fill fill) override {
    Loan<Block<Size>> loan = this->publisher_->loan();
    fill(loan->bytes);
    expect(this->publisher_->publish(std::move(loan)));
  }

 private:
  void read(const Block<Size>& value) override { this->on_message_(value.bytes, Size); }
};

std::unique_ptr<Carrier> struct_carrier(std::size_t size) {
  switch (size) {
    case 1024:
      return std::make_unique<StructCarrier<1024>>();
    case 4096:
      return std::make_unique<StructCarrier<4096>>();
    case 65536:
      return std::make_unique<StructCarrier<65536>>();
    case 1 << 20:
      return std::make_unique<StructCarrier<1 << 20>>();
    case 4 << 20:
      return std::make_unique<StructCarrier<4 << 20>>();
    case 32 << 20:
      return std::make_unique<StructCarrier<32 << 20>>();
    default:
      throw std::invalid_argument("shm_struct has no struct of this size");
  }
}

class HyphosPeer : public Peer {
 public:
  static constexpr const char* kName = "hyphos";
  static std::vector<Variant> variants() {
    const std::vector<Shape> inside = {Shape::kInproc, Shape::kInprocFlood};
    return {{"serial", inside},
            {"concurrent", inside},
            {"inline", inside},
            {"shm", kBetweenProcesses},
            {"shm_serial", kBetweenProcesses},
            {"shm_struct", {Shape::kPair}, 64u << 20, false, false, false},
            {"shm_attached", {Shape::kPair}},
            {"shm_protobuf", {Shape::kPair}, 64u << 20, false, false, false},
            {"ipc", kBetweenProcesses},
            {"ipc_protobuf", {Shape::kPair}, 64u << 20, false, false, false},
            {"tcp", kBetweenProcesses, 64u << 20, false, true, true, true},
            {"tcp_protobuf", {Shape::kPair}, 64u << 20, false, true, false}};
  }

  explicit HyphosPeer(const Options& options) : Peer(options), carrier_(make_carrier()) {
    RuntimeOptions how;
    how.domain = "lab" + std::to_string(options.run_id);
    how.process = process_name(options.role, options.index);
    how.offline = options.in_process();
    if (over_sockets() || !options.faults.empty()) how.plan_file = write_plan();
    runtime_.emplace(Runtime::open(std::move(how)).or_throw());
    node_.emplace(runtime_->node(process_name(options.role, options.index)).or_throw());
  }
  ~HyphosPeer() override {
    node_->close();
    carrier_.reset();  // its publisher keeps the channel and the transport alive
    node_.reset();
    runtime_.reset();
    // The domain belongs to this run. Its folder is empty for the last process.
    std::error_code error;
    if (!options_.in_process()) {
      std::filesystem::remove(
          "/dev/shm/hyphos-" + std::to_string(getuid()) + "/lab" + std::to_string(options_.run_id),
          error);
    }
  }

  void open_publisher(const Edge& edge) override {
    PublisherOptions how;
    how.policy = policy(edge.block);
    carrier_->advertise(*node_, edge.name, how);
  }
  void open_subscriber(const Edge& edge, OnMessage on_message) override {
    SubscriptionOptions how;
    how.policy = policy(edge.block);
    how.mode = mode();
    carrier_->listen(*node_, edge.name, how, std::move(on_message));
  }
  void publish(std::size_t size, Fill fill) override { carrier_->publish(size, fill); }
  void forward(const void*, std::size_t) override { carrier_->forward(); }

 private:
  [[nodiscard]] std::unique_ptr<Carrier> make_carrier() const {
    if (options_.in_process()) return std::make_unique<PointerCarrier>(options_.size);
    if (options_.variant == "shm_struct") return struct_carrier(options_.size);
    if (options_.variant == "shm_attached") return std::make_unique<AttachedCarrier>();
    if (options_.variant.ends_with("_protobuf"))
      return std::make_unique<ScanCarrier>(options_.size);
    return std::make_unique<BytesCarrier>();
  }

  [[nodiscard]] Mode mode() const {
    const std::string& name = options_.variant;
    if (name == "concurrent") return Mode::concurrent;
    const bool as_paper = over_sockets() && name.ends_with("_protobuf");
    return as_paper || name == "serial" || name == "shm_serial" ? Mode::serial : Mode::inline_;
  }

  [[nodiscard]] Policy policy(bool block) const {
    const bool reliable = block || options_.wanted_reliability() == lab::Reliability::kReliable;
    if (reliable) {
      return reliable_policy(
          static_cast<std::uint32_t>(options_.queue_or(options_.in_process() ? 1024 : 16)));
    }
    Policy policy;
    policy.depth = static_cast<std::uint32_t>(options_.queue_or(options_.size >= kLarge ? 4 : 64));
    return policy;
  }

  [[nodiscard]] bool over_sockets() const {
    return options_.variant.starts_with("ipc") || options_.variant.starts_with("tcp");
  }
  /// True if this process must know the processes with this index. In an echo, this is only the
  /// other half of its own pair, so that there may be more pairs than a plan has processes.
  [[nodiscard]] bool meets(int index) const {
    return options_.shape != lab::Shape::kEcho || index == options_.index;
  }
  /// The plan of the processes that this process communicates with, each with an endpoint, and the
  /// channels between them.
  [[nodiscard]] std::filesystem::path write_plan() const {
    struct Process {
      std::string name;
      std::string address;
      int port;
    };
    std::vector<Process> processes;
    int port = 0;
    const auto add = [&](const std::string& role, int count) {
      for (int i = 0; i < count; ++i, ++port) {
        if (!meets(i)) continue;
        processes.push_back(
            {process_name(role, i), options_.address_of(role, i), options_.port(port)});
      }
    };
    add("pub", options_.sources());
    add("hop", options_.hops());
    add("sub", options_.sinks());
    const std::string path =
        options_.run_dir + "/" + process_name(options_.role, options_.index) + ".yaml";
    std::ofstream plan(path);
    std::map<std::string, std::string> hosts;
    for (const auto& one : processes)
      hosts.emplace(one.address, "h" + std::to_string(hosts.size()));
    plan << "hyphos: 1\nhosts:\n";
    for (const auto& [address, name] : hosts)
      plan << "  " << name << ": {address: " << address << "}\n";
    plan << "processes:\n";
    for (const auto& [name, address, own_port] : processes) {
      plan << "  " << name << ": {host: " << hosts.at(address) << ", threads: 2";
      if (options_.variant.starts_with("tcp")) {
        plan << ", endpoint: \"tcp://" << address << ":" << own_port << "\"";
      } else if (options_.variant.starts_with("ipc")) {
        plan << ", endpoint: \"ipc://" << options_.run_dir << "/" << name << ".ipc\"";
      }
      plan << "}\n";
    }
    if (!options_.faults.empty()) plan << "network:\n  faults: " << options_.faults << "\n";
    plan << "nodes:\n";
    for (const auto& one : processes)
      plan << "  " << one.name << ": {process: " << one.name << "}\n";
    plan << "channels:\n";
    const bool echoes = options_.shape == lab::Shape::kEcho;
    for (int i = 0; i < options_.edges(); ++i) {
      if (meets(echoes ? i / 2 : i)) write_channel(plan, i);
    }
    return path;
  }

  void write_channel(std::ostream& plan, int index) const {
    const auto list = [](const std::vector<std::string>& names) {
      std::string text;
      for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
      return "[" + text + "]";
    };
    const EdgeEnds ends = ends_of(options_, index);
    const Policy how = policy(options_.floods());
    plan << "  " << make_edge(options_, index, 0).name
         << ": {transport: " << (over_sockets() ? "zmq" : "shm")
         << ", publishers: " << list(ends.publishers) << ", subscribers: " << list(ends.subscribers)
         << ", depth: " << how.depth;
    if (how.reliability == hyphos::Reliability::reliable) plan << ", reliability: reliable";
    plan << "}\n";
  }

  std::unique_ptr<Carrier> carrier_;
  std::optional<Runtime> runtime_;
  std::optional<Node> node_;
};

}  // namespace
}  // namespace hyphos::lab

int main(int argc, char** argv) {
  return hyphos::lab::lab_main<hyphos::lab::HyphosPeer>(argc, argv);
}
