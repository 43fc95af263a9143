"""The circuit of GPT-2 small that names the indirect object (Wang et al. 2022), heads from 0.

"When Mary and John went to the store, John gave a drink to" continues with "Mary". With published
weights the known heads are found; on a random network of the same shape the same code runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from core.analysis.head_patterns import pattern_table
from core.model import LoadedModel, effects, load, trace_text
from core.model.interventions.heads import as_input
from core.model.interventions.reference import head_outputs
from core.model.weights.output_projection import output_projections
from tests.model.test_bundled_model import published

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAME_MOVERS = ((9, 9), (10, 0), (9, 6))
NEGATIVE = ((10, 7), (11, 10))
S_INHIBITION = ((7, 3), (7, 9), (8, 6), (8, 10))
PREVIOUS = ((2, 2), (4, 11))
TEMPLATES = (
    "When {} and {} went to the shops, {} gave the bag to",
    "After {} and {} went to the park, {} gave a drink to",
)
PAIRS = (("John", "Mary"), ("Tom", "James"), ("Martin", "Amy"), ("Dan", "Mary"))
OTHERS = ("Mark", "Anna", "Paul")  # of a text without the circuit's question: three names
PROSE = (
    "The old house stood at the end of a narrow road, and nobody in the village could remember who"
    " had lived there before the war. Its windows were broken and the garden was full of weeds."
)


@dataclass(frozen=True)
class Prompt:
    """A text, the name it asks for, and the name that is said twice."""

    text: str
    wanted: str
    twice: str
    other: str


PROMPTS = [
    Prompt(template.format(*pair, twice), wanted, twice, template.format(*OTHERS))
    for template in TEMPLATES
    for pair in PAIRS
    for wanted, twice in (pair, pair[::-1])
]


def fall_of_lead(model: LoadedModel) -> tuple[NDArray[Any], NDArray[Any]]:
    """The lead of the wanted name, (prompt,), and its mean fall, (layer, head).

    Every head gives what it gives where three other names stand at the same places.
    """
    found = [
        effects(
            model,
            each.text,
            "resample",
            "logit_difference",
            words=(each.wanted, each.twice),
            reference=(each.other,),
            draws=0,
        )
        for each in PROMPTS
    ]
    return np.array([_lead(model, each) for each in PROMPTS]), np.mean(
        [each.values for each in found], axis=0
    )


def _lead(model: LoadedModel, prompt: Prompt) -> float:
    """How far the logit of the wanted name is above that of the other."""
    assert model.language_model is not None
    with torch.inference_mode():
        logits = model.language_model(torch.tensor([as_input(model, prompt.text).ids])).logits
    wanted, twice = (
        model.tokenizer(f" {name}").input_ids[-1] for name in (prompt.wanted, prompt.twice)
    )
    return float(logits[0, -1, wanted] - logits[0, -1, twice])


def attention_from_end(model: LoadedModel) -> dict[str, NDArray[Any]]:
    """Mean attention from the last token to each of the names, (layer, head)."""
    rows: dict[str, list[Any]] = {"wanted": [], "first": [], "second": []}
    for each in PROMPTS:
        trace = trace_text(model, each.text)
        names = [token.display for token in trace.tokens]
        first = names.index(each.twice)
        places = names.index(each.wanted), first, names.index(each.twice, first + 1)
        attention = trace.attention()
        for kind, place in zip(rows, places, strict=True):
            rows[kind].append(attention[:, :, -1, place])
    return {kind: np.mean(each, axis=0) for kind, each in rows.items()}


def written_to_lead(model: LoadedModel) -> NDArray[Any]:
    """What each head writes into the lead at the last token, the norm frozen, (layer, head)."""
    projections, whole = output_projections(model), model.language_model
    assert projections is not None
    assert whole is not None
    norm, rows = whole.transformer.ln_f, whole.lm_head.weight
    found = []
    for each in PROMPTS:
        item = as_input(model, each.text)
        seen: list[torch.Tensor] = []
        hook = norm.register_forward_pre_hook(lambda _, given, seen=seen: seen.append(given[0]))
        with torch.inference_mode():
            whole(torch.tensor([item.ids]))
            outputs = head_outputs(model, item)
        hook.remove()
        spread = (seen[0][0, -1].var(unbiased=False) + norm.eps).sqrt()
        wanted, twice = (
            rows[model.tokenizer(f" {name}").input_ids[-1]] for name in (each.wanted, each.twice)
        )
        towards = norm.weight * (wanted - twice)
        towards = (towards - towards.mean()) / spread
        found.append(
            [
                torch.einsum("hd,hdw,w->h", given[-1], weight, towards).tolist()
                for given, weight in zip(outputs, projections, strict=True)
            ]
        )
    return np.mean(found, axis=0)


def rank(values: NDArray[Any], head: tuple[int, int]) -> int:
    """How many heads have a larger value."""
    return int((values > values[head]).sum())


@pytest.mark.hub
def test_name_movers_write_the_wanted_name_and_negative_ones_the_other() -> None:
    written = written_to_lead(published("gpt2"))
    assert all(written[head] > 0 and rank(written, head) < 5 for head in NAME_MOVERS)
    assert all(written[head] < 0 and rank(-written, head) < 5 for head in NEGATIVE)


@pytest.mark.hub
def test_name_movers_look_at_the_wanted_name_and_s_inhibition_at_the_second_of_the_other() -> None:
    """Means of 0.59 and 0.51 are published for their own prompts."""
    seen = attention_from_end(published("gpt2"))
    assert np.mean([seen["wanted"][head] for head in NAME_MOVERS]) > 0.3
    for head in NAME_MOVERS:
        assert seen["wanted"][head] > max(seen["first"][head], seen["second"][head])
    assert np.mean([seen["second"][head] for head in S_INHIBITION]) > 0.25
    assert all(rank(seen["second"], head) < 30 for head in S_INHIBITION)


@pytest.mark.hub
def test_the_wanted_name_leads_and_loses_its_lead_without_s_inhibition() -> None:
    before, fall = fall_of_lead(published("gpt2"))
    assert before.mean() > 1.5
    assert (before > 0).mean() > 0.8
    assert sum(fall[head] > 0 and rank(fall, head) < 20 for head in S_INHIBITION) >= 3
    assert sum(fall[head] for head in NEGATIVE) < 0


@pytest.mark.hub
def test_previous_token_heads_look_one_back() -> None:
    table = pattern_table(trace_text(published("gpt2"), PROSE))
    scores = table["previous"].to_numpy().reshape(12, 12)
    assert scores[4, 11] > 0.5
    assert all(rank(scores, head) < 12 for head in PREVIOUS)


@pytest.fixture(scope="module")
def random_gpt2(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    """12 layers of 12 heads, random, with a token for each name; the last MLP writes nothing."""
    from tokenizers import ByteLevelBPETokenizer
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    folder, byte_level = tmp_path_factory.mktemp("gpt2"), ByteLevelBPETokenizer()
    texts = [each.text for each in PROMPTS] + [each.other for each in PROMPTS]
    byte_level.train_from_iterator(texts, 600, min_frequency=1, show_progress=False)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=byte_level._tokenizer)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    shape = {"n_layer": 12, "n_head": 12, "n_embd": 48, "vocab_size": len(tokenizer)}
    network = GPT2LMHeadModel(GPT2Config(**shape, bos_token_id=0, eos_token_id=0))
    with torch.no_grad():  # fresh ones hardly tell names apart
        for parameter in network.parameters():
            parameter.mul_(3 if parameter.ndim > 1 else 1)
        network.transformer.h[11].mlp.c_proj.weight.zero_()
    network.save_pretrained(folder)
    return load(str(folder))


def test_all_that_is_asked_of_the_circuit_can_be_asked_of_a_random_network(
    random_gpt2: LoadedModel,
) -> None:
    before, fall = fall_of_lead(random_gpt2)
    assert before.shape == (len(PROMPTS),)
    assert fall.shape == (12, 12)
    assert np.abs(fall).min() > 0
    seen = attention_from_end(random_gpt2)
    assert all((each > 0).all() for each in seen.values())
    assert np.sum(list(seen.values()), axis=0).max() < 1
    table = pattern_table(trace_text(random_gpt2, PROSE))
    assert table["previous"].to_numpy().reshape(12, 12).shape == fall.shape


def test_what_heads_write_to_the_lead_is_what_it_loses_without_them(
    random_gpt2: LoadedModel,
) -> None:
    """In the last layer, after which nothing but the norm follows here."""
    written = written_to_lead(random_gpt2)[11]
    found = [
        effects(
            random_gpt2,
            each.text,
            "zero",
            "logit_difference",
            words=(each.wanted, each.twice),
            draws=0,
            heads=[(11, head) for head in range(12)],
        ).values[11]
        for each in PROMPTS
    ]
    assert np.corrcoef(written, np.mean(found, axis=0))[0, 1] > 0.95
