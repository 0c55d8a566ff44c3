"""TensorRT-LLM: ``cuda_graph_config`` of its YAML options."""

from launchlens.forecast.capture_options import CaptureOption

OPTION = CaptureOption(
    "TensorRT-LLM",
    lambda sizes: (
        f"cuda_graph_config: {{batch_sizes: [{', '.join(map(str, sizes))}], enable_padding: true}}"
    ),
)
