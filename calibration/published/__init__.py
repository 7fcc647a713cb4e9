"""Published measurements of decoding strategies, beside what the simulator says of them.

Each module holds the figures of one source, the scenario that stands for it with every assumption
named, and the comparison. Nothing in here is fitted to the figures that it is compared with.
"""
