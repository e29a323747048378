"""What the records of a trace share: how they are shown, and how they are looked up."""

from collections.abc import Mapping
from typing import NoReturn

import torch


class ByShape:
    """A dataclass of tensors, or of some at each site, which shows their shapes in one line.

    It shows no tensor that is None.
    """

    def __repr__(self) -> str:
        parts = {name: part for name, part in vars(self).items() if part is not None}
        sizes = {name: tuple(part.shape) for name, part in parts.items() if torch.is_tensor(part)}
        sites = {
            name: f"at {len(part)} sites"
            for name, part in parts.items()
            if isinstance(part, Mapping)
        }
        words = (f"{name} {part}" for name, part in (parts | sizes | sites).items())
        return f"{type(self).__name__}({', '.join(words)})"


class BySite(dict):
    """Records by their sites; the KeyError of any other key says which sites there are."""

    def __missing__(self, key: object) -> NoReturn:
        sites = ", ".join(f"Site{tuple(site)}" for site in self)
        raise KeyError(f"Attention is recorded at {sites or 'no site'}, and not at {key!r}.")
