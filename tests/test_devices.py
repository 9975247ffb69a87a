import subprocess
import sys

import pytest

import discsum
from discsum.devices import check_device
from discsum.errors import InputError


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


def test_a_device_that_is_no_name():
    for function in (discsum.parse, discsum.summarize):
        with pytest.raises(TypeError, match="device: expected str, got None"):
            function("It rained.", device=None)


def test_the_processor_needs_no_torch_to_be_there():
    """The process that hands out work computes nothing."""
    code = "import sys; from discsum.devices import check_device; check_device('cpu'); print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
