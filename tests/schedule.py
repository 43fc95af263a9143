"""Which worker of xdist runs which tests: whole files, in the order in which they were collected.

What a file sets up is set up once. Files of the browser come first, and share the server and the
Chromium of their worker: the first worker begins with them, the others at the end of the list,
until they meet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdist.scheduler.loadscope import LoadScopeScheduling

if TYPE_CHECKING:
    import pytest
    from xdist.remote import Producer
    from xdist.workermanage import WorkerController


class WholeFiles(LoadScopeScheduling):
    """Files in the order of collection."""

    def __init__(self, config: pytest.Config, log: Producer | None = None) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False

    def _assign_work_unit(self, node: WorkerController) -> None:
        if node is not self.nodes[0]:
            self.workqueue.move_to_end(next(reversed(self.workqueue)), last=False)
        super()._assign_work_unit(node)
