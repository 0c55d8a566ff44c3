"""Gemma 3n, both fixes: AltUp's epsilon, and the sparsity target filled in on the GPU.

usage: launchlens blockers --model gemma-3n-E4B-it --patch docs/examples/gemma3n_both.py
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from gemma3n_altup import ALTUP, rewrite

SPARSITY = (
    "torch.tensor(self.activation_sparsity, dtype=torch.float32, device=inputs.device)",
    "torch.full((), self.activation_sparsity, dtype=torch.float32, device=inputs.device)",
)

rewrite(ALTUP, SPARSITY)
