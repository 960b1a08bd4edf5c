#!/usr/bin/env bash
# Makes two "machines" (network namespaces) joined by a link of 1 Gbit/s, runs a command with them
# there, and takes them away again. Needs root.
#   examples/patrol/two_hosts.sh .venv/bin/hyphos run examples/patrol/two_hosts.yaml --for 20
set -euo pipefail
if [ $# -eq 0 ]; then sed -n '2,4s/^# \{0,1\}//p' "$0"; exit 2; fi
if [ "$(id -u)" -ne 0 ]; then echo "two_hosts.sh: needs root, to make network namespaces" >&2; exit 2; fi

remove() { ip netns del hyphos-ugv 2>/dev/null || true; ip netns del hyphos-base 2>/dev/null || true; }
trap remove EXIT
trap 'exit 130' INT TERM
remove
ip netns add hyphos-ugv
ip netns add hyphos-base
ip link add hy-ugv netns hyphos-ugv type veth peer name hy-base netns hyphos-base
for side in "ugv 1" "base 2"; do
  read -r name last <<<"$side"
  # Not `ip -n`, because it mounts, and a chroot may not permit that.
  inside() { nsenter --net="/run/netns/hyphos-$name" "$@"; }
  inside ip addr add "10.77.0.$last/24" dev "hy-$name"
  inside ip link set lo up
  inside ip link set "hy-$name" up
  inside tc qdisc add dev "hy-$name" root tbf rate 1gbit burst 256k latency 50ms
done
"$@"
