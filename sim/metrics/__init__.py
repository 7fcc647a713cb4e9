"""From records to latency, throughput, targets and intervals. Start with `measure`."""
