"""The definitions of common packages, compared with the sums that ROS has published for them, and
the counterparts of packages that only one version of ROS has."""

from __future__ import annotations

from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from hyphos.ros import known
from hyphos.ros.common import definitions
from hyphos.ros.counterparts import counterparts
from hyphos.ros.definition import Flavour, Name
from hyphos.ros.derived import services
from hyphos.ros.known import descriptors, known_folders
from hyphos.ros.library import Library
from ros_corpus import write_package

# Each sum is in generated code that Debian's packages or public repositories contain.
SUMS = """
ackermann_msgs/AckermannDrive 3512e91b48d69674a0e86fadf1ea8231
ackermann_msgs/AckermannDriveStamped 1fd5d7f58889cefd44d29f6653240d0c
actionlib_tutorials/AveragingActionFeedback 78a4a09241b1791069223ae7ebd5b16b
actionlib_tutorials/FibonacciActionFeedback 73b8497a9f629a31c0020900e4148f07
actionlib_tutorials/FibonacciActionGoal 006871c7fa1d0e3d5fe2226bf17b2a94
actionlib_tutorials/FibonacciActionResult bee73a9fe29ae25e966e105f5553dd03
control_msgs/FollowJointTrajectoryActionGoal cff5c1d533bf2f82dd0138d57f4304bb
control_msgs/FollowJointTrajectoryFeedback 10817c60c2486ef6b33e97dcd87f4474
control_msgs/FollowJointTrajectoryGoal 69636787b6ecbde4d61d711979bc7ecb
control_msgs/FollowJointTrajectoryResult 493383b18409bfb604b4e26c676401d2
control_msgs/GripperCommand 680acaff79486f017132a7f198d40f08
control_msgs/GripperCommandActionGoal aa581f648a35ed681db2ec0bf7a82bea
control_msgs/JointControllerState 987ad85e4756f3aef7f1e5e7fe0595d1
control_msgs/JointJog 1685da700c8c2e1254afc92a5fb89c96
control_msgs/JointTolerance f544fe9c16cf04547e135dd6063ff5be
control_msgs/PidState b138ec00e886c10e73f27e8712252ea6
control_msgs/PointHeadGoal 8b92b1cd5e06c8a94c917dc3209a4c1d
control_msgs/QueryCalibrationState 28af3beedcb84986b8e470dc5470507d
control_msgs/QueryTrajectoryState ec93cdecbd8062d761aa52b7c90cd44b
controller_manager_msgs/ListControllers 1341feb2e63fa791f855565d0da950d8
controller_manager_msgs/SwitchController b29a7abc673b2c54c14b54e50f8d06a5
diagnostic_msgs/AddDiagnostics e6ac9bbde83d0d3186523c3687aecaee
diagnostic_msgs/SelfTest ac21b1bab7ab17546986536c22eb34e9
dynamic_reconfigure/Reconfigure bb125d226a21982a4a98760418dc2672
geographic_msgs/GeoPoint c48027a852aeff972be80478ff38e81a
geographic_msgs/GeoPoseStamped cc409c8ed6064d8a846fa207bf3fba6b
geographic_msgs/GeographicMapChanges 4fd027f54298203ec12aa1c4b20e6cb8
geographic_msgs/GetGeoPath ee0dbd181711a70f823cc5d415fa609b
geographic_msgs/RouteNetwork fd717c0a34a7c954deed32c6847f30a8
map_msgs/OccupancyGridUpdate b295be292b335c34718bd939deebe1c9
move_base_msgs/MoveBaseActionFeedback 7d1870ff6e0decea702b943b5af0b42e
move_base_msgs/MoveBaseGoal 257d089627d7eb7136c24d3593d05a16
moveit_msgs/CollisionObject dbba710596087da521c07564160dfccb
moveit_msgs/ContactInformation 116228ca08b0c286ec5ca32a50fdc17b
moveit_msgs/ExecuteTrajectoryActionGoal 36f350977c67bc94e8cd408452bad0f0
moveit_msgs/GetMotionPlan 29c3c85c8a4c241f7588a9b4da235097
moveit_msgs/GetPlanningScene 65cf69d3e7a0342e16374024d4eeef65
moveit_msgs/GetPositionIK 185001c352b2e96cb475d82048e9df9a
moveit_msgs/GetStateValidity 06ea62db671e4dbf878eaca241db51ad
moveit_msgs/MotionPlanRequest 9544d5f3b9cf69a0e1e7f8c75d87f54b
moveit_msgs/MotionSequenceResponse 3cfbd71b06d8199bf604ebb8d6627be1
moveit_msgs/MoveGroupActionGoal 152e336e337dce7cbe639f1bd9c65def
moveit_msgs/MoveGroupActionResult e8f0259d9c66fae7820b6818cc47d807
moveit_msgs/MoveItErrorCodes 35a153d4489afb90a182bbf874ecc0f3
moveit_msgs/PlanningScene acfc50bcfd6c7b978066bfa7c786002c
nav_msgs/GetMap 6cdd0a18e0aff5b0a3ca2326a89b54ff
nav_msgs/GetPlan 421c8ea4d21c6c9db7054b4bbdf1e024
nav_msgs/SetMap c36922319011e63ed7784112ad4fdd32
octomap_msgs/GetOctomap be9d2869d24fe40d6bc21ac21f6bb2c5
octomap_msgs/Octomap 9a45536b45c5e409cd49f04bb2d9999f
octomap_msgs/OctomapWithPose 20b380aca6a508a657e95526cddaf618
roscpp/GetLoggers 32e97e85527d4678a8f9279894bb64b0
roscpp/SetLoggerLevel 51da076440d78ca1684d36c868df61ea
rospy_tutorials/AddTwoInts 6a2e34150c00229791cc89ff309fff21
rospy_tutorials/Floats 420cd38b6b071cd49f2970c3e2cee511
sensor_msgs/SetCameraInfo bef1df590ed75ed1f393692395e15482
std_srvs/Empty d41d8cd98f00b204e9800998ecf8427e
std_srvs/SetBool 09fb03525b03e7ea1fd3992bafd87e16
std_srvs/Trigger 937c9679a518e3a18d831e57125ea522
tf2_msgs/FrameGraph 437ea58e9463815a0d511c7326b686b0
tf2_msgs/LookupTransformGoal 35e3720468131d675a18bb6f3e5f22f8
tf2_msgs/TF2Error bc6848fd6fd750c92e38575618a4917d
tf2_msgs/TFMessage 94810edda583a504dfda3829e70d7eec
turtlesim/Pose 863b248d5016ca62ea2e895ae5265cf9
turtlesim/SetPen 9f452acce566bf0c0954594f69a8e41b
turtlesim/Spawn 0b2d2e872a8e2887d5ed626f2bf2c561
uuid_msgs/UniqueID fec2a93b6f5367ee8112c9c0b41ff310
"""

# Each hash is in generated code that public repositories contain.
HASHES = """
ackermann_msgs/msg/AckermannDrive acf287a224a947dd1b0b87d6d76cdb73f497b0237b8fc73be2173b2ebbb82c99
action_msgs/srv/CancelGoal 573d8b0a534451d7bc2ac8c5ffde8ac14b8593b7001175d0cd6516dcbeb8689a
composition_interfaces/srv/LoadNode 2e521ef6066fba6d7fc3a3b175d486709f01b4d738d9a59188858546fc8e5acd
control_msgs/action/FollowJointTrajectory
738ebcb7a2d7cfa42f9f1001cc99ce3a4383d1cfe508015d9be8485e4b1c66f6
control_msgs/action/FollowJointTrajectory_GetResult
e3ceb38e3e1867c8dc0f46014df26e90eb93422f27e9e97f936e07f94be4bc8b
control_msgs/action/FollowJointTrajectory_SendGoal
b13789dddc325a7a962825c45e28c77d37237ec129dd0c34dc5994562938c57f
control_msgs/action/GripperCommand e17c0e644eccf14bea84a0a93e0977182872c2eb7873ca6694900059b46dbc84
control_msgs/action/JointTrajectory 8db0176d9778d501036234e238568b82af95ce3f69271592fbf9887ca9421380
control_msgs/action/PointHead 7074c3bddad393f3db72da02a8bb0fe3d832c21447452694b496965bdbfc9cc1
control_msgs/action/SingleJointPosition
1b330d11638c0b1d3228cc80b1123e5b3db3d24592e95429812bf30056e3db7b
control_msgs/msg/DynamicJointState 18024c98a62697680f581108eeed40b28fb4542fa0ac5a8e36f56c62b6813d26
control_msgs/msg/JointControllerState
1f6ee64b3b1f1947951f34694f8e19a10ea32f34fe3552df26514f8b30976e90
control_msgs/msg/JointJog ba249455a20f70168a1acb7bf43b776b72ff1f7eb5fc4cfea443f749e963c6e7
diagnostic_msgs/srv/SelfTest df1e4e54a814a16ccc77471e9239618d46818e8d0e3b45ad6f8c34c6e2abfef6
example_interfaces/action/Fibonacci 9508051da1ea4658de144b09bd0690ff3de52104683d847aed764d2915906f51
example_interfaces/srv/AddTwoInts e118de6bf5eeb66a2491b5bda11202e7b68f198d6f67922cf30364858239c81a
geographic_msgs/msg/GeoPoint 602c647cf87bbe95a0231b459b5ac30051875d07c0c740b31ad7a8c4662b971e
geographic_msgs/msg/RouteNetwork a59545219389a59cb70ba02c18b3b15448d681a1c9cd19f5e23a306acea6ffba
lifecycle_msgs/srv/ChangeState 356fe34f0475a43acf54542013af4167b0e729f77ea22ffb045c6ad8e20668e5
map_msgs/msg/OccupancyGridUpdate c4095b0be2e4363f8978a1570e0293ee093436f1e1c61d99b48502ac317025e8
moveit_msgs/msg/MotionPlanRequest f82ed20da5f8f93146999c1a3cfe34b56b97fc10333b40cac69782a1210888d7
moveit_msgs/msg/MoveItErrorCodes dcda8a9950cf6dd6ac221c2c0d2509f52f136afa0403dd19beacdf07e83e4a07
moveit_msgs/msg/PlanningScene 0f58540ad5eab4b9ea827d53b763c793d8cabd202b3b301fcee25afa4ce1bd80
nav_msgs/srv/GetMap c8ae77c9995b3554b5ba80e4d4d443f970ac65143102a1d893ec24fc07b31147
nav_msgs/srv/GetPlan 234f7aff100f5edb8150366601687b027bcdc253db47decb88fff846193fe5e8
octomap_msgs/msg/OctomapWithPose e65f8760aa96a2acef86b6d206175cfc78420082b6159dd3fa6ebf93f5f81979
rcl_interfaces/srv/DescribeParameters
845b484d71eb0673dae682f2e3ba3c4851a65a3dcfb97bddd82c5b57e91e4cff
rcl_interfaces/srv/ListParameters 3e6062bfbb27bfb8730d4cef2558221f51a11646d78e7bb30a1e83afac3aad9d
sensor_msgs/srv/SetCameraInfo a10cca5d33dc637c8d49db50ab288701a3592bb9cd854f2f16a0659613b68984
std_srvs/srv/Empty 5888399dedec5ccc85ea6451949fd2c9f97bfdf963f9a588821639fcd31b5d19
std_srvs/srv/SetBool abe9e4bb6b41b40e6789712c00ec8871923e089af3f667a79992a428cff2da0a
std_srvs/srv/Trigger eeff2cd6fa5ad9d27cdf4dec64818317839b62f212a91e6b5304b634b2062c5f
tf2_msgs/action/LookupTransform 0b8adf6bc0b5958879e3265b41a457e03558fe523890a81252c70eba97a82c5d
tf2_msgs/srv/FrameGraph 0d1fbc6222c018ba5f33822904a2fdd4063705289956d3fdde07cd8c50fe8067
turtlesim/msg/Pose 739beba26bcba6920404ba722b7b8321348512f92ea5be235c47251940dd8aa9
turtlesim/srv/Spawn a71be24836f772debd6187dc8618cc47700d2602c7a3e2228bad67a8f5fd27b4
type_description_interfaces/srv/GetTypeDescription
69b9c19c1021405984cc60dbbb1edceb147a6538b411d812ba6afabeed962cd5
visualization_msgs/srv/GetInteractiveMarkers
bfdfaa861f4a8422b4ec3bd02c6681e4a45a83bdc2913d8facdf923d8ad1376a
"""


def pairs(text: str) -> list[tuple[str, str]]:
    words = text.split()
    return list(zip(words[::2], words[1::2], strict=True))


@pytest.fixture(scope="module")
def libraries() -> dict[Flavour, Library]:
    """Those of a machine without ROS. Its packages would hide the definitions under test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(known, "_installed", list)
        return {flavour: Library.load(known_folders(flavour), flavour) for flavour in Flavour}


@pytest.mark.parametrize("flavour", list(Flavour), ids=str)
def test_every_common_type_is_known(libraries: dict[Flavour, Library], flavour: Flavour) -> None:
    library = libraries[flavour]
    for text in definitions(flavour):
        package, kind, base = text.split("/")
        if flavour is Flavour.ROS1 and kind == "action":
            names = [Name(package, "msg", f"{base}{part}") for part in ("ActionGoal", "Result")]
        else:
            names = [Name(package, kind, base)]
        for name in names:
            for part in library.interface(name).parts:
                library.order(part)  # raises an error if a type of a field is missing


@pytest.mark.parametrize(("name", "expected"), pairs(SUMS))
def test_the_md5_sums_are_the_published_ones(
    libraries: dict[Flavour, Library], name: str, expected: str
) -> None:
    library = libraries[Flavour.ROS1]
    package, base = name.split("/")
    found = [one for one in library.names() if (one.package, one.base) == (package, base)]
    interface = library.interface(found[0])
    thing = next(iter(services(interface)), interface.parts[0])
    assert library.md5(thing) == expected


@pytest.mark.parametrize(("name", "expected"), pairs(HASHES))
def test_the_type_hashes_are_the_published_ones(
    libraries: dict[Flavour, Library], name: str, expected: str
) -> None:
    library = libraries[Flavour.ROS2]
    package, kind, base = name.split("/")
    library.interface(
        Name(package, kind, base.removesuffix("_SendGoal").removesuffix("_GetResult"))
    )
    assert library.type_hash(Name(package, kind, base)) == f"RIHS01_{expected}"


def write(folder: Path, system: str, files: dict[str, str]) -> Path:
    """A package with messages, services and actions, by "msg/Name"."""
    package = write_package(folder, {})
    (package / "package.xml").write_text(
        f"<package><name>{folder.name}</name><depend>{system}</depend></package>"
    )
    for name, text in files.items():
        kind, base = name.split("/")
        (package / kind).mkdir(exist_ok=True)
        (package / kind / f"{base}.{kind}").write_text(text)
    return package


def test_a_package_of_ros_1_has_a_counterpart_in_ros_2(tmp_path: Path) -> None:
    package = write(
        tmp_path / "tank_msgs",
        "message_runtime",
        {
            "msg/Level": "Header header\nbyte state\ntime Opened\nfloat64[3] K\nuint8 FULL=2\n",
            "msg/no_camel": "int32 x\n",
            "srv/Fill": "duration wait\n---\ntank_msgs/Level level\n",
            "action/Drain": "float64 litres\n---\n---\ntank_msgs/Level level\n",
        },
    )
    made = counterparts({Flavour.ROS1: [package], Flavour.ROS2: known_folders(Flavour.ROS2)})
    texts = {"/".join(name): text for name, text in made[Flavour.ROS2].items()}
    assert texts == {
        "tank_msgs/msg/Level": "uint8 FULL=2\nstd_msgs/Header header\nint8 state\n"
        "builtin_interfaces/Time opened\nfloat64[3] k\n",
        "tank_msgs/srv/Fill": "builtin_interfaces/Duration wait\n---\ntank_msgs/Level level\n",
        "tank_msgs/action/Drain": "float64 litres\n---\n---\ntank_msgs/Level level\n",
    }


def test_a_package_of_ros_2_has_a_counterpart_in_ros_1(tmp_path: Path) -> None:
    package = write(
        tmp_path / "tank_msgs",
        "rosidl_default_generators",
        {
            "msg/Level": "std_msgs/Header header\nbyte state 1\nbuiltin_interfaces/Time opened\n"
            "float64[<=3] k\nstring<=5 name\n",
            "msg/Wide": "wstring text\n",
            "msg/Holder": "tank_msgs/Wide wide\n",
        },
    )
    made = counterparts({Flavour.ROS1: known_folders(Flavour.ROS1), Flavour.ROS2: [package]})
    texts = {"/".join(name): text for name, text in made[Flavour.ROS1].items()}
    assert texts == {
        "tank_msgs/msg/Level": "std_msgs/Header header\nuint8 state\ntime opened\nfloat64[] k\n"
        "string name\n"
    }, "ROS 1 has no wide strings"


def test_a_package_that_both_versions_have_gets_no_counterpart(tmp_path: Path) -> None:
    one = write(tmp_path / "one/tank_msgs", "message_runtime", {"msg/Level": "float64 litres\n"})
    two = write(tmp_path / "two/tank_msgs", "rosidl_default_generators", {"msg/Other": "int8 x\n"})
    made = counterparts({Flavour.ROS1: [one], Flavour.ROS2: [two]})
    assert made == {Flavour.ROS1: {}, Flavour.ROS2: {}}


def test_descriptors_have_both_forms_of_a_package(tmp_path: Path) -> None:
    package = write(
        tmp_path / "tank_msgs", "message_runtime", {"action/Drain": "float64 litres\n---\n---\n"}
    )
    files = FileDescriptorSet.FromString(descriptors([package])).file
    found = {f"{file.package}.{one.name}" for file in files for one in file.message_type}
    assert {"ros1.tank_msgs.msg.DrainActionGoal", "ros2.tank_msgs.action.Drain_Goal"} <= found
