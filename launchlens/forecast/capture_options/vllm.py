"""vLLM: ``cudagraph_capture_sizes`` of its compilation configuration."""

from launchlens.forecast.capture_options import CaptureOption


def _default(largest: int) -> list[int]:
    """1, 2, 4, every eighth size below 256, every sixteenth from there on, to 512 at most."""
    sizes = [1, 2, 4, *range(8, 256, 8), *range(256, 513, 16)]
    return [size for size in sizes if size <= largest]


OPTION = CaptureOption(
    "vLLM",
    lambda sizes: (
        f"--compilation-config '{{\"cudagraph_capture_sizes\": [{', '.join(map(str, sizes))}]}}'"
    ),
    _default,
    "vllm/config/compilation.py (cudagraph_capture_sizes)",
)
