"""The knobs of speculation in the sidebar: acceptance with its source, drafter, tree, policy."""

from dataclasses import replace
from typing import Any, Final

import streamlit as st

from app.dashboard import drafter_controls, drafters, offers, state
from app.dashboard import speculation as spec
from app.dashboard.choices import Choices
from app.dashboard.markdown import escape
from app.dashboard.state import key
from app.dashboard.widgets import more, number, select, slider, text, warn_of_others, words
from sim.decoding import AcceptanceTable, list_acceptance, load_acceptance
from sim.decoding.acceptance import Acceptance
from sim.model import Model

_PERCENT: Final = (1, 100)
_SHARE: Final = (0, 100)
_MOST_DRAFTS: Final = 16
_PAIR: Final = (3, 2)
_ACCEPTANCE: Final = (
    "Where the share of accepted drafts comes from: a published table (its source is shown), or"
    " your own figures. There is no default: it decides on the gain."
)
_ACCEPTED: Final = "Share of first drafted tokens that the served model accepts. Measure yours."
_FALL: Final = "Every further position of the chain is accepted less often, by so many points."
_LIST: Final = "Percent of drafts accepted at each position, given that all before were."
_MEAN: Final = (
    "Tokens that a round yields on average, the one that the served model adds included; every"
    " position is taken as accepted alike."
)
_NONE: Final = "Rounds that accept nothing; what is neither accepts every length alike."
_TREE: Final = "Tree of drafts: query positions of a verification; 0: a chain."
_WIDTH: Final = "Branches that each pass of the drafter extends."
_POLICY: Final = (
    "Off above a batch: one token a pass when more sequences decode. Adaptive: verify as many"
    " drafts as pay (vLLM, August 2026)."
)
_ALIKE: Final = "Towards 0 the drafter knows what will be accepted; at 1,000 all rounds are alike."
_DRIFT: Final = "Acceptance of every position times this: your traffic is not the benchmark's."
_MORE: Final = ("tree_nodes", "tree_width", "policy", "policy_sequences", "drift_percent",
                "policy_concentration")  # fmt: skip


def draw(default: Choices, model: Model, *, mixed: bool) -> dict[str, Any]:
    """Draw the knobs and return their values; `mixed`: the traffic names its domains."""
    options = offers.acceptances(default.acceptance, model.name)
    acceptance = select(
        *("acceptance", "Acceptance", options, default),
        about=_ACCEPTANCE,
        on_change=_take_over,
        args=(model.name,),
    )
    values: dict[str, Any] = {"acceptance": acceptance}
    if acceptance == spec.UNSTATED:
        return values
    if acceptance in list_acceptance():
        table = load_acceptance(acceptance)
        if acceptance != default.acceptance:
            default = replace(default, **variant(table, model.name))
        values |= _published(default, table, model, mixed=mixed)
    else:
        if default.drafter == drafters.AS_PUBLISHED:
            default = replace(default, drafter=drafters.RELATIVE)
        values |= _own(acceptance, default)
    values |= drafter_controls.draw(default, model, published=acceptance in list_acceptance())
    return values | _more(default)


def variant(table: AcceptanceTable, model: str) -> dict[str, Any]:
    """Return the knobs of a table's drafter as it was published, for a served model if it can."""
    served = [row.model for row in table.rows if row.model]
    measured_with = model if model in served else (served or [""])[0]
    rows = [row for row in table.rows if (row.model or "") == measured_with]
    row = next((row for row in rows if row.domain == table.domain), rows[0])
    return {
        "drafter": drafters.AS_PUBLISHED,
        "draft_tokens": table.draft_tokens,
        "domain": row.domain,
        "temperature": _words(row.temperature),
        "measured_with": measured_with,
        "tree_nodes": table.tree.nodes if table.tree else 0,
        "tree_width": table.tree.width if table.tree else 1,
    }


def _take_over(model: str) -> None:
    """Set the knobs to the variant of the table that was just chosen (a callback)."""
    state.restore_hidden()
    acceptance = st.session_state[key("acceptance")]
    if acceptance in list_acceptance():
        state.set_choices(variant(load_acceptance(acceptance), model))
    elif st.session_state.get(key("drafter")) == drafters.AS_PUBLISHED:
        state.set_choices({"drafter": drafters.RELATIVE})


def _published(
    default: Choices, table: AcceptanceTable, model: Model, *, mixed: bool
) -> dict[str, Any]:
    served = tuple(dict.fromkeys(row.model or "" for row in table.rows))
    if model.name in served:  # nobody wants the figures of another one
        served = (model.name,)
    measured_with = _one_of("measured_with", "Measured with", served, default)
    mine = [row for row in table.rows if (row.model or "") == measured_with]
    domains = tuple(dict.fromkeys(row.domain for row in mine))
    if mixed or default.domain == spec.AS_TRAFFIC:
        domains = (spec.AS_TRAFFIC, *domains)
    several = len({row.temperature for row in mine}) > 1
    first, second = st.columns(_PAIR) if several else (st.container(), st.container())
    with first:
        domain = _one_of("domain", "Domain", domains, default)
    rows = [row for row in mine if domain in {row.domain, spec.AS_TRAFFIC}]
    temperatures = tuple(dict.fromkeys(_words(row.temperature) for row in rows))
    with second:
        temperature = _one_of("temperature", "Temperature", temperatures, default)
    rows = [row for row in rows if _words(row.temperature) == temperature] or rows
    known = min(row.stated_positions or _MOST_DRAFTS for row in rows)
    tokens = _drafts(default, most=max(known, default.draft_tokens))
    _say_where_from(table, model, rows[0] if len(rows) == 1 else None, tokens)
    return {
        "measured_with": measured_with,
        "domain": domain,
        "temperature": temperature,
        "draft_tokens": tokens,
    }


def _say_where_from(
    table: AcceptanceTable, model: Model, row: Acceptance | None, tokens: int
) -> None:
    """Draw the source of a table, its survival, and the models that it was measured with."""
    said = f"{table.source} ({table.as_of}); {table.hardware}."
    if row is not None and tokens <= (row.stated_positions or tokens):
        survival = row.survival_of(tokens)
        shares = " · ".join(f"{100 * share:.0f}" for share in survival)
        said = f"{1 + sum(survival):.2f} tokens per round; accepted up to each: {shares}%. {said}"
    st.caption(escape(said), help=escape(table.note) if table.note else None)
    warn_of_others(table.models, model.name)


def _own(acceptance: str, default: Choices) -> dict[str, Any]:
    tokens = _drafts(default, most=_MOST_DRAFTS)
    values: dict[str, Any] = {"draft_tokens": tokens}
    if acceptance == spec.BY_MEAN:
        values["round_tokens"] = number(
            *("round_tokens", "Tokens per round", (1.0, 65.0), default),
            step=0.1, form="%.2f", about=_MEAN,
        )  # fmt: skip
        return values
    if acceptance == spec.BY_LIST:
        values["acceptance_list"] = text(
            "acceptance_list", "Accepted (%)", default, example="80, 70, 65", about=_LIST
        )
        return values
    names = ("accepted_percent", "fall_points")
    labels: tuple[str, ...] = ("Accepted (%)", "Fall (points)")
    ends, abouts = (_PERCENT, (0, 50)), (_ACCEPTED, _FALL)
    if acceptance == spec.MIXTURE:
        names, labels = ("none_percent", "all_percent"), ("None (%)", "All (%)")
        ends, abouts = (_SHARE, _SHARE), (_NONE, "Rounds that accept every draft.")
    parts = zip(st.columns(2), names, labels, ends, abouts, strict=True)
    for column, name, label, limits, about in parts:
        with column:
            values[name] = number(name, label, limits, default, step=1, about=about)
    if acceptance == spec.BY_POSITION:
        knobs = spec.SpeculationKnobs(**values)
        said = " · ".join(map(str, knobs.acceptance_percent))
        st.caption(f"Acceptance by position: {said}%")
    return values


def _more(default: Choices) -> dict[str, Any]:
    """Draw what few people change: the tree, when to speculate, drift."""
    fold = more("more_speculation", "Tree, policy, drift", _MORE, default)
    if fold is None:
        return {}
    values: dict[str, Any] = {}
    with fold:
        first, second = st.columns(2)
        with first:
            nodes = number("tree_nodes", "Nodes", (0, 1024), default, step=1, about=_TREE)
        with second:
            values["tree_width"] = number(
                "tree_width", "Width", (1, 256), default, step=1, about=_WIDTH
            )
        policy = select("policy", "Speculate", spec.POLICIES, default, about=_POLICY)
        if policy == spec.OFF_ABOVE:
            values["policy_sequences"] = number(
                "policy_sequences", "Sequences, at most", (0, 65_536), default, step=1
            )
        elif policy == spec.ADAPTIVE:
            values["policy_concentration"] = number(
                *("policy_concentration", "Likeness of rounds", (0.01, 1000.0), default),
                step=0.5, form="%g", about=_ALIKE,
            )  # fmt: skip
        drift = number(
            "drift_percent", "Acceptance × (%)", (0, 200), default, step=5, about=_DRIFT
        )
    return {**values, "tree_nodes": nodes, "policy": policy, "drift_percent": drift}


def _drafts(default: Choices, *, most: int) -> int:
    return slider("draft_tokens", "Draft tokens per pass", 1, most, default)


def _one_of(field: str, label: str, options: tuple[str, ...], default: Choices) -> str:
    """Draw a list where there is something to choose; else return the only value."""
    if len(options) == 1:
        return options[0]
    if getattr(default, field) not in options:
        default = replace(default, **{field: options[0]})  # type: ignore[arg-type]
    return select(field, label, options, default, label_of=words)


def _words(temperature: float | None) -> str:
    return "" if temperature is None else f"{temperature:g}"
