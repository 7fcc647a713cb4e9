"""Where the settings of a table's runs came from: counted, and as notes."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from calibration.validate.recipes import GENERATED, SUITE, Settings, recipe_of
from calibration.validate.runs import MeasuredRun
from sim.units import counted


@dataclass(frozen=True, slots=True)
class Told:
    """Whose settings the runs of a table were simulated with, in numbers of runs."""

    asked: Settings
    runs: int
    suite: int
    """Runs that take what a script of the suite set."""
    means: int
    """Runs whose lengths are taken for means, as genai-perf takes them."""
    scripts: tuple[tuple[str, int], ...]
    """Runs by the script, most first."""
    columns: tuple[tuple[str, int], ...]
    """Runs by the column in which they say how the server was set, or how it was driven."""
    unread: tuple[str, ...]
    """Columns that nothing reads."""
    renamed: tuple[tuple[str, str], ...] = ()
    """Models of the table that the catalog knows by another name, with that name."""

    def to_json(self) -> dict[str, object]:
        """Return the object that `--json` prints as `settings`."""
        return {
            "asked": self.asked,
            "suite": self.suite,
            "engine": self.runs - self.suite,
            "lengths_as_means": self.means,
            "scripts": dict(self.scripts),
            "columns": dict(self.columns),
            "columns_not_read": list(self.unread),
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader has to know of the settings, a sentence each, without a full stop."""
        return self.notes_to("give --settings engine")

    def notes_to(self, choose: str) -> tuple[str, ...]:
        """Return the notes; `choose` says how the engine's own settings are asked for."""
        return tuple(self._notes(choose))

    def _notes(self, choose: str) -> Iterator[str]:
        if self.suite:
            yield (
                f"{self.suite} of {counted(self.runs, 'run')} have the lengths, model, GPU, engine"
                f" and precision of {SUITE}, or on SGLang the lengths of {GENERATED}, and are"
                " simulated with what its server scripts set;"
                f" if they are not its runs, {choose}"
            )
        plain = self.runs - self.suite
        if plain:
            named = "all runs" if plain == self.runs else counted(plain, "run")
            yield f"{named} with the engine's own defaults where the table sets nothing"
        if self.means:
            yield (
                f"{self.means} of {counted(self.runs, 'run')} have the lengths of {GENERATED}, to"
                " which they are means: drawn within 10 % of them, on any engine; if they are not"
                f" its runs, {choose}, or add the column `shortest_share`"
            )
        if self.columns:
            listed = ", ".join(f"`{name}` ({count})" for name, count in self.columns)
            yield f"columns of the table that were used instead, with their runs: {listed}"
        yield from renamings(self.renamed)
        if self.unread:
            names = ", ".join(f"`{name}`" for name in self.unread)
            yield f"not read: {names}"


def renamings(renamed: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Say which models stand for which checkpoints, by their names."""
    for named, model in renamed:
        yield f"{named} is taken for a checkpoint of {model}, whose name it has with more words"


def told_of(runs: Sequence[MeasuredRun], settings: Settings, unread: Sequence[str] = ()) -> Told:
    """Count where the settings of the runs come from."""
    recipes = [recipe_of(run, settings) for run in runs]
    scripts = Counter(recipe.script for recipe in recipes)
    plain = scripts.pop("", 0)
    columns = Counter(name for run in runs for name in run.own.columns)
    return Told(
        asked=settings,
        runs=len(runs),
        suite=len(runs) - plain,
        means=sum(
            recipe.lengths == "around" and run.own.shortest_share is None
            for run, recipe in zip(runs, recipes, strict=True)
        ),
        scripts=tuple(scripts.most_common()),
        columns=tuple(columns.most_common()),
        unread=tuple(unread),
        renamed=tuple(
            dict.fromkeys((r.named, r.model) for r in runs if r.named not in {"", r.model})
        ),
    )
