"""What each kind of drafter puts into a round."""

from typing import Any

import pytest
from pydantic import ValidationError

from sim.decoding import DraftPass, Speculative


def drafting(draft: dict[str, Any], **more: Any) -> Speculative:
    return Speculative.model_validate(
        {"draft_tokens": 5, "acceptance_rate": 0.6, "draft": draft, **more}
    )


def test_a_share_of_the_target_may_go_without_its_kind() -> None:
    work = drafting({"work_share": 0.2}).draft_work
    assert work is not None
    assert (work.passes, work.share) == ((DraftPass(5, 1, 1),), 0.2)


@pytest.mark.parametrize(
    "draft", [{"kind": "model", "model": "llama-3.2-1b"}, {"kind": "eagle"}, {"kind": "mtp"}]
)
def test_drafting_token_by_token_first_takes_in_what_was_verified(draft: dict[str, Any]) -> None:
    work = drafting(draft).draft_work
    assert work is not None
    assert work.passes == (DraftPass(1, 6, 1), DraftPass(4, 1, 1))
    assert (work.passes_per_round, work.share, work.prefills) == (5, None, True)


def test_a_block_is_drafted_in_one_pass_and_heads_guess_all_at_once() -> None:
    block = drafting({"kind": "block", "layers": 5}).draft_work
    heads = drafting({"kind": "medusa"}).draft_work
    assert block is not None
    assert heads is not None
    assert block.passes == (DraftPass(1, 11, 5),)
    assert (heads.passes, heads.prefills) == ((DraftPass(1, 1, 1),), False)


def test_copies_from_the_prompt_take_no_pass() -> None:
    assert drafting({"kind": "ngram"}).draft_work is None


def test_a_tree_verifies_its_nodes_and_drafts_its_width() -> None:
    tree = drafting({"kind": "eagle"}, tree={"nodes": 60, "width": 10})
    work = tree.draft_work
    assert work is not None
    assert tree.plan(100, 50, 10).phases[0].positions == 60
    assert work.passes == (DraftPass(1, 6, 1), DraftPass(4, 10, 10))
    assert tree.mean_tokens_per_pass() == pytest.approx(sum(0.6**depth for depth in range(6)))


@pytest.mark.parametrize(
    ("draft", "says"),
    [
        ({"kind": "oracle"}, "oracle"),
        ({"kind": "model"}, "model"),
        ({"kind": "block"}, "layers"),
        ({"kind": "eagle", "version": 2}, "version"),
        ({"work_share": 2}, "less than or equal to 1"),
    ],
)
def test_drafters_that_are_none_are_refused(draft: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        drafting(draft)
