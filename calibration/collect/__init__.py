"""Microbenchmarks of the user's own GPU (or CPU). Only this folder imports torch."""
