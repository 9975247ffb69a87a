"""C-Tree with a learned weight for each relation (future work of Xiao et al. 2020)."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from discsum.encoder.heads import HEADS
from discsum.encoder.heads.base import Head, HeadConfig, Prior, UnitTree
from discsum.errors import warn_caller
from discsum.priors import lowest_common
from discsum.tree import RSTTree, is_same_unit, relation_class

# The relation classes of GUM 11, in any case; other relations share the last entry.
CLASSES = (
    "adversative",
    "attribution",
    "causal",
    "context",
    "contingency",
    "elaboration",
    "evaluation",
    "explanation",
    "joint",
    "mode",
    "organization",
    "purpose",
    "restatement",
    "same-unit",
    "topic",
    "other",
)
# A nucleus and a satellite role for each class, and one for the root, which has no relation.
ROLES = 2 * len(CLASSES) + 1


@HEADS.register("c_tree_relation")
class CTreeRelationHead(Head):
    """Attends in proportion to the constituents that cover both units, each with a learned weight.

    There is one weight for each relation class and nuclearity. Weights are initialised as in C-Tree w/Nuc: 2 for
    nuclei, 1 for satellites and the root.
    """

    def __init__(self, config: HeadConfig) -> None:
        super().__init__(config)
        start = torch.ones(ROLES)
        start[: len(CLASSES)] = 2.0
        # Softplus keeps the weights positive; this is its inverse.
        self.weights = nn.Parameter(torch.log(torch.expm1(start)))

    @staticmethod
    def prior(units: UnitTree, config: HeadConfig) -> dict[str, NDArray[Any]]:
        """Return the role counts above each constituent, each pair's lowest common constituent, and each EDU's unit."""
        tree = units.tree
        owner = units.edu_to_sentence if units.sentences is not None else np.arange(tree.edus)
        return {"roles": roles_above(tree), "common": lowest_common(tree), "owner": owner}

    def forward(self, states: Tensor, prior: Prior, mask: Tensor) -> Tensor:
        """Return the matrix over the units, which all heads share, `(batch, 1, units, units)`."""
        # In float32, as the other tree heads: in half precision rows would not sum to 1.
        with torch.autocast(states.device.type, enabled=False):
            return self._matrix(states, prior, mask)

    def _matrix(self, states: Tensor, prior: Prior, mask: Tensor) -> Tensor:
        # (batch, constituents): sums of the weights on the path from the root.
        paths = prior["roles"].to(self.weights.dtype) @ nn.functional.softplus(self.weights)
        common, owner = prior["common"], prior["owner"]
        matrix = torch.gather(paths[:, None].expand(-1, common.shape[1], -1), 2, common.clamp_min(0))
        matrix = normalized(matrix * (common >= 0))
        # (batch, edus, units)
        units = torch.arange(states.shape[1], device=states.device)
        member = (owner[:, :, None] == units).to(matrix.dtype)
        projected = member.transpose(1, 2) @ matrix @ member
        # A sentence in which no EDU starts attends to itself.
        alone = (projected.sum(dim=-1) == 0) & mask
        projected = normalized(projected + torch.diag_embed(alone.to(projected.dtype)))
        return projected[:, None].to(states.dtype)


def roles_above(tree: RSTTree) -> NDArray[np.float32]:
    """Return `(constituents, ROLES)`: counts of each role on the path from the root to each constituent.

    Constituents are numbered as in `RSTTree.children`: EDUs come first.
    """
    names = ["same-unit" if is_same_unit(node.relation) else relation_class(node.relation) for node in tree.nodes]
    known = [name.casefold() if name.casefold() in CLASSES else "other" for name in names]
    if known and {*known} == {"other"}:
        warn_caller(
            f"head c_tree_relation: expected trees with relations of GUM's classes ({', '.join(CLASSES[:-1])}), got "
            "some with none of them; all their relations share one weight"
        )
    classes = np.array([CLASSES.index(name) for name in known], dtype=np.int64)
    roles = np.zeros((tree.edus + len(tree.nodes), ROLES), dtype=np.float32)
    # Nodes first: each comes after its parent.
    for first, parents, nucleus in zip((tree.edus, 0), tree.parents, tree.nucleus, strict=True):
        for index, (parent, is_nucleus) in enumerate(zip(parents.tolist(), nucleus.tolist(), strict=True), start=first):
            if parent < 0:
                roles[index, -1] = 1.0
            else:
                roles[index] = roles[tree.edus + parent]
                roles[index, classes[parent] + (0 if is_nucleus else len(CLASSES))] += 1.0
    return roles


def normalized(matrix: Tensor) -> Tensor:
    """Return the matrix with each row divided by its sum; rows of zeros stay zero."""
    sums = matrix.sum(dim=-1, keepdim=True)
    return matrix / torch.where(sums > 0, sums, torch.ones_like(sums))
