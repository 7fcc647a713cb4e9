"""From measured runs to errors, and (to come) from kernel timings to fitted profiles."""
