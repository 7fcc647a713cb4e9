"""The dashboard: pages that draw, and beside them what they draw, as plain data."""
