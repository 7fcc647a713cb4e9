"""Time the kernels of a language model on your own machine, and keep what was measured.

Kernels run inside a CUDA graph between CUDA events, over inputs that are rotated so that nothing
is read from the L2 cache; on a CPU by the clock, over inputs rotated through its caches. It stops
after the given minutes or at Ctrl-C, and keeps what it has.
"""

import argparse
import csv
import json
import signal
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from calibration.collect.cases import HEADS, PRODUCTS, Case, plan
from calibration.collect.device import Device
from calibration.collect.links import link_rows
from calibration.collect.provenance import clock_mhz, provenance
from calibration.collect.watch import Watch

Row = dict[str, Any]
Progress = Callable[[int, int, str], None]


def time_case(device: Device, case: Case) -> Row:
    """Return the row of one case, without where it was measured."""
    sets = device.sets(case.set_bytes)
    call = case.make(sets)
    captured = device.cuda and case.operation not in {"launch", "host_launch"}
    if case.operation == "host_launch":
        samples = device.host_samples_s(call)
    else:
        samples = device.samples_s(call, sets, captured=captured)
    quarters = statistics.quantiles(samples, n=4)
    return {
        "operation": case.operation,
        "precision": case.precision,
        **case.shape,
        "latency_s": statistics.median(samples),
        "spread_s": (quarters[2] - quarters[0]) / 2,
        "repeats": len(samples),
        "captured": captured,
        "cold": sets * case.set_bytes > 2 * device.cache_bytes,
        "clock_mhz": clock_mhz(device) if device.cuda else None,
    }


def collect(
    kind: str,
    *,
    minutes: float,
    most: int | None = None,
    products: Sequence[tuple[int, int]] = PRODUCTS,
    heads: tuple[int, int, int] = HEADS,
    progress: Progress | None = None,
    keep: Callable[[list[Row]], None] | None = None,
) -> list[Row]:
    """Time the kernels on `cuda` or `cpu` until all are done, time is up or Ctrl-C; return rows.

    `most` stops after so many kernels, an even sample of all.
    `keep` is given the rows every half a minute: a machine that is taken away loses little.
    """
    device, rows = Device(kind), list[Row]()
    stop_s, saved_s = time.monotonic() + 60 * minutes, time.monotonic()
    where = provenance(device)
    cases = plan(device, tuple(products), heads)[:most]
    try:
        with Watch(rows, keep) as watch:
            for row in _timed(device, cases, stop_s, progress, watch):
                rows.append({**row, **where})
                if keep is not None and time.monotonic() - saved_s > 30:
                    _keep(keep, rows)
                    saved_s = time.monotonic()
        if device.cuda and time.monotonic() < stop_s:
            rows.extend({**row, **where, "engine": "nccl"} for row in link_rows())
    except KeyboardInterrupt:
        sys.stderr.write(f"\nStopped: {len(rows)} kernels were measured and are kept.\n")
    except Exception as error:  # noqa: BLE001  # whatever it is, what was measured is kept
        sys.stderr.write(f"\nStopped by {_said(error)}: {len(rows)} kernels are kept.\n")
    return rows


def _keep(keep: Callable[[list[Row]], None], rows: list[Row]) -> None:
    """Write what there is so far; a full disk may have room again at the end."""
    try:
        keep(rows)
    except Exception as error:  # noqa: BLE001  # of whoever writes
        sys.stderr.write(f"\nNot written down yet: {_said(error)}\n")


def _said(error: Exception) -> str:
    """Return the first line of an error, with its kind."""
    first = (str(error).splitlines() or ["no reason given"])[0]
    return f"{type(error).__name__}: {first[:120]}"


FAILURES = 3
"""Kernels of one kind that may fail in a row before the others of that kind are left out."""


def _timed(
    device: Device,
    cases: Sequence[Case],
    stop_s: float,
    progress: Progress | None,
    watch: "Watch",
) -> Iterator[Row]:
    failed: dict[tuple[str, str], int] = {}
    for place, case in enumerate(cases):
        kind = (case.operation, case.precision)
        if time.monotonic() > stop_s:
            return
        if failed.get(kind, 0) >= FAILURES:
            continue
        if progress is not None:
            progress(place, len(cases), case.operation)
        watch.begin(f"{case.operation} {case.precision} {case.shape}")
        try:
            row = time_case(device, case)
        except Exception as error:  # noqa: BLE001  # no memory, no such kernel, another signature
            failed[kind] = failed.get(kind, 0) + 1
            sys.stderr.write(f"\n{watch.what}: {_said(error)}\n")
            if failed[kind] == FAILURES:
                sys.stderr.write(f"{kind[0]} in {kind[1]} is left out from here on.\n")
        else:
            failed[kind] = 0
            yield row
        finally:
            watch.end()
        if device.cuda:
            torch.cuda.empty_cache()


def draw_bar(done: int, of: int, what: str) -> None:
    """Draw a bar on a terminal's stderr."""
    if sys.stderr.isatty():
        filled = 30 * done // of
        sys.stderr.write(f"\r[{'#' * filled}{' ' * (30 - filled)}] {done}/{of} {what:<18}")
        sys.stderr.flush()


def write_csv(rows: Sequence[Row], path: Path) -> None:
    """Write rows to a CSV file, whole or not at all; null is an empty cell."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    beside = path.with_name(f".{path.name}.part")
    with beside.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows({k: "" if v is None else v for k, v in row.items()} for row in rows)
    beside.replace(path)


def shapes_of(config: Path) -> tuple[tuple[tuple[int, int], ...], tuple[int, int, int]]:
    """Return the products (N, K) and the heads of a dense model's config.json.

    Raises `KeyError` or `ValueError` for another file.
    """
    c = json.loads(config.read_text(encoding="utf-8"))
    hidden, wide, mine = c["hidden_size"], c["intermediate_size"], c["num_attention_heads"]
    kv = c.get("num_key_value_heads") or mine
    width = c.get("head_dim") or hidden // mine
    attention = (((mine + 2 * kv) * width, hidden), (hidden, mine * width))
    return (*attention, (2 * wide, hidden), (hidden, wide)), (mine, kv, width)


def report(rows: Sequence[Row]) -> str:
    """Return a few lines: what was measured, and the best of each."""
    many = "" if len(rows) == 1 else "s"
    lines = [f"{len(rows)} kernel{many} measured on {rows[0]['gpu'] if rows else 'nothing'}"]
    best: dict[str, float] = {}
    for row in rows:
        name, seconds = f"{row['operation']} {row['precision']}", row["latency_s"]
        if row["operation"] == "gemm":
            flop = 2.0 * row["tokens"] * row["outer"] * row["inner"]
            best[f"{name}, TFLOP/s"] = max(best.get(f"{name}, TFLOP/s", 0), flop / seconds / 1e12)
        elif row["operation"] == "copy":
            moved = 2 * row["message_bytes"] / seconds / 1e9
            best["copy, GB/s"] = max(best.get("copy, GB/s", 0), moved)
        elif "launch" in row["operation"]:
            best[f"{row['operation']}, us"] = seconds * 1e6
    return "\n".join([*lines, *(f"  {name}: {value:,.2f}" for name, value in best.items())])


def main() -> int:
    """Collect as a script: needs torch and nothing else, writes CSV."""
    parser = argparse.ArgumentParser(description="Time the kernels of a language model.")
    parser.add_argument("--out", type=Path, default=Path("timings.csv"))
    parser.add_argument("--model", type=Path, help="config.json of a dense model")
    default = "cuda" if torch.cuda.is_available() else "cpu"
    parser.add_argument("--device", choices=("cuda", "cpu"), default=default)
    parser.add_argument("--minutes", type=float, default=10.0)
    given = parser.parse_args()
    if not given.out.absolute().parent.is_dir():
        parser.error(f"{given.out}: there is no such folder to write into")
    try:
        products, heads = shapes_of(given.model) if given.model else (PRODUCTS, HEADS)
    except (KeyError, ValueError, TypeError) as error:
        parser.error(f"{given.model}: not the config.json of a dense model ({error!r})")
    except OSError as error:
        parser.error(f"{given.model}: cannot be read ({error.strerror})")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    rows = collect(
        given.device,
        minutes=given.minutes,
        products=products,
        heads=heads,
        progress=draw_bar,
        keep=lambda so_far: write_csv(so_far, given.out),
    )
    if not rows:
        sys.stderr.write("Nothing was measured.\n")
        return 1
    write_csv(rows, given.out)
    sys.stdout.write(f"\n{report(rows)}\nWritten to {given.out}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
