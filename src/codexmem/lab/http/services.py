"""What the routes of this interface call, besides the lab itself."""

from typing import Protocol

from codexmem.kernel.feature import Rooms
from codexmem.kernel.services.receipts import Receipts
from codexmem.kernel.services.status import ServerStatus


class LabRouteServices(Rooms, Protocol):
    """What this interface needs."""

    @property
    def status(self) -> ServerStatus: ...
    @property
    def receipts(self) -> Receipts: ...
