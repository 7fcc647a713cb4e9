"""What is not known of the measured runs, and what the rows themselves say about it."""

from typing import Final

DOUBTS: Final = """\
## Doubts

What the table does not tell, and what the rows say when asked. But for the FP8 cache, no setting
came of it.

- **DeepSeek-R1 on TensorRT-LLM: tokens drafted?** With 4 users on eight B200 a token took 4.37 ms.
  Rows of the kernel tables, added by hand for one such pass (58 x 41 us of experts, 61 x 28 us of
  attention over the latent, 123 x 6 us of all-reduce, 2.9 ms of products), are 7.7 ms at 4 users
  and 16.6 at 64; `explain` says 7.6 and 17.6. So the pieces are priced as they were timed, and the
  run was faster than they can be. Eight GPUs needed half the time of four (8.6 for 17.1 ms with
  16 users), though what every rank repeats does not shrink. Simulated with one drafted token (MTP)
  the median error of 16 rows falls from 26 to 16 % at the 85 % that DeepSeek publishes for
  acceptance, and to 8 % at 60 %; the row on four GPUs gets worse (-15 to -25 %). Part of the runs
  did speculate, it seems; the table does not say which.
- **gpt-oss with 512 users on H100.** In all seven rows, five of them marked suspect, the first
  token takes 81 to 83 % of a request's time, whatever the lengths and GPUs: no queue does that. On
  eight GPUs a prompt of 8,192 tokens would take the server 46 ms, a third of what it takes with
  4 users. The two rows that are not marked make gpt-oss's mean error three times its median.
- **MiniMax-M2.5: experts spread or not?** Most rows say `expert_parallel` 1; the script of B200
  switches spreading on for any size of 1 or more. On eight GPUs it must have been on: an eighth of
  an expert (192 columns) is no multiple of the checkpoint's blocks of 128, and vLLM refuses that.
  On two and four GPUs the same loads under both labels differ by 1 to 4 % of TPOT (a month apart),
  as predicted for either; read as labelled, the median error of 33 rows is 8.6 instead of 8.2 %.
- **MiniMax-M2.5 on B200: an FP8 cache.** Two GPUs hold 370 requests of 1,024 tokens in and out in
  bf16, yet 512 users got their first token within 1.4 s; with 8,192 tokens in, the measured wait
  is that of about 100 requests at a time, where bf16 has room for 66 and FP8 for 131. So the
  cache is taken to be in FP8 there; without, TPOT of these 31 rows is off by 8.2 instead of 5.9 %
  (median).
- **Lengths of Llama-70B on TensorRT-LLM.** Means of 0.75 of the nominal length (50 to 100 %)
  would make TTFT 12 % too short in the median of 17 rows; with 0.9 (80 to 100 %) it is 3 %. TPOT
  does not tell. Held prompts go at 0.75 or at 0.9 of the budget: no row tells.
- **Qwen3-235B.** Two GPUs need 48 to 55 ms for a token where weights and cache are read in 15:
  no kernel of the tables is so slow, and no setting was recorded.
- **MiniMax-M2.5 on four H200, and with 8,192-token answers on B200**: 2 to 3 ms a pass more than
  predicted, at any load; other runs of the model, of other dates, lack them.
"""
