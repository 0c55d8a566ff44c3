"""What capture would bring, from an eager trace alone: the step's dependencies, simulated."""

from launchlens.forecast.forecasting import KnownTime, PhaseForecasts, TracedStep, forecast_phase

__all__ = ["KnownTime", "PhaseForecasts", "TracedStep", "forecast_phase"]
