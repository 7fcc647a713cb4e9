"""Fit an engine's host layer on measured serving runs; one set of values for all models."""

from calibration.engine.fit import EngineFit, fit_engine
from calibration.engine.solve import LeftOut

__all__ = ["EngineFit", "LeftOut", "fit_engine"]
