"""The Calibration page without a browser: profiles, uploads, and what is wrong with them."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app.dashboard import calibration
from app.dashboard.kernel_words import kernel_words, untimed

PAGE = Path(__file__).parents[3] / "app" / "dashboard" / "views" / "calibration.py"
CSV = """\
operation,precision,gpu,engine,engine_version,latency_us,tokens,outer,inner,source
gemm,bf16,NVIDIA H200,torch,2.9,14.1,16,4096,4096,mine
gemm,bf16,NVIDIA H200,torch,2.9,60.0,16,28672,4096,mine
gemm,bf16,NVIDIA H200,torch,2.9,210.0,1024,14336,4096,mine
"""
RUNS = (
    "case,model,gpu,engine,weights,tensor_parallel,expert_parallel,attention_data_parallel,"
    "concurrency,input_tokens,output_tokens,ttft_ms,tpot_ms\n"
    "a1,llama-3.1-8b,h100_sxm,vllm,fp8,1,1,1,2,128,16,20,6\n"
)


@pytest.fixture
def opened() -> Callable[[], AppTest]:
    def open_page() -> AppTest:
        page = AppTest.from_file(str(PAGE), default_timeout=60).run()
        assert not page.exception
        return page

    return open_page


def upload(page: AppTest, key: str, name: str, content: bytes, kind: str = "text/csv") -> AppTest:
    page.file_uploader(key=key).set_value((name, content, kind)).run()
    assert not page.exception
    return page


def words(page: AppTest) -> str:
    return "\n".join(str(each.value) for each in [*page.markdown, *page.caption, *page.error])


def test_every_shipped_profile_is_shown_with_its_held_out_errors(
    opened: Callable[[], AppTest],
) -> None:
    page = opened()
    names = calibration.profile_names()
    assert tuple(page.selectbox(key="c_profile").options) == names
    for name in names:
        page.selectbox(key="c_profile").set_value(name).run()
        assert not page.exception
        rows = calibration.parts(calibration.profile(name))
        fitted = [row for row in rows if row.points is not None]
        first = page.table[0].value if fitted else ()
        assert len(first) == len(fitted)
        assert "None" not in "".join(table.value.to_csv() for table in page.table[:1])
        others = page.table[bool(fitted) :]
        told = (
            "".join(table.value.to_csv() for table in others)
            .replace("\u200b", "")
            .replace("\u00a0", " ")
        )
        bare = [row for row in rows if row.points is None]
        for assumed in (True, False):
            mine = [row.part for row in bare if (row.origin == "assumed") == assumed]
            for kind in untimed(mine):
                assert kind.kernels in told
                assert kind.formats in told
                assert kind.matters
        assert name in words(page)


def test_uploaded_timings_are_compared_with_the_profile_in_use(
    opened: Callable[[], AppTest],
) -> None:
    page = upload(opened(), "c_timings", "timings.csv", CSV.encode())
    assert "Predicted by h200\\_sxm" in words(page) or "Predicted by h200_sxm" in words(page)
    assert "gemm.bf16" in words(page)
    assert page.selectbox(key="c_part").options == ["gemm.bf16"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (CSV.replace("14.1", "nan").encode(), "latency"),
        (CSV.replace("NVIDIA H200", "Abacus 9000").encode(), "No profile of Abacus 9000"),
        (b"PAR1 and then nothing", "no rows"),
    ],
)
def test_wrong_timings_are_refused_in_one_sentence(
    opened: Callable[[], AppTest], content: bytes, problem: str
) -> None:
    page = upload(opened(), "c_timings", "timings.csv", content)
    assert problem in str(page.error[0].value)


def test_a_truncated_parquet_is_refused(opened: Callable[[], AppTest]) -> None:
    page = upload(opened(), "c_timings", "t.parquet", b"PAR1\x00\x01", "application/octet-stream")
    assert "this Parquet file is cut off" in str(page.error[0].value)


def test_an_uploaded_table_of_runs_is_simulated_and_compared(
    opened: Callable[[], AppTest],
) -> None:
    page = upload(opened(), "c_benchmark", "runs.csv", RUNS.encode())
    assert "Error of TPOT" in words(page)
    assert "Error of TTFT" in words(page)


def test_a_result_that_lacks_its_deployment_says_so(opened: Callable[[], AppTest]) -> None:
    document = {
        "model_id": "m", "num_prompts": 8, "request_rate": "inf", "max_concurrency": 2,
        "completed": 8, "total_input_tokens": 256, "total_output_tokens": 128,
        "mean_ttft_ms": 20.0, "mean_tpot_ms": 8.0,
    }  # fmt: skip
    content = io.BytesIO(json.dumps(document).encode()).getvalue()
    page = upload(opened(), "c_benchmark", "result.json", content, "application/json")
    said = str(page.error[0].value)
    assert said.startswith("result.json: the file does not name the gpu")
    assert said.endswith("give the deployment under *Deployment* below the file")
    page.selectbox(key="c_scenario").set_value("chat-70b-h100").run()
    assert not page.exception
    assert "Measured → predicted" in words(page)


def test_what_to_do_about_a_load_that_is_not_told_is_said_in_words_of_the_page(
    opened: Callable[[], AppTest],
) -> None:
    document = {
        "model_id": "llama-3.1-8b", "num_prompts": 8, "request_rate": None, "completed": 8,
        "total_input_tokens": 256, "total_output_tokens": 128, "mean_ttft_ms": 20.0,
        "mean_tpot_ms": 8.0, "gpu": "h100_sxm",
    }  # fmt: skip
    content = json.dumps(document).encode()
    page = upload(opened(), "c_benchmark", "result.json", content, "application/json")
    assert str(page.error[0].value).endswith("under *Deployment* below the file")
    page.selectbox(key="c_scenario").set_value("chat-70b-h100").run()
    assert "if the benchmark's was another, choose one with its `workload" in words(page)
    assert "--" not in "".join(str(each.value) for each in page.caption)


def test_the_words_of_the_tables_are_explained_where_they_stand(
    opened: Callable[[], AppTest],
) -> None:
    page = upload(opened(), "c_benchmark", "runs.csv", RUNS.encode())
    page = upload(page, "c_timings", "timings.csv", CSV.encode())
    said = "\n".join(str(each.value) for each in page.caption)
    for word in (
        "Held-out error:",
        "by regime:",
        "bias is",
        "p90 (90th",
        "TPOT:",
        "shaded within",
    ):
        assert word in said
    for tool in ("trtllm-bench", "InferenceX", "GuideLLM"):
        assert tool in said


def test_a_deployment_beside_a_table_of_deployments_is_not_ignored_in_silence(
    opened: Callable[[], AppTest],
) -> None:
    page = opened()
    page.selectbox(key="c_scenario").set_value("chat-70b-h100").run()
    page = upload(page, "c_benchmark", "runs.csv", RUNS.encode())
    assert "the one that was chosen is not used" in words(page)


def test_whose_settings_stand_is_chosen_on_the_page_as_its_note_says(
    opened: Callable[[], AppTest],
) -> None:
    theirs = RUNS.replace("128,16,20,6", "1000,100,20,6")  # lengths of AIConfigurator's runs
    page = upload(opened(), "c_benchmark", "runs.csv", theirs.encode())
    assert "if they are not its runs, choose *the engine's own* under *" in words(page)
    assert "--settings" not in words(page)
    page.selectbox(key="c_settings").set_value("engine").run()
    assert not page.exception
    assert "AIConfigurator" not in words(page)


def test_a_file_without_an_end_is_doubted_on_the_page_as_well(
    opened: Callable[[], AppTest],
) -> None:
    page = upload(opened(), "c_benchmark", "runs.csv", RUNS.strip().encode())
    assert "does not end with a line break" in words(page)


def test_every_part_of_every_profile_has_words() -> None:
    """A part of a kind or format that nobody put into words would show as in the file."""
    for name in calibration.profile_names():
        for row in calibration.parts(calibration.profile(name)):
            assert kernel_words(row.part) != row.part
            assert "_" not in kernel_words(row.part)
