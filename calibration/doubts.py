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
  from 42 to 12 %. The published means are of one request at a time on prompts not named, where
  these runs answered random tokens in a chat template. The suite prints no acceptance; none was
  fitted. Without drafts five points of that pull request, none of them in this table, come out 1
  to 8 % short (TP8, 1,024 tokens in and out, 4, 8, 64 and 128 users: 8.63, 10.29, 18.50 and 23.38
  for 8.69, 10.86, 20.06 and 24.54 ms; TP4, 16 users: 16.21 for 16.92), and came out 10 to 18 %
  short before kernels were counted and prompts waited for their launches. The script runs prompts
  by pieces in graphs from 64 users on, which would shorten those two by 1 %. Seven of the
  eight with experts spread come out 26 to 54 % long, and their TTFT short by half. The scripts of
  their time take DeepGEMM, whose experts alone need 5.2 ms a pass with 4 users in the wheel's
  table, of 6.8 ms a token in the row: they too may have drafted.
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
- **Qwen3-235B.** Two GPUs need 48 to 55 ms for a token where weights and cache are read in 15:
  no kernel of the tables is so slow, and no setting was recorded.
- **MiniMax-M2.5 on four H200, and with 8,192-token answers on B200**: 2 to 3 ms a pass more than
  predicted, at any load; other runs of the model, of other dates, lack them.
"""
