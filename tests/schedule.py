"""Which worker of xdist runs which tests.

The tests of a file stay together, and the files of `TOGETHER`, so that what they set up is set up
once. The first worker begins with those in the browser, so that one server and one Chromium serve
nearly all of them; the others begin with everything else. Whoever is done takes what is left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdist.scheduler.loadscope import LoadScopeScheduling

if TYPE_CHECKING:
    import pytest
    from xdist.remote import Producer
    from xdist.workermanage import WorkerController

BROWSER = "tests/browser/"
# They share Ray, or a server that is visited without a browser.
TOGETHER = (("tests/atlas/distributed/",), ("tests/test_visitor.py", "tests/ui/serve/"))


class OneBrowser(LoadScopeScheduling):
    """Whole files in the order in which they were collected, the browser's to the first worker."""

    def __init__(self, config: pytest.Config, log: Producer | None = None) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False

    def _split_scope(self, nodeid: str) -> str:
        """What one worker runs: a file, or several that belong together."""
        for folders in TOGETHER:
            if nodeid.startswith(folders):
                return folders[0]
        return super()._split_scope(nodeid)

    def _assign_work_unit(self, node: WorkerController) -> None:
        first = node is self.nodes[0]
        for scope in self.workqueue:
            if scope.startswith(BROWSER) == first:
                self.workqueue.move_to_end(scope, last=False)
                break
        super()._assign_work_unit(node)
