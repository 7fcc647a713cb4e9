"""Vidur's profiles: shapes of one rank, ms, and ranks that become one row."""

from pathlib import Path

import pytest

from calibration.timings.vidur import import_vidur
from sim.errors import InputError

MLP_HEAD = (
    "n_head,n_kv_head,n_embd,n_expanded_embd,vocab_size,use_gated_mlp,num_tokens,"
    "num_tensor_parallel_workers,time_stats.attn_pre_proj.median,time_stats.mlp_up_proj.median,"
    "time_stats.mlp_act.median"
)
MLP = "32,8,4096,14336,128256,True,64,2,0.021,0.075,0.004"
ATTENTION_HEAD = (
    "n_embd,n_q_head,n_kv_head,block_size,num_tensor_parallel_workers,batch_size,"
    "prefill_chunk_size,kv_cache_size,is_prefill,attention_backend,"
    "time_stats.attn_prefill.median,time_stats.attn_decode.median"
)
ATTENTION = (
    "4096,32,8,16,1,1,512,1024,True,FLASHINFER,0.3,",
    "4096,32,8,16,1,8,0,2047,False,FLASHINFER,,0.05",
)
REDUCE_HEAD = "time_stats.all_reduce.median,rank,num_workers,size,collective,devices_per_node"
REDUCE = ("0.020,0,2,65536,all_reduce,2", "0.022,1,2,65536,all_reduce,2",
          "0.024,2,2,65536,all_reduce,2")  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {
        "mlp.csv": (MLP_HEAD, MLP),
        "attention.csv": (ATTENTION_HEAD, *ATTENTION),
        "network/all_reduce.csv": (REDUCE_HEAD, *REDUCE),
    }
    for name, lines in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def test_products_have_the_shapes_of_one_rank(folder: Path) -> None:
    rows = import_vidur(folder, gpu="h100_sxm").where(operation="gemm").table.to_pylist()
    shapes = {(row["tokens"], row["outer"], row["inner"]): row["latency_s"] for row in rows}
    assert shapes == {
        (64, (32 + 2 * 8) * 128 // 2, 4096): pytest.approx(21e-6),
        (64, 2 * 14336 // 2, 4096): pytest.approx(75e-6),
    }


def test_attention_counts_the_cache_and_the_chunk(folder: Path) -> None:
    timings = import_vidur(folder, gpu="h100_sxm")
    (prefill,) = timings.where(operation="prefill_attention").table.to_pylist()
    assert (prefill["query_tokens"], prefill["context_tokens"]) == (512, 1536)
    (decode,) = timings.where(operation="decode_attention").table.to_pylist()
    assert (decode["sequences"], decode["context_tokens"], decode["kv_heads"]) == (8, 2048, 8)


def test_ranks_of_one_collective_are_one_row(folder: Path) -> None:
    (row,) = import_vidur(folder, gpu="h100_sxm").where(operation="all_reduce").table.to_pylist()
    assert (row["ranks"], row["message_bytes"], row["repeats"]) == (2, 65536, 3)
    assert row["latency_s"] == pytest.approx(22e-6)


@pytest.mark.parametrize(
    ("name", "lines", "problem"),
    [
        ("mlp.csv", (MLP_HEAD, MLP.replace("0.021", "nan")), "line 2: .*attn_pre_proj.median"),
        ("mlp.csv", (MLP_HEAD, MLP.replace("4096", "x")), "line 2: .*n_embd"),
        ("mlp.csv", ("num_tokens", "1"), "line 2: a figure is missing"),
        ("mlp.csv", (MLP_HEAD, MLP.replace("0.021,0.075", ",")), "holds no `time_stats"),
        ("other.csv", ("a", "1"), "holds no profile of Vidur; known: mlp.csv"),
    ],
)
def test_a_wrong_profile_is_refused(
    tmp_path: Path, name: str, lines: tuple[str, ...], problem: str
) -> None:
    (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=problem):
        import_vidur(tmp_path, gpu="h100_sxm")
