"""Calibration: how well profiles are known, and your measurements beside the predictions."""

import streamlit as st

from app.dashboard import calibration as shown
from app.dashboard import tables
from app.dashboard.kernel_words import UNTIMED, kernel_words, untimed
from app.dashboard.markdown import escape
from app.dashboard.state import scenario_named, scenario_names
from calibration.fit.compare import ComparedPart, compare_timings
from calibration.timings import Timings
from sim.errors import SimError
from sim.hardware import list_gpus, load_gpu
from sim.report.figures.parity import ParityPoint, parity_figure
from sim.report.figures.residuals import ResidualPoint, residual_figure
from sim.report.figures.template import CONFIG, Figure
from sim.report.words import maybe, percent

PREFIX = "c_"
MOST_POINTS = 3_000  # kernels drawn of one part; a browser slows down with more


def page() -> None:
    """Draw the four parts behind tabs."""
    st.markdown("### How well the numbers are known")
    names = ["Profiles", "Your kernel timings", "Your benchmark", "Validation"]
    drawers = (profiles, timings, benchmark, validation)
    for tab, draw in zip(st.tabs(names), drawers, strict=True):
        with tab:
            draw()


def profiles() -> None:
    """Draw one fitted profile: the finding, then every kernel with its held-out error."""
    names = shown.profile_names()
    name = st.selectbox("Profile", names, key=f"{PREFIX}profile", bind="query-params")
    fitted = shown.profile(name)
    rows = shown.parts(fitted)
    st.markdown(f"##### {escape(shown.finding(name, rows))}")
    st.caption(escape(shown.KERNELS))
    tables.draw_records(
        [
            {
                "kernel": kernel_words(row.part),
                "timings": f"{row.points:,}",
                "held-out error": maybe(row.held_out, percent),
                "by regime": "; ".join(
                    f"{key}: {value:.1%}" for key, value in row.regimes.items()
                ),
                "kernels of": row.kernels,
                "origin": row.origin,
            }
            for row in rows
            if row.points is not None
        ]
    )
    bare = [row for row in rows if row.points is None]
    by_hand = untimed(row.part for row in bare if row.origin != "assumed")
    borrowed = untimed(row.part for row in bare if row.origin == "assumed")
    heads = ("kernels", "number formats", "used by")
    if by_hand:
        st.markdown("##### Set by hand from published figures, without an error of their own")
        tables.draw_rows(heads, by_hand)
    if borrowed:
        st.markdown("##### Not timed on this GPU")
        st.caption(escape(UNTIMED))
        tables.draw_rows(heads, borrowed)
    st.caption(escape(f"{fitted.origin}, {fitted.source} ({fitted.as_of})"))


def timings() -> None:
    """Compare uploaded kernel timings with the profile that a scenario would use."""
    st.caption(
        "From `paretoken calibrate collect` or `calibrate import`: Parquet, or CSV with the"
        " columns of the timings schema."
    )
    upload = st.file_uploader("Kernel timings", type=["parquet", "csv"], key=f"{PREFIX}timings")
    if upload is None:
        return
    try:
        found = shown.read_upload(upload.name, upload.getvalue())
        _kernels(found)
    except SimError as error:
        st.error(escape(shown.complaint(error, upload.name)))


def _kernels(found: Timings) -> None:
    known = set(list_gpus())
    gpus = [name for name in found.texts("gpu") if name in known]
    if not gpus:
        st.error(escape(f"No profile of {', '.join(found.texts('gpu'))} to compare with."))
        return
    gpu = st.selectbox("GPU", gpus, key=f"{PREFIX}gpu")
    engines = [name for name in found.texts("engine") if name != "nccl"] or ["generic"]
    engine = st.selectbox("Kernels of", engines, key=f"{PREFIX}engine")
    profile = shown.in_use(gpu, engine)
    rows = found.where(gpu=gpu, engine=[engine, "nccl"])
    parts = compare_timings(rows, load_gpu(gpu), profile)
    if not parts:
        st.error("None of these kernels is one that a profile predicts.")
        return
    title = ", ".join(f"{part.part} off by {part.mape:.0%}" for part in parts)
    st.markdown(f"##### Predicted by {escape(profile.gpu)} ({escape(profile.engine)}): {title}")
    st.caption(escape(shown.RESIDUALS))
    name = st.selectbox("Kernel", [part.part for part in parts], key=f"{PREFIX}part")
    part = next(each for each in parts if each.part == name)
    left, right = st.columns(2)
    with left:
        chart(parity_figure(_sample(part), quantity="latency", dark=_dark()), "parity")
    with right:
        chart(_residuals(part), "residuals")


def _sample(part: ComparedPart) -> list[ParityPoint]:
    step = len(part.at) // MOST_POINTS + 1
    return shown.kernel_points(part.measured_s[::step], part.predicted_s[::step])


def _residuals(part: ComparedPart) -> Figure:
    step = len(part.at) // MOST_POINTS + 1
    pairs = zip(part.at[::step].tolist(), part.errors[::step].tolist(), strict=True)
    points = [ResidualPoint(f"{part.quantity} {at:g}", at, error) for at, error in pairs]
    return residual_figure(points, quantity=part.quantity, dark=_dark())


def benchmark() -> None:
    """Simulate an uploaded benchmark and compare."""
    st.caption(escape(f"A result of {shown.TOOLS}; or a CSV table of measured runs."))
    upload = st.file_uploader(
        "Benchmark result", type=["json", "jsonl", "csv"], key=f"{PREFIX}benchmark"
    )
    scenario = st.selectbox(
        "Deployment, where the file does not tell it",
        (None, *scenario_names()),
        format_func=lambda name: "as the file tells" if name is None else name,
        key=f"{PREFIX}scenario",
    )
    settings = st.selectbox(
        "Settings, where a table of runs says nothing",
        tuple(shown.SETTINGS),
        format_func=lambda whose: shown.SETTINGS[whose],
        key=f"{PREFIX}settings",
    )
    if upload is None:
        return
    base = None if scenario is None else scenario_named(scenario)
    try:
        with st.spinner("Simulating the runs…"):
            checked = shown.check_upload(upload.name, upload.getvalue(), base, settings)
    except SimError as error:
        st.error(escape(shown.complaint(error, upload.name)))
        return
    st.caption(escape(f"{shown.ERRORS} {shown.MORE_FIGURES}"))
    for note in checked.notes:
        st.caption(f":material/info: {escape(note)}.")
    for column, (name, points) in zip(st.columns(3), checked.points.items(), strict=False):
        if points:
            with column:
                chart(parity_figure(points, quantity=name, dark=_dark()), f"parity {name}")
    for table in checked.tables:
        if table.rows:
            st.markdown(f"##### {escape(table.title)}")
            tables.draw_rows(table.columns, table.rows)


def validation() -> None:
    """Show the error table of the shipped validation."""
    tables = shown.validation_tables()
    if tables is None:
        st.info(
            "The table is written by `make accuracy`; your own: `paretoken validate RUNS.csv`."
        )
    else:
        st.caption(escape(shown.ERRORS))
        st.markdown(tables)


def chart(figure: Figure, key: str) -> None:
    """Draw one figure."""
    st.plotly_chart(figure, theme=None, config=CONFIG, key=f"{PREFIX}{key}")


def _dark() -> bool:
    return st.context.theme.type == "dark"


page()
