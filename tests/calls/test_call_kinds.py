"""What a CUDA call is, by its name alone."""

from __future__ import annotations

import pytest

from launchlens.calls import CallKind, base_name, blocks_host, call_kind, kind_name
from launchlens.catalogue import by_name, metrics


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("cudaLaunchKernel_v7000", CallKind.KERNEL),
        ("cudaLaunchKernel_ptsz_v7000", CallKind.KERNEL),
        ("cudaLaunchKernelExC_v11060", CallKind.KERNEL),
        ("cudaLaunchKernelExC_ptsz_v11060", CallKind.KERNEL),
        ("cudaLaunchCooperativeKernel_v9000", CallKind.KERNEL),
        ("cudaLaunchCooperativeKernelMultiDevice_v9000", CallKind.KERNEL),
        ("cuLaunchKernel", CallKind.KERNEL),
        ("cuLaunchKernelEx", CallKind.KERNEL),
        ("cuLaunchKernelEx_ptsz", CallKind.KERNEL),
        ("cuLaunchCooperativeKernel", CallKind.KERNEL),
        ("cudaGraphLaunch_v10000", CallKind.GRAPH),
        ("cudaGraphLaunch_ptsz_v10000", CallKind.GRAPH),
        ("cuGraphLaunch", CallKind.GRAPH),
        ("cudaMemcpyAsync_v3020", CallKind.MEMCPY),
        ("cudaMemcpy_ptds_v7000", CallKind.MEMCPY),
        ("cudaMemcpy2DAsync_v3020", CallKind.MEMCPY),
        ("cuMemcpyHtoDAsync_v2", CallKind.MEMCPY),
        ("cudaMemsetAsync_v3020", CallKind.MEMSET),
        ("cuMemsetD8Async", CallKind.MEMSET),
        ("cudaStreamSynchronize_v3020", CallKind.SYNC),
        ("cudaStreamSynchronize_ptsz_v7000", CallKind.SYNC),
        ("cudaDeviceSynchronize_v3020", CallKind.SYNC),
        ("cudaEventSynchronize_v3020", CallKind.SYNC),
        ("cuCtxSynchronize", CallKind.SYNC),
        ("cuStreamSynchronize", CallKind.SYNC),
        ("cuEventSynchronize", CallKind.SYNC),
        ("cudaThreadSynchronize_v3020", CallKind.SYNC),
        ("cudaMalloc_v3020", CallKind.ALLOC),
        ("cudaMallocAsync_v11020", CallKind.STREAM_ALLOC),
        ("cudaFreeAsync_v11020", CallKind.STREAM_ALLOC),
        ("cuMemAllocFromPoolAsync", CallKind.STREAM_ALLOC),
        ("cudaFree_v3020", CallKind.ALLOC),
        ("cudaHostAlloc_v3020", CallKind.ALLOC),
        ("cuMemCreate", CallKind.ALLOC),
        ("cuMemSetAccess", CallKind.ALLOC),
        ("cuMemAddressFree", CallKind.ALLOC),
        ("cudaEventQuery_v3020", CallKind.QUERY),
        ("cuStreamQuery", CallKind.QUERY),
        ("cuModuleLoadData", CallKind.LOAD),
        ("cudaLibraryLoadData", CallKind.LOAD),
        ("cudaEventRecord_v3020", CallKind.RECORD),
        ("cudaEventRecordWithFlags_v11010", CallKind.RECORD),
        ("cudaStreamWaitEvent_v3020", CallKind.WAIT),
        ("cudaStreamBeginCapture_v10010", CallKind.BEGIN_CAPTURE),
        ("cuStreamBeginCaptureToGraph", CallKind.BEGIN_CAPTURE),
        ("cudaStreamEndCapture_v10000", CallKind.END_CAPTURE),
        # Alike in name, not in what they do:
        ("cudaGraphInstantiate_v12000", CallKind.OTHER),
        ("cudaGraphKernelNodeSetParams_v10000", CallKind.OTHER),
        ("cudaStreamIsCapturing_v10000", CallKind.OTHER),
        ("cuMemGetInfo", CallKind.OTHER),
        ("cuGetProcAddress_v2", CallKind.OTHER),
        ("cudaLaunchHostFunc_v10000", CallKind.OTHER),
        ("cudaLaunchKernelNotThis", CallKind.OTHER),
    ],
)
def test_kind_of_a_call_by_its_base_name(name, kind):
    assert call_kind(name) is kind


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("cudaLaunchKernel_v7000", "cudaLaunchKernel"),
        ("cudaLaunchKernel_ptsz_v7000", "cudaLaunchKernel"),
        ("cudaLaunchKernel_v7000_ptsz", "cudaLaunchKernel"),
        ("cudaMemcpy_ptds", "cudaMemcpy"),
        ("cuMemcpyHtoDAsync_v2", "cuMemcpyHtoDAsync"),
        ("cuLaunchKernel", "cuLaunchKernel"),
    ],
)
def test_suffixes_are_not_part_of_a_name(name, base):
    assert base_name(name) == base


def test_only_synchronizes_and_copies_without_async_block():
    assert blocks_host("cudaMemcpy_v3020")
    assert blocks_host("cuMemcpyDtoH_v2")
    assert blocks_host("cudaEventSynchronize_v3020")
    assert not blocks_host("cudaMemcpyAsync_v3020")
    assert not blocks_host("cudaMemset_v3020")


def test_the_catalogue_names_kinds_that_there_are():
    named = {kind for metric in metrics() for kind in metric.calls}
    assert named <= {kind.name.lower() for kind in CallKind}


@pytest.mark.parametrize(
    ("metric", "api", "counted"),
    [
        ("launches", "cudaGraphLaunch", True),
        ("kernel_launches", "cudaGraphLaunch", False),
        ("kernel_launches", "cudaLaunchHostFunc", False),
        ("alloc_calls", "cuMemMap", True),
        ("alloc_calls", "cudaMallocAsync", True),
        ("submissions", "cudaMemsetAsync", True),
        ("sync_calls", "cudaEventQuery", False),
    ],
)
def test_a_metric_tells_the_calls_that_it_counts(metric, api, counted):
    assert (kind_name(api) in by_name()[metric].calls) is counted
