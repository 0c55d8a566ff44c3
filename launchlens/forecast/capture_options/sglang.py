"""SGLang: ``--cuda-graph-bs``."""

from launchlens.forecast.capture_options import CaptureOption

OPTION = CaptureOption("SGLang", lambda sizes: f"--cuda-graph-bs {' '.join(map(str, sizes))}")
