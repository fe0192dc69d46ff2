"""What a wheel must hold: the page for the browser, without which `view`, `studio` and reports are dead; and the kernels, if
`make wheel` has compiled them, which makes it a wheel for one Python on one kind of machine."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PAGE = Path("src/drystone/show/page/bundle/index.html")
KERNELS = Path("src/drystone/base/kernel/compiled")


class WheelHook(BuildHookInterface):
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":  # the page is looked for when it is asked for
            return
        root = Path(self.root)
        if not (root / PAGE).is_file():
            raise RuntimeError(f"{PAGE} is missing: the page for the browser is not built; a wheel without it shows nothing; "
                               "run `make page` first, which needs Node.js 20")  # fmt: skip
        if any((root / KERNELS).glob("*.kernel")):
            build_data["pure_python"] = False
            build_data["infer_tag"] = True
