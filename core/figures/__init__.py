"""Arrays in, plotly figures out."""

from types import ModuleType

from _plotly_utils import basevalidators, utils
from _plotly_utils.optional_imports import get_module


def _get_whole_module(name: str, should_load: bool = True) -> ModuleType | None:
    """Like plotly's own, but never a module that another thread is still importing.

    plotly compares values with pandas tables as soon as ``sys.modules`` contains pandas.
    """
    found: ModuleType | None = get_module(name, should_load)
    is_whole = not getattr(getattr(found, "__spec__", None), "_initializing", False)
    return found if is_whole else None


for module in (basevalidators, utils):
    module.get_module = _get_whole_module
