"""Forecasts of traces and stored runs: which steps, with which costs and untraced times."""

from launchlens.workflow.forecasting.forecast import forecast_trace, outlook_of
from launchlens.workflow.forecasting.times import known_times, load_eager, parse_times
from launchlens.workflow.forecasting.wanted import Wanted

__all__ = ["Wanted", "forecast_trace", "known_times", "load_eager", "outlook_of", "parse_times"]
