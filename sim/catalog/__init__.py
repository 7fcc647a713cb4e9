"""Data only: models, workloads and scenarios as YAML, read by the loaders of their packages."""
