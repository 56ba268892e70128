"""Scripts, the style and the icon: their address changes when they do, so a browser may keep them for ever."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

FOLDER = Path(__file__).parent / "static"
STYLE = "style.css"
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_IMPORTED = re.compile(rb'^import [^"]* from "\./([^"]+)";$', re.MULTILINE)
_FOR_EVER = "public, max-age=31536000, immutable"


class StaticFiles:
    """All files, read once. Scripts import each other by their names, so one version stands for all of them.

    Styles are written in several files and sent as one: nothing is seen before they are all there.
    """

    def __init__(self, folder: Path = FOLDER) -> None:
        files = {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.suffix in _TYPES}
        styles = [files.pop(name) for name in list(files) if name.endswith(".css")]
        self._files = {**files, STYLE: b"".join(styles)}
        whole = b"".join(name.encode() + b"\0" + body for name, body in self._files.items())
        self.version = sha256(whole).hexdigest()[:12]

    def path(self, name: str) -> str:
        """Where a file is, below the dashboard's root."""
        assert name in self._files, name
        return f"/static/{self.version}/{name}"

    def imported(self, name: str) -> list[str]:
        """The scripts that a script needs, also through others: a browser that knows them asks for all at once."""
        found: dict[str, None] = {}
        left = [name]
        while left:
            body = self._files[left.pop()]
            new = [other.decode() for other in _IMPORTED.findall(body) if other.decode() not in found]
            found |= dict.fromkeys(new)
            left += new
        return list(found)

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
