#!/usr/bin/env bash
# Draws the map of a recorded building: a CARMEN log (.log, .log.gz) or a ROS recording with
# laser scans (.bag, .mcap, .db3).
#   examples/real_building/map_recording.sh RECORDING [MAP.png] [KEY=VALUE]...
# KEY=VALUE changes the plan, e.g. nodes.frames.params.tilt_frame=tilt_axis for a nodding laser.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -eq 0 ]; then sed -n '2,5s/^# \{0,1\}//p' "$0"; exit 2; fi
recording=$(realpath -e "$1") || exit 2
picture=$(realpath "${2:-map.png}")
settings=(--set "nodes.mapper.params.map_file=$picture")
for setting in "${@:3}"; do
  settings+=(--set "$setting")
done
hyphos=${HYPHOS:-$here/../../.venv/bin/hyphos}

case $recording in
  *.log | *.log.gz)
    exec "$hyphos" run "$here/carmen.yaml" --set "nodes.reader.params.file=$recording" "${settings[@]}" ;;
  *.bag | *.mcap | *.db3)
    # In lock-step the mapper has finished with a scan before the next one follows, so none is lost.
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    "$hyphos" replay "$recording" --lockstep "$here/bag.yaml" --node frames --node mapper \
      -o "$folder/outputs.mcap" "${settings[@]}" | sed "\|^$folder|d" ;;
  *) echo "map_recording.sh: $recording is neither a CARMEN log nor a ROS recording" >&2; exit 2 ;;
esac
