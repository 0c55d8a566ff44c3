"""Short kernel names: what they say, and that no two of a report are alike."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from launchlens.kernel_names import WIDEST, short_kernel, short_names

_MEAN = (
    "void at::native::reduce_kernel<(int){}, (int)1, at::native::ReduceOp<{}, at::native::MeanOps<"
    "{}, float, float, {}>, unsigned int, {}, (int)4, (int)8>>(T3)"
)


@pytest.mark.parametrize(
    ("full", "short"),
    [
        (_MEAN.format(512, *["c10::BFloat16"] * 4), "reduce_kernel (MeanOps)"),
        (
            "void at::native::vectorized_elementwise_kernel<(int)4, "
            "at::native::CUDAFunctorOnSelf_add<long>, std::array<char *, 2>>(int, T2, T3)",
            "vectorized_elementwise_kernel (CUDAFunctorOnSelf_add)",
        ),
        (
            "void at::native::elementwise_kernel<(int)128, (int)2, void at::native::"
            "gpu_kernel_impl_nocast<at::native::BinaryFunctor<float, float, float, at::native::"
            "binary_internal::MulFunctor<float>>>(at::TensorIteratorBase &, const T1 &)::"
            "[lambda(int) (instance 1)]>(int, T3)",
            "elementwise_kernel (MulFunctor)",
        ),
        (
            "std::enable_if<T2>(int)0&&vllm::_typeConvert<T1>::exists, void>::type vllm::"
            "fused_add_rms_norm_kernel<c10::BFloat16, (int)8, (bool)1>(T1 *, long, float, int)",
            "fused_add_rms_norm_kernel",
        ),
        (
            "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>(T1::Params)",
            "cutlass_80_simt_sgemm_128x32_8x5_nn_align1",
        ),
        (
            "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<"
            "flash::Mainloop<(int)2>>>>(T1::Params)",
            "FlashAttnFwdSm90",
        ),
        (
            "void <unnamed>::elementwise_kernel_with_index<int, at::native::arange_cuda_out(const "
            "c10::Scalar &)::[lambda() (instance 1)]>(T1, T2)",
            "elementwise_kernel_with_index (arange_cuda_out)",
        ),
        ("nvjet_sm90_tst", "nvjet_sm90_tst"),
        ("[CUDA graph]", "[CUDA graph]"),
        ("[memcpy]", "[memcpy]"),
        ("", ""),
    ],
)
def test_a_kernel_is_called_by_its_function_and_what_it_computes(full, short):
    assert short_kernel(full) == short


def test_the_data_type_tells_apart_first_then_other_arguments_then_a_number():
    bf16, other, fp32 = (
        _MEAN.format(size, *[kind] * 4)
        for size, kind in ((512, "c10::BFloat16"), (128, "c10::BFloat16"), (512, "float"))
    )
    assert short_names([bf16, other, fp32]) == {
        bf16: "reduce_kernel (MeanOps, bf16, 512)",
        other: "reduce_kernel (MeanOps, bf16, 128)",
        fp32: "reduce_kernel (MeanOps, float)",
    }
    swapped = ["void f<(int)1, (int)2>(T)", "void f<(int)2, (int)1>(T)"]
    assert list(short_names(swapped).values()) == ["f #1", "f #2"]


def test_long_plain_names_keep_both_ends_and_what_differs():
    names = [f"cudnn_generated_{'x_' * 40}64x128x{n}_{'y_' * 20}kernel0_0" for n in (128, 256)]
    for name, short in short_names(names).items():
        assert len(short) <= WIDEST
        assert short.startswith("cudnn_generated_")
        assert name.split("64x128x")[1].split("_")[0] in short
    assert len(short_kernel("x" * 5000)) == WIDEST


def test_names_do_not_depend_on_the_order_in_which_kernels_ran():
    names = [_MEAN.format(n, *[kind] * 4) for n in (1, 2, 3) for kind in ("float", "c10::Half")]
    shuffled = random.Random(7).sample(names, len(names))
    assert short_names(shuffled) == short_names(names)


_PIECES = st.sampled_from(
    [
        "void ",
        "f",
        "g_kernel",
        "<",
        ">",
        "(",
        ")",
        ", ",
        "::",
        "(int)8",
        "float",
        "->",
        "[x]",
        "MeanOps",
    ]
)


@given(st.lists(st.lists(_PIECES, max_size=12).map("".join) | st.text(max_size=90), max_size=12))
def test_any_names_become_short_and_distinct(names):
    short = short_names(names)
    assert set(short) == set(names)
    assert len(set(short.values())) == len(short)
    assert all(len(said) <= WIDEST for said in short.values())


def test_many_alike_are_only_numbered():
    names = [f"void f<(int){i}, (int){i + 1}>(T)" for i in range(3000)]
    assert len(set(short_names(names).values())) == 3000
