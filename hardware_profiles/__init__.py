"""Data only: GPUs, what their kernels reach, engines and prices. See README.md here."""
