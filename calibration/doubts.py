"""What is not known of the measured runs, and what the rows themselves say about it."""

from typing import Final

DOUBTS: Final = """\
## Doubts

What the table does not tell, and what the suite's own sources or the rows say when asked. Where
the sources leave two settings open, the rows have been heard four times: whether R1 drafted tokens
on TensorRT-LLM, Llama-70B's cache on H100, and of the runs of AIConfigurator's team how far
lengths spread and whether a limit of prompt tokens was in force. No other setting was chosen by
what it does to a row. Errors in this section are of the day a doubt was looked into; the tables
above are of today.

- **DeepSeek-R1 on TensorRT-LLM: tokens drafted?** The suite swept it with and without multi-token
  prediction (its `nvidia-master.yaml` at 0004cf5f), and the table does not say which a row is.
  *Drafted, for sure* (7 of 18): eight GPUs with data-parallel attention and 128 users, and with 16
  users, were swept with drafts only; with 4 and 64 users the suite's pull request 3317 lists 8.69
  and 20.06 ms a token without drafts (2026-05-18), where the table has 5.38 and 14.21, and less
  still for answers of 8,192 tokens. *Not drafted*: four GPUs (17.10 here, 16.92 there), and 64
  users with long prompts and experts spread (in one of the first two sweeps, `nvidia-master.yaml`
  at 525079ad). *By the rows* (6): short prompts and experts spread were in both sweeps of their
  time (TensorRT-LLM 1.1.0rc2); with 4 users they take 6.8 to 7.8 ms a token, where all but the
  experts is 5.4 ms of a simulated pass and DeepGEMM, which both scripts take, needs 5.2 ms for the
  experts in the wheel's table. No plain pass is that short, so they are simulated with three
  drafts, as `dsr1_fp8_b200_trt_mtp_slurm.sh` (40be3a4b) drafts: 23 to 34 % short instead of 33 to
  54 % long. What else of that version was slow is not known: with the experts of DeepGEMM, as the
  wheel times them in 1.3.0rc20, they would be 21 to 35 % short, and the two plain rows with
  experts spread no better; their first tokens are 40 to 58 % early either way. An early version of
  that code (fused_moe_deepgemm.py at 01738366, of a day not known) starts some twenty kernels more
  a layer and puts the scales of all experts' weights in order anew in each pass, where later ones
  do it at loading: that would be late first tokens and slow passes, but nobody timed it. *Not
  known* (3): long prompts on eight GPUs, simulated without.
  The seven draft three tokens (data-parallel: one) with the means that TensorRT-LLM published for
  this model on eight B200 (2.82 and 1.92 tokens a pass, 2025-05): their median error of TPOT falls
  from 42 to 12 %. The published means are of one request at a time on prompts not named, where
  these runs answered random tokens in a chat template. The suite prints no acceptance; none was
  fitted. Without drafts five points of that pull request, none of them in this table, come out 1
  to 8 % short (TP8, 1,024 tokens in and out, 4, 8, 64 and 128 users: 8.63, 10.29, 18.50 and 23.38
  for 8.69, 10.86, 20.06 and 24.54 ms; TP4, 16 users: 16.21 for 16.92), and came out 10 to 18 %
  short before kernels were counted and prompts waited for their launches. The script runs prompts
  by pieces in graphs from 64 users on, which would shorten those two by 1 %.
- **DeepSeek-R1 on SGLang, B200: tokens drafted?** Since pull request 626 (2026-02-03) eight GPUs
  without spread experts were swept with two drafts (`dsr1_fp8_b200_mtp.sh`), up to 64 users and
  later up to 512; the plain sweep ends at 64 users, and at 4 with long prompts (525079ad,
  15843cbf). Rows with 128 and 256 users thus drafted, and those with long prompts and 8 users or
  more did unless they are older. At first (574bcd35) no chat template was used, and on bare random
  prompts acceptance collapses (pull request 1736): a pass then verifies three positions for one
  token, as the two rows with long prompts, slower than simulated, suggest. Answers of 8,192 tokens
  with 4 users, at 5.76 ms, far less than simulated, were swept both ways. No acceptance is
  printed: all are simulated without.
- **Llama-70B on H100.** The first script (70b_fp8_h100_docker.sh, a fork's 4e3c32ef) leaves the KV
  cache at bf16, a later one (2a205bb3) sets fp8. On two GPUs 64 users with long prompts wait 59 s
  for their first token; a bf16 cache gives 54 s, one in fp8 7 s. The rows go by the first.
- **Llama-70B on vLLM.** The suite had dropped the model when 2026 began (`nvidia-master.yaml` at
  525079ad lacks it): its rows are of vLLM 0.10.2 (pull request 11, 2025-09-15) to 0.11 (159,
  2025-11-04), older than the preset's versions. On B200 all versions of the script that can be
  read capture graphs for decode passes alone (`FULL_DECODE_ONLY`, `splitting_ops: []`; bb4c7f93);
  H100's and H200's leave vLLM's default, with graphs by pieces for prompts too: a reason for the
  late first tokens on B200.
- **Llama-70B on TensorRT-LLM.** All versions of its scripts that can be read hold prompts up to 90
  % of the budget; the budget is 16,384 tokens in all but one (73ef9225: the longest request).
- **gpt-oss on H100: two kernels.** Since pull request 327 (vLLM 0.12, end of 2025) one kind of
  machine ran the experts in Marlin's kernels, the other set FlashInfer's MXFP8; a row does not say
  which.
- **Llama-8B and Qwen3-235B.** Their lengths and users are those that AIConfigurator's team
  searches, so SGLang is taken as its generator starts it (benchmark/sglang.rule at 043c66c5:
  prompts are mixed into decode passes) and the load as its runner drives it (genai_perf_runner.py
  at 5e161875): nominal lengths are means. That runner sends prompts of one length; then all users
  march in step, first tokens take twice as long as measured, short answers come 30 % too fast.
  How far users really drift apart is not known; lengths spread by 10 % either way. TTFT turns on
  it: 26 % is the median error of 18 rows of Llama-8B with 10 %, 21 % with 5 %, at a point more of
  TPOT. A limit that the generator sets too (`--max-prefill-tokens`) is not in force in the rows:
  240 users on eight GPUs get 1.8 prompts in for each token, where it lets in one.
- **DeepSeek-R1 on SGLang.** Prompts on B200 take 1.7 times their kernels, on H200 hardly longer
  than these; one factor stands for both. The script of B200 takes FlashInfer's products by blocks
  of FP8 (`SGLANG_ENABLE_FLASHINFER_GEMM`, DeepGEMM's off), while the tables hold DeepGEMM's
  alone. With experts spread (three rows of 8,192 tokens on B200) they take twice as long as
  without. First tokens of short prompts come about 0.1 s later than simulated at any load, as if
  the first round took a second more: kernels that are compiled when a size is first seen (vLLM
  issue 56684 has 3 s for each). No constant was made for that.
- **gpt-oss with 512 users on H100.** In all seven rows, five of them marked suspect, the first
  token takes 81 to 83 % of a request's time, whatever the lengths and GPUs: no queue does that. On
  eight GPUs a prompt of 8,192 tokens would take the server 46 ms, a third of what it takes with 4
  users. The two rows that are not marked make gpt-oss's mean error three times its median.
- **MiniMax-M2.5 on B200: two scripts.** At first experts were spread whatever the label, with a
  cache in bf16 and 95 % of the memory, in Triton's kernels (the script switched FlashInfer's and
  DeepGEMM's off); since the suite's pull requests 947 (2026-04-03) and 1010 labels hold, vLLM
  chooses the kernels, graphs hold up to 2,048 tokens, the cache is in FP8, a pass takes two
  prompts and the memory ends at 90 %. Rows of 8,192-token answers (swept at first only) go by the
  first script, and those of before that day whose experts are labelled as not spread (the first
  sweep named no label); the other 26 by the second, though some of up to 64 users may be older
  than the date they bear. With Triton's kernels, those of vLLM 0.22 in the wheel, the five rows of
  the first sweep are 2 to 14 % short in TPOT, with what vLLM takes by itself 11 to 22 %. The four
  of 2026-03-25 with a label are of the request's own runs (vLLM 0.18, as it read then); whether
  these had the FP8 cache already is not known.
- **MiniMax-M2.5 on H200.** The rows are older than pull request 1354 (2026-05-12), which brought
  FP8. On eight GPUs experts were spread (pull request 869), though labelled 1: an eighth of an
  expert (192 columns) is no multiple of the checkpoint's blocks of 128, which vLLM refuses. On
  four they were not (831), under vLLM 0.16.0 alone (2026-03-01 to 03-05). That release puts
  FlashInfer's CUTLASS experts before Triton's on Hopper (vLLM's issue 34249); pull request 34260,
  made two days after it was branched off, turned that round where experts are not spread. They are
  the kernels of TensorRT-LLM, whose timings of this very shape are twice as long as Triton's with
  few tokens: 123 for 63 us a layer with four. With them the four rows are 0 to 4 % short in TPOT,
  24 to 33 % with Triton's; first tokens are 12 to 36 % late, where they were 7 % early to 3 %
  late: prompts of all models with experts are taken as 1.5 times their kernels.
- **MiniMax-M2.5 on vLLM: what is not counted.** vLLM multiplies the router in FP32 (pull request
  42501 would have ended that), which no table times; it is counted in bf16. The norms of queries
  and keys need one all-reduce a layer since pull request 31493 (2025-12-29; SGLang's 14416), and
  two are counted: with one, TPOT of the 44 rows would be 1 to 4 % shorter, and 5.6 instead of
  5.0 % off in the median. The one hides the other.
- **Lengths of Llama-70B on TensorRT-LLM.** Means of 0.75 of the nominal length (50 to 100 %) would
  make TTFT 12 % too short in the median of 17 rows; with 0.9 (80 to 100 %) it is 3 %. TPOT does
  not tell.
- **Qwen3-235B.** Two GPUs need 48 to 55 ms for a token where weights and cache are read in 15: no
  kernel of the tables is so slow, and no setting was recorded. It is the passes without prompts:
  answers of 100 tokens, most of whose passes hold prompts, leave some 30 ms on two GPUs and 18 on
  four for the others, longer answers 45 to 49 and 27 to 31. vLLM has tuned Triton tiles of both
  shapes for this GPU (E=128, N=384 and 768, fp8_w8a8, blocks of 128), so that its untuned ones are
  no reason, and an eager server would not be quicker on four GPUs than on two.
"""
