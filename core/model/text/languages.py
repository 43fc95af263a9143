"""The languages of a translator (NLLB, MBart): codes that its tokenizer writes into each text."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from core.model.errors import WrongInputError

if TYPE_CHECKING:
    from core.model.running.loaded import LoadedModel

Languages = tuple[str, str]  # codes: of the text, and of what the decoder reads
_CODE = re.compile(r"_*[a-z]{2,3}(_[A-Za-z]{2,4})?_*")  # eng_Latn, en_XX, __eng__


def codes(model: LoadedModel) -> tuple[str, ...]:
    """The codes of its languages; empty where the tokenizer has no target mode."""
    if not model.is_encoder_decoder or not hasattr(model.tokenizer, "_switch_to_target_mode"):
        return ()
    with model.tokenizer_lock:
        special = filter(_CODE.fullmatch, model.tokenizer.all_special_tokens)
        ids = {code: model.tokenizer.convert_tokens_to_ids(code) for code in special}
        source = getattr(model.tokenizer, "src_lang", None)
    rows = model.network.get_input_embeddings().weight.shape[0]
    known = tuple(code for code, token in ids.items() if token < rows)
    return known if source in known else ()


def own_languages(model: LoadedModel) -> Languages | None:
    """The languages that the settings translate from and to; None for a model without any.

    The second is what an answer is forced to begin with, else the tokenizer's `tgt_lang`, else what
    the decoder begins with, else the language of the text.
    """
    if not (known := codes(model)):
        return None
    forced = getattr(model.language_model, "generation_config", None)
    with model.tokenizer_lock:
        tokenizer = model.tokenizer
        source: str = tokenizer.src_lang
        names = (
            _name(model, getattr(forced, "forced_bos_token_id", None)),
            tokenizer.tgt_lang,
            _name(model, getattr(model.network.config, "decoder_start_token_id", None)),
        )
    return source, next((name for name in names if name in known), source)


def checked(model: LoadedModel, languages: Languages | None) -> Languages | None:
    """The requested languages, else the model's own.

    Raises
    ------
    WrongInputError
        When the model has no such language.
    """
    if languages is None:
        return own_languages(model)
    known = codes(model)
    for code in languages:
        if code not in known:
            raise WrongInputError(
                f"{{name}} has no language “{code[:40]}”.", "Pick one of its own.", model.name
            )
    return languages


@contextlib.contextmanager
def speaking(model: LoadedModel, languages: Languages | None) -> Iterator[None]:
    """The tokenizer, for this thread alone, set to two languages; None leaves it as it is."""
    with model.tokenizer_lock:
        if languages is None:
            yield
            return
        tokenizer = model.tokenizer
        before = tokenizer.src_lang, tokenizer.tgt_lang
        try:
            tokenizer.src_lang, tokenizer.tgt_lang = languages
            yield
        finally:
            tokenizer.src_lang, tokenizer.tgt_lang = before


def _name(model: LoadedModel, token: object) -> object:
    return model.tokenizer.convert_ids_to_tokens(token) if isinstance(token, int) else None
