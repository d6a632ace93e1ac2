"""What a request may say: bodies of a bounded size, and questions whose every field is checked."""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import ClientDisconnect, Request

from protgnn.web.server_limits import RefusedError

_PATIENCE = 30.0  # seconds for a body to arrive

Of = Literal["first", "second", "original"]
"""Which model answers: that of the first run as edited, that of the second, or the first as it was."""

RowNumber = Annotated[int, Field(ge=0, le=10_000_000)]
Key = Annotated[str, Field(max_length=64)]
Text = Annotated[str, Field(max_length=4_000)]


class Checked(BaseModel):
    """A body whose fields are all known and of their types."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class RowReference(Checked):
    """A row of the table."""

    rows: Key
    row: RowNumber


class Question(Checked):
    """What is asked about, as text or as a row of the table, and whom; ``before`` is what was asked last."""

    text: Text | None = None
    place: RowReference | None = None
    before: Text | None = None
    of: Of = "first"


class AtomEdit(Checked):
    """An atom to take out of a molecule."""

    text: Text
    atom: RowNumber


class Edit(Checked):
    """What to do to the prototypes: to one of them by number, or with a part that a text means."""

    action: Literal["remove", "require", "forbid", "replace", "add"]
    prototype: RowNumber | None = None
    part: Annotated[str, Field(max_length=300)] | None = None


class Nothing(Checked):
    """A request that needs to say nothing."""


class PictureRequest(Checked):
    """Rows to draw in small."""

    rows: Key
    numbers: Annotated[list[RowNumber], Field(max_length=60)]


Model = TypeVar("Model", bound=BaseModel)


async def body_of(request: Request, most: int) -> bytes:
    """The body of a request, if it is of at most so many bytes and arrives in time.

    Raises:
        RefusedError: It is larger, too slow, or broke off.
    """
    too_large = RefusedError(413, f"This is too large: at most {most} bytes are read")
    length = request.headers.get("content-length", "0")
    if not length.isascii() or not length.isdigit() or int(length[:20]) > most:
        raise too_large
    read = bytearray()
    try:
        async with asyncio.timeout(_PATIENCE):
            async for piece in request.stream():
                read += piece
                if len(read) > most:
                    raise too_large
    except TimeoutError:
        raise RefusedError(408, "The request did not arrive in time") from None
    except ClientDisconnect:
        raise RefusedError(400, "The request broke off") from None
    return bytes(read)


async def checked(request: Request, kind: type[Model], most: int) -> Model:
    """The body of a request as a ``kind`` of question.

    Raises:
        RefusedError: It is no JSON, or a field is unknown, missing or out of bounds.
    """
    body = await body_of(request, most)
    try:
        return kind.model_validate_json(body)
    except (ValidationError, RecursionError) as error:
        detail = "nested too deep"
        if isinstance(error, ValidationError):
            first = error.errors(include_url=False, include_input=False, include_context=False)[0]
            detail = f"{'.'.join(map(str, first['loc']))[:80]} {first['msg'][:120]}".strip()
        raise RefusedError(400, f"This request cannot be read: {detail}") from None
