"""The .meta files of a Unity package: `python -m hyphos.csharp.unity_metas FOLDER`.

Unity creates missing .meta files, but not in packages from git or a tarball, which it must not
change. It ignores files without one there. References to an asset use its GUID. So the GUID is
derived from the path of the asset, and stays the same from build to build.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from hashlib import md5
from pathlib import Path

PACKAGE = "org.hyphos.client"

_END = """  userData:
  assetBundleName:
  assetBundleVariant:
"""
_FOLDER = "folderAsset: yes\nDefaultImporter:\n  externalObjects: {}\n" + _END
_SCRIPT = (
    """MonoImporter:
  externalObjects: {}
  serializedVersion: 2
  defaultReferences: []
  executionOrder: 0
  icon: {instanceID: 0}
"""
    + _END
)
# For the editor and the players on Linux x86-64, loaded on the first call.
_LIBRARY = (
    """PluginImporter:
  externalObjects: {}
  serializedVersion: 2
  iconMap: {}
  executionOrder: {}
  defineConstraints: []
  isPreloaded: 0
  isOverridable: 0
  isExplicitlyReferenced: 0
  validateReferences: 1
  platformData:
  - first:
      Any:
    second:
      enabled: 0
      settings: {}
  - first:
      Editor: Editor
    second:
      enabled: 1
      settings:
        CPU: x86_64
        DefaultValueInitialized: true
        OS: Linux
  - first:
      Standalone: Linux64
    second:
      enabled: 1
      settings:
        CPU: x86_64
"""
    + _END
)
_IMPORTERS = {
    ".cs": _SCRIPT,
    ".so": _LIBRARY,
    ".asmdef": "AssemblyDefinitionImporter:\n  externalObjects: {}\n" + _END,
    ".md": "TextScriptImporter:\n  externalObjects: {}\n" + _END,
    ".json": "PackageManifestImporter:\n  externalObjects: {}\n" + _END,
}


def write_metas(package: Path) -> int:
    """Writes the .meta of every file and folder of the package. Returns their number."""
    count = 0
    for path in assets(package):
        guid = md5(f"{PACKAGE}/{path.relative_to(package)}".encode(), usedforsecurity=False)
        importer = _FOLDER if path.is_dir() else _IMPORTERS[path.suffix]
        text = f"fileFormatVersion: 2\nguid: {guid.hexdigest()}\n{importer}"
        path.with_name(path.name + ".meta").write_text(text)
        count += 1
    return count


def assets(folder: Path) -> Iterator[Path]:
    """The paths that Unity imports. It does not import a folder like `Samples~`, but copies its
    contents."""
    for path in sorted(folder.iterdir()):
        if path.suffix == ".meta" or path.name.startswith("."):
            continue
        if not path.name.endswith("~"):
            yield path
        if path.is_dir():
            yield from assets(path)


if __name__ == "__main__":
    print(f"wrote {write_metas(Path(sys.argv[1]))} .meta files in {sys.argv[1]}")
