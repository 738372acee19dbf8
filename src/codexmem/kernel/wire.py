"""What every document on the wire has in common: requests forgive what they do not know, answers are values.

Importing this loads pydantic and nothing of a server, because the Python client reads the same models.
"""

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, WithJsonSchema, model_validator

# A number that is told as it was stored: 3 stays 3 and does not become 3.0.
Figure = Annotated[int | float, WithJsonSchema({"type": "number"})]


class WireRequest(BaseModel):
    """A request; fields that nobody here knows are passed over, for clients of other makes send more than we read."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _given(cls, given: Any) -> Any:
        """Null stands for a field that is not given: clients that know types write it so."""
        if isinstance(given, dict):
            return {name: value for name, value in given.items() if value is not None}
        return given


class WireAnswer(BaseModel):
    """An answer; a client of this version passes over what a newer server says beyond it."""

    # Validators are made when first used: whoever imports the client uses few of them.
    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)

    def document(self) -> dict[str, Any]:
        """As it was answered, with the fields that were left out still left out."""
        return self.model_dump(mode="json", exclude_unset=True)


def required_first(*names: str) -> Callable[[dict[str, Any]], None]:
    """For `json_schema_extra`: the published list of required fields begins with these, wherever they are answered."""

    def order(schema: dict[str, Any]) -> None:
        schema["required"].sort(key=lambda name: name not in names)

    return order
