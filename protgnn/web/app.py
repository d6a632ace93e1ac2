"""The explorer over HTTP: one page, its files, and an address for each thing that the page asks for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote, unquote

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from protgnn.errors import DataError, ProtGNNError
from protgnn.viz.html import class_sign
from protgnn.viz.theme import DARK, LIGHT, variables
from protgnn.web import run_card
from protgnn.web.explorer import Explorer
from protgnn.web.guard import AccessRules, Guard, cookie
from protgnn.web.molecule_edit import without_atom
from protgnn.web.requests import AtomEdit, Edit, Nothing, PictureRequest, Question, body_of, checked
from protgnn.web.server_limits import RefusedError
from protgnn.web.visits import HELD_OUT, Visit, rows_of

STATIC = Path(str(files("protgnn.web") / "static"))
EDITOR = STATIC / "vendor" / "openchemlib" / "openchemlib.js"
"""The molecule editor, where `make setup` or the package has brought it."""

_WORKBOOK = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
Endpoint = Callable[[Request], Awaitable[Response]]


def make_app(explorer: Explorer, access: AccessRules) -> Starlette:
    """The explorer as an ASGI application.

    Args:
        explorer: The runs that are open.
        access: Which requests are served.
    """
    handlers = Handlers(explorer, access)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        explorer.workers.close()

    routes = [
        Route("/", handlers.page),
        Route("/theme.css", handlers.theme),
        Route("/api/run", handlers.run),
        Route("/api/ask", handlers.ask, methods=["POST"]),
        Route("/api/without", handlers.without, methods=["POST"]),
        Route("/api/rows", handlers.rows),
        Route("/api/rows.csv", handlers.rows_csv),
        Route("/api/rows.xlsx", handlers.rows_xlsx),
        Route("/api/pictures", handlers.pictures, methods=["POST"]),
        Route("/api/uploads", handlers.upload, methods=["POST"]),
        Route("/api/map", handlers.map),
        Route("/api/prototypes", handlers.prototypes),
        Route("/api/compare", handlers.compare),
        Route("/api/edits", handlers.edit, methods=["POST"]),
        Route("/api/undo", handlers.undo, methods=["POST"]),
        Route("/api/edited.zip", handlers.edited_run),
        Mount("/static", StaticFiles(directory=STATIC, follow_symlink=False)),
    ]
    return Starlette(
        routes=routes,
        middleware=[Middleware(Guard, access=access)],
        exception_handlers={ProtGNNError: _mistake, HTTPException: _no_such_thing, Exception: _failure},
        lifespan=lifespan,
    )


class Handlers:
    """What is answered to each request."""

    def __init__(self, explorer: Explorer, access: AccessRules) -> None:
        self._explorer, self._access = explorer, access
        self._page = (STATIC / "index.html").read_text("utf-8")

    async def page(self, request: Request) -> Response:
        """The page, and with it a visit."""
        response = HTMLResponse(self._page)
        if self._explorer.visits.find(cookie(request.headers, self._access.cookie)) is None:
            key = self._explorer.visits.start().key
            response.set_cookie(self._access.cookie, key, httponly=True, samesite="strict", path="/")
        return response

    async def theme(self, request: Request) -> Response:
        """The colours of both themes, the same as in reports and pictures."""
        css = (
            f":root {{ {variables(LIGHT)} }}\n"
            f'@media (prefers-color-scheme: dark) {{ :root:not([data-theme="light"]) {{ {variables(DARK)} }} }}\n'
            f':root[data-theme="dark"] {{ {variables(DARK)} color-scheme: dark; }}\n'
            ':root[data-theme="light"] { color-scheme: light; }\n'
            f"@media print {{ :root, :root:not([data-theme]) {{ {variables(LIGHT)} }} }}\n"
        )
        return Response(css, media_type="text/css")

    async def run(self, request: Request) -> Response:
        visit, explorer = self._visit(request), self._explorer
        card = run_card.run_card(visit.view.opened, explorer.limits)
        card["editor"] = EDITOR.is_file()
        card["signs"] = [class_sign(label) for label in range(len(card["classes"]))]
        card["second"] = None if explorer.second is None else run_card.run_card(explorer.second.opened, explorer.limits)
        card["edited"] = visit.edited is not None
        card["uploads"] = [{"key": key, "title": rows.title} for key, rows in visit.uploads.items()]
        return JSONResponse(card)

    async def ask(self, request: Request) -> Response:
        """The answer; what cannot be read, such as a molecule that is half typed, is answered by what is wrong."""
        question = await checked(request, Question, self._explorer.limits.body_bytes)
        try:
            return JSONResponse(await self._explorer.ask(self._visit(request), question))
        except DataError as problem:
            return JSONResponse({"problem": str(problem)})

    async def without(self, request: Request) -> Response:
        edit = await checked(request, AtomEdit, self._explorer.limits.body_bytes)
        return JSONResponse({"text": await self._explorer.workers.model.run(without_atom, edit.text, edit.atom)})

    async def rows(self, request: Request) -> Response:
        rows = await self._explorer.predicted(rows_of(self._visit(request), _key(request)))
        skipped = [{"line": line, "fault": fault} for line, fault in rows.skipped[:100]]
        content = {"key": rows.key, "title": rows.title, "rows": rows.rows, "notes": rows.notes}
        return JSONResponse(content | {"skipped": skipped, "skipped_count": len(rows.skipped)})

    async def rows_csv(self, request: Request) -> Response:
        content = await self._explorer.csv(rows_of(self._visit(request), _key(request)))
        return Response(content, media_type="text/csv", headers=_attached("predictions.csv"))

    async def rows_xlsx(self, request: Request) -> Response:
        content = await self._explorer.workbook(rows_of(self._visit(request), _key(request)))
        return Response(content, media_type=_WORKBOOK, headers=_attached("predictions.xlsx"))

    async def pictures(self, request: Request) -> Response:
        wanted = await checked(request, PictureRequest, self._explorer.limits.body_bytes)
        rows = rows_of(self._visit(request), wanted.rows)
        return JSONResponse(await self._explorer.workers.model.run(rows.pictures, wanted.numbers))

    async def upload(self, request: Request) -> Response:
        visit = self._visit(request)
        name = unquote(request.headers.get("x-file-name", "upload.csv"))[:100]
        content = await body_of(request, self._explorer.limits.upload_bytes)
        rows = await self._explorer.upload(visit, name, content)
        return JSONResponse({"key": rows.key, "title": rows.title, "count": len(rows.instances)})

    async def map(self, request: Request) -> Response:
        return JSONResponse(await self._explorer.map(self._visit(request), _key(request)))

    async def prototypes(self, request: Request) -> Response:
        visit, of = self._visit(request), request.query_params.get("of", "first")
        if of == "first":
            return JSONResponse(await self._explorer.prototypes(visit))
        return JSONResponse(await self._explorer.sheet_of(self._explorer.view_of(visit, of)))

    async def compare(self, request: Request) -> Response:
        return JSONResponse(await self._explorer.compare(self._visit(request)))

    async def edit(self, request: Request) -> Response:
        edit = await checked(request, Edit, self._explorer.limits.body_bytes)
        return JSONResponse(await self._explorer.edit(self._visit(request), edit))

    async def undo(self, request: Request) -> Response:
        await checked(request, Nothing, self._explorer.limits.body_bytes)
        return JSONResponse(await self._explorer.undo(self._visit(request)))

    async def edited_run(self, request: Request) -> Response:
        content = await self._explorer.edited_run(self._visit(request))
        return Response(content, media_type="application/zip", headers=_attached("edited-run.zip"))

    def _visit(self, request: Request) -> Visit:
        """Who asks.

        Raises:
            RefusedError: Nobody whom the page was shown to, or somebody who was silent for long.
        """
        visit = self._explorer.visits.find(cookie(request.headers, self._access.cookie))
        if visit is None:
            raise RefusedError(409, "The explorer does not know this visit any more: load the page again")
        return visit


def _key(request: Request) -> str:
    return request.query_params.get("rows", HELD_OUT)[:64]


def _attached(name: str) -> dict[str, str]:
    return {"content-disposition": f"attachment; filename={quote(name)}"}


async def _mistake(request: Request, error: Exception) -> Response:
    """What the visitor can fix: the message, and nothing of this machine."""
    status = error.status if isinstance(error, RefusedError) else 400
    headers = {"retry-after": "2"} if status == 503 else None
    return JSONResponse({"error": str(error)}, status, headers)


async def _no_such_thing(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": "There is nothing here"}, error.status_code)


async def _failure(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": "The explorer failed at this: the terminal that it runs in says more"}, 500)
