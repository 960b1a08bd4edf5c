#!/usr/bin/env bash
# Makes two machines (network namespaces) with a link between them, runs robot 2 on the second and
# robot 1 on the first, and removes them afterwards. Needs root.
#   examples/19_move/two_robots.sh .venv/bin/python
set -euo pipefail
if [ $# -ne 1 ]; then sed -n '2,4s/^# \{0,1\}//p' "$0"; exit 2; fi
if [ "$(id -u)" -ne 0 ]; then echo "two_robots.sh: needs root, to make network namespaces" >&2; exit 2; fi

here=$(dirname "$(realpath "$0")")
run="$$"  # two runs at once have machines of their own
other=
remove() {
  if [ -n "$other" ]; then kill "$other" 2>/dev/null || true; wait "$other" || true; fi
  ip netns del "hyphos-robot1-$run" 2>/dev/null || true
  ip netns del "hyphos-robot2-$run" 2>/dev/null || true
}
trap remove EXIT
trap 'exit 130' INT TERM
# Not `ip -n` and `ip netns exec`, because they mount, and a chroot may not permit that.
on() { local robot=$1; shift; nsenter --net="/run/netns/hyphos-robot$robot-$run" "$@"; }
ip netns add "hyphos-robot1-$run"
ip netns add "hyphos-robot2-$run"
ip link add eth0 netns "hyphos-robot1-$run" type veth peer name eth0 netns "hyphos-robot2-$run"
for robot in 1 2; do
  on "$robot" ip addr add "10.78.0.$robot/24" dev eth0
  on "$robot" ip link set lo up
  on "$robot" ip link set eth0 up
done
plan() { echo --hyphos-plan "$here/robot$1.yaml" --hyphos-domain "robot$1-$run"; }
# shellcheck disable=SC2046 # separate words
nsenter --net="/run/netns/hyphos-robot2-$run" "$1" "$here/global_optimization.py" $(plan 2) &
other=$!  # nsenter becomes this program
# shellcheck disable=SC2046
on 1 "$1" "$here/robot1.py" $(plan 1)
