"""What is not known of the measured runs, and what the rows themselves say about it."""

from typing import Final

DOUBTS: Final = """\
## Doubts

What the table does not tell, and what the suite's own sources or the rows say when asked. No
setting was chosen by the error of a row.

- **DeepSeek-R1 on TensorRT-LLM: tokens drafted?** The suite swept it with and without multi-token
  prediction (its `nvidia-master.yaml` at 0004cf5f), and the table does not say which a row is.
  *Drafted, for sure* (7 of 18): eight GPUs with data-parallel attention and 128 users, and with 16
  users, were swept with drafts only; with 4 and 64 users the suite's pull request 3317 lists 8.69
  and 20.06 ms a token without drafts (2026-05-18), where the table has 5.38 and 14.21, and less
  still for answers of 8,192 tokens. *Not drafted*: four GPUs (17.10 here, 16.92 there).
  *Not known* (10): long prompts on eight GPUs (in both sweeps) and experts spread without
  data-parallel attention (older than either); they are simulated without.
  The seven draft three tokens (data-parallel: one) with the means that TensorRT-LLM published for
  this model on eight B200 (2.82 and 1.92 tokens a pass, 2025-05): their median error of TPOT falls
  from 42 to 20 %, all now short, by 8 to 25 %. Two parts of that are known: without drafts the
  simulated passes are 13 to 15 % shorter than those of the pull request at all three loads above;
  and the published means are of one request at a time on prompts not named, where these runs
  answered random tokens in a chat template. The suite prints no acceptance; none was fitted. The
  median of the other eleven is 24 %.
- **gpt-oss with 512 users on H100.** In all seven rows, five of them marked suspect, the first
  token takes 81 to 83 % of a request's time, whatever the lengths and GPUs: no queue does that. On
  eight GPUs a prompt of 8,192 tokens would take the server 46 ms, a third of what it takes with
  4 users. The two rows that are not marked make gpt-oss's mean error three times its median.
- **MiniMax-M2.5 on B200: two scripts.** At first experts were spread whatever the label, with a
  cache in bf16 and 95 % of the memory; since the suite's pull requests 947 (2026-04-03) and 1010
  labels hold, the cache is in FP8, a pass takes two prompts and the memory ends at 90 %. Rows of
  before that day, and of 8,192-token answers (swept at first only), go by the first script, the
  other 22 by the second, though some of up to 64 users may be older than the date they bear.
  When one mixture stood for all, the median error of TPOT was 5.9 % and that of TTFT 16.2 %; now
  they are 7.5 and 10.9 % (p90 from 19.8 to 16.0 and from 34.7 to 27.3 %). The FP8 cache, once
  read off 512 users whose first tokens came within 1.4 s, is thus in the script.
- **MiniMax-M2.5 on H200.** The rows are older than pull request 1354 (2026-05-12), which brought
  FP8. On eight GPUs experts were spread (pull request 869), though labelled 1: an eighth of an
  expert (192 columns) is no multiple of the checkpoint's blocks of 128, which vLLM refuses. On
  four they were not (831); taken as spread, those four rows would be off by 23 instead of 29 %.
- **Lengths of Llama-70B on TensorRT-LLM.** Means of 0.75 of the nominal length (50 to 100 %)
  would make TTFT 12 % too short in the median of 17 rows; with 0.9 (80 to 100 %) it is 3 %. TPOT
  does not tell. Held prompts go at 0.75 or at 0.9 of the budget: no row tells.
- **Llama-8B on SGLang.** Lengths and users are those that AIConfigurator searches, so the servers
  are taken as its generator starts them (mixed chunks), and the load as its runner drives it:
  nominal lengths are means. That runner asks for no spread; then users would march in step, first
  tokens take twice as long as measured and short answers come 30 % too fast. How far they really
  drift apart is not known; lengths spread by 10 % either way. TTFT turns on it: 26 % is the median
  error of 18 rows with 10 %, 21 % with 5 %, at a point more of TPOT. A limit on prompts that the
  generator sets too (`--max-prefill-tokens`) is not in force in the rows: 240 users on eight GPUs
  get 1.8 prompts in for each token, where it lets in one.
- **DeepSeek-R1 on SGLang.** Prompts on B200 take 1.7 times their kernels, on H200 hardly longer
  than these; one factor stands for both. With experts spread (three rows of 8,192 tokens on B200)
  they take twice as long as without. First tokens of all loads come about 0.1 s later than
  simulated where prompts are short, as if the first round took a second more: kernels that are
  compiled when a size is first seen (vLLM issue 56684 has 3 s for each). No constant was made for
  that.
- **Qwen3-235B.** Two GPUs need 48 to 55 ms for a token where weights and cache are read in 15:
  no kernel of the tables is so slow, and no setting was recorded.
- **MiniMax-M2.5 on four H200, and with 8,192-token answers on B200**: 2 to 3 ms a pass more than
  predicted, at any load; other runs of the model, of other dates, lack them.
"""
