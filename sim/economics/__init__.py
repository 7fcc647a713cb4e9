"""From metrics and a price to cost: `prices` says what a GPU-hour costs, `cost` shares it out."""
