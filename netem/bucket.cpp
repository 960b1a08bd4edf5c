#include "netem/bucket.hpp"

#include <linux/if_ether.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>

namespace hyphos::lab {
namespace {

constexpr std::uint32_t kRoot = 0x0001'0000;  // handle 1:

/// A netlink message with attributes.
class Message {
 public:
  explicit Message(unsigned device) {
    header().nlmsg_len = NLMSG_LENGTH(sizeof(tcmsg));
    header().nlmsg_type = RTM_NEWQDISC;
    header().nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE;
    tcmsg place{};
    place.tcm_family = AF_UNSPEC;
    place.tcm_ifindex = static_cast<int>(device);
    place.tcm_handle = kRoot;
    place.tcm_parent = TC_H_ROOT;
    std::memcpy(bytes_.data() + NLMSG_HDRLEN, &place, sizeof place);
  }
  void add(unsigned short kind, const void* data, std::size_t size) {
    const rtattr head{static_cast<unsigned short>(RTA_LENGTH(size)), kind};
    std::byte* const end = bytes_.data() + NLMSG_ALIGN(header().nlmsg_len);
    std::memcpy(end, &head, sizeof head);
    if (size > 0) std::memcpy(end + RTA_LENGTH(0), data, size);
    header().nlmsg_len =
        static_cast<std::uint32_t>(NLMSG_ALIGN(header().nlmsg_len) + RTA_ALIGN(head.rta_len));
  }
  /// Opens a nested attribute. Returns its place for close().
  [[nodiscard]] std::size_t open(unsigned short kind) {
    const std::size_t place = NLMSG_ALIGN(header().nlmsg_len);
    add(kind, nullptr, 0);
    return place;
  }
  void close(std::size_t place) {
    const auto size = static_cast<unsigned short>(header().nlmsg_len - place);
    std::memcpy(bytes_.data() + place, &size, sizeof size);  // rta_len comes first
  }
  [[nodiscard]] const void* data() const { return bytes_.data(); }
  [[nodiscard]] std::size_t size() const {
    return reinterpret_cast<const nlmsghdr*>(bytes_.data())->nlmsg_len;
  }

 private:
  nlmsghdr& header() { return *reinterpret_cast<nlmsghdr*>(bytes_.data()); }

  alignas(nlmsghdr) std::array<std::byte, 512> bytes_{};
};

Error failed(int number) {
  return {Code::io,
          std::string("the send rate of the device cannot be limited: ") + std::strerror(number),
          "tbf"};
}

}  // namespace

Result<void> set_bucket(int route, unsigned device, const Bucket& bucket) {
  Message message(device);
  message.add(TCA_KIND, "tbf", sizeof "tbf");
  tc_sizespec size{};
  size.overhead = static_cast<int>(bucket.overhead);
  size.linklayer = TC_LINKLAYER_ETHERNET;
  const std::size_t sizes = message.open(TCA_STAB);
  message.add(TCA_STAB_BASE, &size, sizeof size);
  message.close(sizes);
  tc_tbf_qopt options{};
  options.rate.linklayer = TC_LINKLAYER_ETHERNET;
  options.rate.rate = static_cast<std::uint32_t>(
      std::clamp(bucket.bytes_per_second, 1.0,
                 static_cast<double>(std::numeric_limits<std::uint32_t>::max())));
  options.limit = bucket.limit;
  const std::size_t nested = message.open(TCA_OPTIONS);
  message.add(TCA_TBF_PARMS, &options, sizeof options);
  message.add(TCA_TBF_BURST, &bucket.burst, sizeof bucket.burst);
  message.close(nested);
  if (::send(route, message.data(), message.size(), 0) < 0) return failed(errno);
  alignas(nlmsghdr) std::array<std::byte, 1024> reply{};
  const ssize_t got = ::recv(route, reply.data(), reply.size(), 0);
  if (got < 0) return failed(errno);
  const auto* head = reinterpret_cast<const nlmsghdr*>(reply.data());
  if (static_cast<std::size_t>(got) < NLMSG_LENGTH(sizeof(nlmsgerr)) ||
      head->nlmsg_type != NLMSG_ERROR) {
    return failed(EBADMSG);
  }
  const auto* error = reinterpret_cast<const nlmsgerr*>(NLMSG_DATA(head));
  return error->error == 0 ? success() : Result<void>(failed(-error->error));
}

}  // namespace hyphos::lab
