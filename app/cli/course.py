"""The course of a run as files: a timeline, and a trace for Perfetto."""

from dataclasses import dataclass
from pathlib import Path

from sim.run import Outcome


@dataclass(frozen=True, slots=True)
class Course:
    """What is to be written of the course of a run; `None`: not that."""

    timeline: Path | None
    timeline_bin_s: float | None
    trace_events: Path | None

    def check(self) -> None:
        """Raise `InputError` where a file cannot be written, before anybody waits for it."""
        if self.timeline is None and self.trace_events is None and self.timeline_bin_s is None:
            return
        from sim.errors import InputError
        from sim.report.files import check_folder
        from sim.report.timeline import check_timeline_name

        if self.timeline_bin_s is not None and not 0 < self.timeline_bin_s < float("inf"):
            raise InputError(
                f"expected seconds above 0, found {self.timeline_bin_s:g}", where="--timeline-bin"
            )
        if self.timeline_bin_s is not None and self.timeline is None:
            raise InputError(
                "says how wide the bins of a timeline are, and none is asked for",
                where="--timeline-bin",
                remedy="add --timeline FILE",
            )
        if self.timeline is not None:
            check_timeline_name(self.timeline)
        for path in (self.timeline, self.trace_events):
            if path is not None:
                check_folder(path.absolute().parent)

    def write(self, outcome: Outcome) -> None:
        """Write what is asked for."""
        if self.timeline is None and self.trace_events is None:
            return
        from sim.report.files import write_files

        if self.timeline is not None:
            from sim.report.timeline import timeline_bytes

            content = timeline_bytes(outcome, self.timeline, bin_s=self.timeline_bin_s)
            write_files(self.timeline.absolute().parent, {self.timeline.name: content})
        if self.trace_events is not None:
            from sim.report.trace_events import trace_events_json

            content = trace_events_json(outcome)
            write_files(self.trace_events.absolute().parent, {self.trace_events.name: content})
