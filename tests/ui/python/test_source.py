"""The lines that give the model and the trace."""

from __future__ import annotations

import pytest

from core.ui import python
from core.ui.cache import TraceKey
from core.ui.python.source import note_model, note_trace, traces_of_box
from core.ui.python.writing import to_python
from tests.analysis.traces import random_weights, trace_with_attention


def lines_of(key: TraceKey) -> list[str]:
    with python.recording():
        note_trace(key, trace_with_attention(random_weights(0, 1, 1, 3)))
        return to_python(python.kept()).splitlines()[-2:]


def test_a_text_is_cut_where_the_page_cuts_it() -> None:
    assert lines_of(TraceKey("m", "Hi.", "You."))[1] == (
        'trace = trace_text(model, "Hi.", pair="You.", max_tokens=1024)'
    )


@pytest.mark.parametrize(
    ("kind", "ending"),
    [
        ("encoder", ", decode=False)"),
        ("decoder", ', target="Oh.").of_type("decoder")'),
        ("cross", ', target="Oh.").of_type("cross")'),
    ],
)
def test_of_an_encoder_decoder_it_is_the_kind_that_is_shown(kind: str, ending: str) -> None:
    target = None if kind == "encoder" else "Oh."
    written = lines_of(TraceKey("m", "Hi.", None, target, kind))[1]  # type: ignore[arg-type]
    assert written == f'trace = trace_text(model, "Hi.", max_tokens=1024{ending}'


def test_of_a_translator_it_is_from_and_to_the_languages_that_are_chosen() -> None:
    key = TraceKey("m", "Hi.", languages=("eng_Latn", "deu_Latn"))
    languages = 'languages=("eng_Latn", "deu_Latn")'
    assert lines_of(key)[1] == f'trace = trace_text(model, "Hi.", max_tokens=1024, {languages})'


def test_an_image_is_that_of_the_box_or_a_file_in_the_size_that_the_model_gets() -> None:
    box = lines_of(TraceKey("m", "", image="crowd", size=144))
    assert box == [
        'model = load("m", modality="image")',
        'trace = trace_image(model, open_box("crowd"), size=(144, 144))',
    ]
    own = lines_of(TraceKey("m", "", image="own:1"))[1]
    assert 'open_image(Path("your-image.png").read_bytes()).image' in own


def test_the_images_of_the_box_have_that_size_too() -> None:
    with python.recording():
        note_model("m", "image")
        python.made("traces", None, python.call(list, traces_of_box(144)))
        code = to_python(python.kept())
    assert "trace_image(model, open_box(name), size=(144, 144))" in code
    assert "for name in BOX" in code
    assert "from core.model.box import BOX, open_box" in code
