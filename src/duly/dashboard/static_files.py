"""Scripts, styles and the icon: their address changes when they do, so a browser may keep them for ever."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

FOLDER = Path(__file__).parent / "static"
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_FOR_EVER = "public, max-age=31536000, immutable"


class StaticFiles:
    """All files, read once. Scripts import each other by their names, so one version stands for all of them."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._files = {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.suffix in _TYPES}
        whole = b"".join(name.encode() + b"\0" + body for name, body in self._files.items())
        self.version = sha256(whole).hexdigest()[:12]

    def path(self, name: str) -> str:
        """Where a file is, below the dashboard's root."""
        assert name in self._files, name
        return f"/static/{self.version}/{name}"

    async def serve(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in self._files:
            raise HTTPException(404)
        tag = f'"{self.version}"'
        # A page of an older version may still be open: it gets what there is, and keeps it for no time.
        fresh = request.path_params["version"] == self.version
        headers = {"etag": tag, "cache-control": _FOR_EVER if fresh else "no-cache"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(self._files[name], media_type=_TYPES[Path(name).suffix], headers=headers)
