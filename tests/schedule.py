"""Which worker of xdist runs which tests: whole files, in the order in which they were collected.

What a file sets up is set up once, and so is what the files of `TOGETHER` share. Files of the
browser come first, and share the server and the Chromium of their worker: the first worker begins
with them, the others at the end of the list, until they meet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdist.scheduler.loadscope import LoadScopeScheduling

if TYPE_CHECKING:
    import pytest
    from xdist.remote import Producer
    from xdist.workermanage import WorkerController

# They share a server that is visited without a browser.
TOGETHER = (("tests/hostile/test_uploads.py", "tests/test_visitor.py", "tests/ui/test_server.py"),)


class WholeFiles(LoadScopeScheduling):
    """Files in the order of collection."""

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
        if node is not self.nodes[0]:
            self.workqueue.move_to_end(next(reversed(self.workqueue)), last=False)
        super()._assign_work_unit(node)
