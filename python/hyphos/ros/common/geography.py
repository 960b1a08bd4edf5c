"""geographic_msgs with its identifiers, and positions on Earth."""

from __future__ import annotations

_COVARIANCE = "float64[36] covariance\n"

BOTH = {
    "geographic_msgs/msg/GeoPoint": "float64 latitude\nfloat64 longitude\nfloat64 altitude\n",
    "geographic_msgs/msg/GeoPointStamped": (
        "std_msgs/Header header\ngeographic_msgs/GeoPoint position\n"
    ),
    "geographic_msgs/msg/GeoPose": (
        "geographic_msgs/GeoPoint position\ngeometry_msgs/Quaternion orientation\n"
    ),
    "geographic_msgs/msg/GeoPoseStamped": (
        "std_msgs/Header header\ngeographic_msgs/GeoPose pose\n"
    ),
    "geographic_msgs/msg/GeoPoseWithCovariance": f"geographic_msgs/GeoPose pose\n{_COVARIANCE}",
    "geographic_msgs/msg/GeoPoseWithCovarianceStamped": (
        "std_msgs/Header header\ngeographic_msgs/GeoPoseWithCovariance pose\n"
    ),
    "geographic_msgs/msg/GeoPath": (
        "std_msgs/Header header\ngeographic_msgs/GeoPoseStamped[] poses\n"
    ),
    "geographic_msgs/msg/BoundingBox": (
        "geographic_msgs/GeoPoint min_pt\ngeographic_msgs/GeoPoint max_pt\n"
    ),
    "geographic_msgs/msg/KeyValue": "string key\nstring value\n",
    "geographic_msgs/msg/MapFeature": """\
{uuid} id
{uuid}[] components
geographic_msgs/KeyValue[] props
""",
    "geographic_msgs/msg/WayPoint": """\
{uuid} id
geographic_msgs/GeoPoint position
geographic_msgs/KeyValue[] props
""",
    "geographic_msgs/msg/GeographicMap": """\
std_msgs/Header header
{uuid} id
geographic_msgs/BoundingBox bounds
geographic_msgs/WayPoint[] points
geographic_msgs/MapFeature[] features
geographic_msgs/KeyValue[] props
""",
    "geographic_msgs/msg/GeographicMapChanges": """\
std_msgs/Header header
geographic_msgs/GeographicMap diffs
{uuid}[] deletes
""",
    "geographic_msgs/msg/RouteSegment": """\
{uuid} id
{uuid} start
{uuid} end
geographic_msgs/KeyValue[] props
""",
    "geographic_msgs/msg/RoutePath": """\
std_msgs/Header header
{uuid} network
{uuid}[] segments
geographic_msgs/KeyValue[] props
""",
    "geographic_msgs/msg/RouteNetwork": """\
std_msgs/Header header
{uuid} id
geographic_msgs/BoundingBox bounds
geographic_msgs/WayPoint[] points
geographic_msgs/RouteSegment[] segments
geographic_msgs/KeyValue[] props
""",
    "geographic_msgs/srv/GetGeoPath": """\
geographic_msgs/GeoPoint start
geographic_msgs/GeoPoint goal
---
bool success
string status
geographic_msgs/GeoPath plan
{uuid} network
{uuid} start_seg
{uuid} goal_seg
float64 distance
""",
    "geographic_msgs/srv/GetGeographicMap": """\
string url
geographic_msgs/BoundingBox bounds
---
bool success
string status
geographic_msgs/GeographicMap map
""",
    "geographic_msgs/srv/GetRoutePlan": """\
{uuid} network
{uuid} start
{uuid} goal
---
bool success
string status
geographic_msgs/RoutePath plan
""",
    "geographic_msgs/srv/UpdateGeographicMap": """\
geographic_msgs/GeographicMapChanges updates
---
bool success
string status
""",
}


def _with(uuid: str) -> dict[str, str]:
    return {name: text.replace("{uuid}", uuid) for name, text in BOTH.items() if "{uuid}" in text}


ROS1 = {
    "uuid_msgs/msg/UniqueID": "uint8[16] uuid\n",
    **_with("uuid_msgs/UniqueID"),
}
ROS2 = _with("unique_identifier_msgs/UUID")
