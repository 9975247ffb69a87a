import subprocess
import sys

import pytest
import torch

import discsum
from discsum.devices import check_device, check_precision, has_fast_bfloat16, wait_for
from discsum.errors import InputError
from discsum.parsers.loading import load_parser
from discsum.summarizer.options import SummaryOptions


@pytest.mark.parametrize("name", ["foo", "", "meta", "cuda:99", "hpu"])
def test_devices_that_are_not_here(name):
    message = rf"device \(--device\): expected a device that torch can use here, .*got '{name}'"
    with pytest.raises(InputError, match=message):
        check_device(name)
    for model in (discsum.Parser, discsum.ExtractiveSummarizer):
        with pytest.raises(InputError, match=message):
            model.from_pretrained(device=name)
    with pytest.raises(InputError, match=message):
        discsum.parse("It rained.", device=name)
    with pytest.raises(InputError, match=message):
        discsum.summarize("It rained.", device=name)


@pytest.mark.parametrize("given", [None, 0])
def test_a_device_that_is_none(given):
    for function in (discsum.parse, discsum.summarize):
        with pytest.raises(TypeError, match=f"device: expected str or torch.device, got {given}$"):
            function("It rained.", device=given)


def test_a_device_of_torch_stands_for_its_name(parser_folder, summarizer_folders):
    cpu = torch.device("cpu")
    assert load_parser(parser_folder, cpu) is load_parser(parser_folder, "cpu")
    for folder in summarizer_folders.values():
        assert discsum.ExtractiveSummarizer.from_pretrained(folder, device=cpu).device == cpu
    assert SummaryOptions(device=cpu) == SummaryOptions(device="cpu")
    assert discsum.Parser.from_pretrained(parser_folder, device=cpu).device == cpu
    with pytest.raises(InputError, match=r"expected a device that torch can use here, .* got 'meta'"):
        discsum.parse("It rained.", parser=parser_folder, device=torch.device("meta"))


@pytest.mark.parametrize("name", ["fp8", "", "float16", None])
def test_precisions_that_there_are_not(name):
    message = r"precision \(--precision\): expected one of fp32, bf16, fp16, got"
    with pytest.raises(InputError, match=message):
        check_precision(name, "cpu")
    for function in (discsum.parse, discsum.summarize):
        with pytest.raises(InputError, match=message):
            function("It rained.", precision=name)


def test_a_device_without_double_precision(monkeypatch):
    """As Apple's GPUs."""
    ones = torch.ones

    def singles(*size, device, dtype):
        if dtype == torch.float64:
            raise TypeError("no float64")
        return ones(*size, dtype=dtype)

    monkeypatch.setattr(torch, "ones", singles)
    check_device("mps")
    with pytest.raises(InputError, match=r"expected a device that torch can use here, .* got 'mps' \(no float64\)"):
        check_device("mps", doubles=True)


def test_a_device_that_cannot():
    check_precision("fp32", "meta")
    with pytest.raises(InputError, match=r"expected one that meta supports, such as fp32, got bf16 \("):
        check_precision("bf16", "meta")


@pytest.mark.parametrize("instructions", [(), ("avx512_bf16",), ("amx_tile",)])
def test_bfloat16_needs_its_instructions_on_a_processor(instructions, monkeypatch):
    """oneDNN also accepts processors with AVX-512 alone, where bfloat16 is slow."""
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: True)
    for name in ("avx512_bf16", "amx_tile"):
        monkeypatch.setattr(torch.cpu, f"_is_{name}_supported", lambda name=name: name in instructions)
    assert has_fast_bfloat16(torch.device("cpu")) == bool(instructions)
    for native in (True, False):
        monkeypatch.setattr("torch.cuda.is_available", lambda: True)
        monkeypatch.setattr("torch.cuda.is_bf16_supported", lambda including_emulation, native=native: native)
        assert has_fast_bfloat16(torch.device("cuda")) == native
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    assert not has_fast_bfloat16(torch.device("cpu"))


def test_the_processor_needs_no_torch_to_be_there():
    """The process that distributes work computes nothing, so it need not import torch."""
    code = "import sys; from discsum.devices import check_device; check_device('cpu'); print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_the_device_that_is_timed_is_waited_for(monkeypatch):
    """The second GPU, although the first is the current one."""
    waited = []
    monkeypatch.setattr(torch.accelerator, "synchronize", waited.append)
    for name in ("cpu", "cuda:1", "mps"):
        wait_for(torch.device(name))
    assert list(map(str, waited)) == ["cuda:1", "mps"]
