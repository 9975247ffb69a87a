"""A simulated device: tensors in CPU memory that behave as if they were on another device.

Operations fail where they would fail on a GPU, for example on tensors of two devices. Operations that would wait for a
GPU are counted: copies to the CPU, copies from it that are not `non_blocking`, and operations whose result has a size
that depends on values.
"""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager, nullcontext

import pytest
import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

# torch's device without memory, which nothing else uses here.
ELSEWHERE = torch.device("meta")
aten = torch.ops.aten
# Operations whose second argument and second result, lengths, are on the CPU.
PACKING = {aten._pack_padded_sequence, aten._pad_packed_sequence}
# Operations that wait for the device.
WAITING = {
    aten._local_scalar_dense,
    aten.nonzero,
    aten.masked_select,
    aten.equal,
    aten.is_nonzero,
    aten._unique2,
    aten.unique_dim,
    aten.unique_consecutive,
    aten.repeat_interleave,
}


class Elsewhere(torch.Tensor):
    """A tensor that claims to be on the device `ELSEWHERE`; `here` is the CPU tensor with its values."""

    @staticmethod
    def __new__(cls, here):
        return torch.Tensor._make_wrapper_subclass(
            cls,
            here.shape,
            strides=here.stride(),
            storage_offset=here.storage_offset(),
            dtype=here.dtype,
            device=ELSEWHERE,
        )

    def __init__(self, here):
        self.here = here

    def __repr__(self):
        return f"Elsewhere({self.here!r})"

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        raise AssertionError(f"{func}: expected to be called in `pretending()`")


class _Pretending(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.waited = Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        target = kwargs.get("device")
        if target is not None:
            kwargs["device"] = torch.device("cpu")
        flat = [leaf for leaf in tree_flatten((args, kwargs))[0] if isinstance(leaf, torch.Tensor)]
        away = [leaf for leaf in flat if isinstance(leaf, Elsewhere)]
        copies = func.overloadpacket in (aten._to_copy, aten.copy_, aten.set_)
        leaves = target is not None and target.type == ELSEWHERE.type and not away and flat
        packing = func.overloadpacket in PACKING
        if away and not copies and not packing:
            others = [leaf for leaf in flat if not isinstance(leaf, Elsewhere) and leaf.dim()]
            assert not others, f"{func}: tensors of two devices, one of shape {tuple(others[0].shape)}"
        # `repeat_interleave` does not wait if it knows the size of its result.
        waits = func.overloadpacket in WAITING and kwargs.get("output_size") is None
        if away and (waits or (copies and target is not None and target.type == "cpu")):
            self.waited[func.overloadpacket.__name__] += 1
        if leaves and not kwargs.get("non_blocking"):
            self.waited["to the device"] += 1
        originals = {id(leaf.here): leaf for leaf in away}

        def here(leaf):
            return leaf.here if isinstance(leaf, Elsewhere) else leaf

        def there(leaf):
            if not isinstance(leaf, torch.Tensor):
                return leaf
            return originals[id(leaf)] if id(leaf) in originals else Elsewhere(leaf)

        result = func(*tree_map(here, args), **tree_map(here, kwargs))
        if packing:
            return there(result[0]), result[1]
        goes = (target is not None and target.type == ELSEWHERE.type) or (target is None and bool(away))
        return tree_map(there, result) if goes else result


class _Constants(TorchFunctionMode):
    """Makes tensors of numbers on the CPU first: on its device without memory, torch would forget the numbers."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func is torch.Tensor.tolist and isinstance(args[0], Elsewhere):
            return args[0].detach().cpu().tolist()
        if func is torch.Tensor.new_tensor and isinstance(args[0], Elsewhere):
            return torch.tensor(args[1], dtype=args[0].dtype).to(ELSEWHERE)
        if func in (torch.tensor, torch.as_tensor) and kwargs.get("device") == ELSEWHERE:
            return func(*args, **{**kwargs, "device": "cpu"}).to(ELSEWHERE)
        if func in (torch.Tensor.__getitem__, torch.Tensor.__setitem__) and isinstance(args[0], Elsewhere):
            # Any device takes lists and tensors on the CPU as indices, and copies them.
            index = args[1] if isinstance(args[1], tuple) else (args[1],)
            args = (args[0], tuple(map(_index, index)), *args[2:])
        return func(*args, **kwargs)


def _index(part):
    if isinstance(part, list):
        return torch.tensor(part, dtype=torch.long).to(ELSEWHERE)
    return part.to(ELSEWHERE) if isinstance(part, torch.Tensor) else part


@contextmanager
def pretending(module: nn.Module, *, gradients: bool = False):
    """Move a module to the device; yield the counts of operations in the block that would wait for it."""
    autocast = torch.autocast
    with pytest.MonkeyPatch.context() as patch, _Constants(), _Pretending() as mode:
        # Autocast does not know this device.
        patch.setattr(
            torch, "autocast", lambda kind, **options: nullcontext() if kind == "meta" else autocast(kind, **options)
        )
        moved: dict[int, nn.Parameter] = {}
        for part in module.modules():
            for name, parameter in part._parameters.items():
                if parameter is not None:
                    learned = gradients and parameter.requires_grad
                    new = nn.Parameter(Elsewhere(parameter.detach()), requires_grad=learned)
                    # Parts may share a parameter.
                    part._parameters[name] = moved.setdefault(id(parameter), new)
            for name, buffer in part._buffers.items():
                if buffer is not None:
                    part._buffers[name] = Elsewhere(buffer)
        with nullcontext() if gradients else torch.no_grad():
            yield mode.waited


def check_same(model: nn.Module, loss, generate=None):
    """Check that a model has the same loss, gradients and generated tokens on the CPU and on the device.

    `loss` and `generate` take a function that moves tensors to the model's device.
    """

    def learned(to):
        model.train()
        torch.manual_seed(1)
        found = loss(to)
        found.backward()
        gradients = {name: own.grad.cpu() for name, own in model.named_parameters() if own.grad is not None}
        model.eval()
        with torch.no_grad():
            return found.detach().cpu(), gradients, generate(to).tolist() if generate is not None else []

    expected = learned(lambda value: value)
    model.zero_grad()
    with pretending(model, gradients=True):
        found = learned(lambda value: value.to(ELSEWHERE))
    torch.testing.assert_close(found[:2], expected[:2], atol=1e-4, rtol=1e-4)
    assert found[2] == expected[2]
