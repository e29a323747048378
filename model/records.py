"""What the records of a trace share: how they are shown, and how they are looked up."""

from typing import NoReturn

import torch


class ByShape:
    """A dataclass of tensors, which shows their shapes in one line, and no tensor that is None."""

    def __repr__(self) -> str:
        parts = {name: part for name, part in vars(self).items() if part is not None}
        sizes = {name: tuple(part.shape) for name, part in parts.items() if torch.is_tensor(part)}
        words = (f"{name} {part}" for name, part in (parts | sizes).items())
        return f"{type(self).__name__}({', '.join(words)})"


class BySite(dict):
    """Records by their sites; the KeyError of any other key says which sites there are."""

    def __missing__(self, key: object) -> NoReturn:
        sites = ", ".join(f"Site{tuple(site)}" for site in self)
        raise KeyError(f"Attention is recorded at {sites or 'no site'}, and not at {key!r}.")
