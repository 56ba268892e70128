"""Schedules and runs in Django's admin: looked at by those who may view, changed by those who may change.

The rows come from ``scheduler().sync``, page by page by key, never from a query of Django's: on SQLite they are in
another file, and a list of a million schedules is no slower than one of ten.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from duly.app import Duly
from duly.core.errors import DulyError
from duly.core.run import RunStatus
from duly.core.schedule import ScheduleStatus

from . import models
from .keeping import scheduler
from .rows import run_row, schedule_row

PAGE = 100
RUNS = 20
UPCOMING = 5
PAUSED = "paused"


class OfDuly(admin.ModelAdmin):
    """A list and a page of one, both to look at; Django's own forms are not for rows that it does not have."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_urls(self) -> list[URLPattern]:
        name = f"{self.opts.app_label}_{self.opts.model_name}"
        wrap = self.admin_site.admin_view
        return [
            path("", wrap(self.changelist_view), name=f"{name}_changelist"),
            path("<path:object_id>/change/", wrap(self.change_view), name=f"{name}_change"),
        ]

    def _shown(self, request: HttpRequest, template: str, title: str, **context: Any) -> HttpResponse:
        shown = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": title,
            "may_change": self.has_change_permission(request),
            **context,
        }
        return TemplateResponse(request, f"admin/duly/{template}.html", shown)

    def _check_may_view(self, request: HttpRequest) -> None:
        if not self.has_view_permission(request):
            raise PermissionDenied

    def _asked(self, request: HttpRequest, ask: Callable[[Any], Any], otherwise: Any) -> Any:
        """What duly answers; where it cannot, a message says why and the page is empty."""
        try:
            return ask(scheduler().sync)
        except DulyError as error:
            messages.error(request, str(error))
            return otherwise

    def _listed(self, request: HttpRequest, rows: list[Any], cursor: str | None, **context: Any) -> HttpResponse:
        asked = {name: request.GET[name] for name in request.GET if name != "cursor"}
        more = None if cursor is None else f"?{urlencode({**asked, 'cursor': cursor})}"
        first = f"?{urlencode(asked)}" if "cursor" in request.GET else None
        return self._shown(
            request, f"{self.opts.model_name}_list", f"{self.opts.verbose_name_plural}".capitalize(),
            rows=rows, more=more, first=first, asked=asked, **context,
        )  # fmt: skip


@admin.register(models.Schedule)
class ScheduleAdmin(OfDuly):
    """Schedules: search, filter, run now, pause, resume."""

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        self._check_may_view(request)
        if request.method == "POST":
            return self._act(request, request.POST.getlist("_selected_action"))
        wanted: dict[str, Any] = {name: request.GET.get(name) or None for name in ("q", "status", "cursor")}
        if wanted["status"] == PAUSED:
            wanted |= {"status": None, "enabled": False}
        page = self._asked(request, lambda sync: sync.schedules.list(**wanted, limit=PAGE), None)
        rows = [schedule_row(one) for one in page.items] if page else []
        return self._listed(request, rows, page.next_cursor if page else None, statuses=[PAUSED, *ScheduleStatus])

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        self._check_may_view(request)
        if request.method == "POST":
            return self._act(request, [object_id])
        found = self._asked(request, lambda sync: sync.schedules.get(object_id), None)
        if found is None:
            raise Http404(f"there is no schedule {object_id!r}")
        runs = self._asked(request, lambda sync: sync.runs.list(schedule=found.id, limit=RUNS).items, [])
        coming = self._asked(request, lambda sync: sync.schedules.upcoming(found.id, count=UPCOMING), [])
        return self._shown(
            request,
            "schedule",
            found.name,
            schedule=found,
            row=schedule_row(found),
            runs=[run_row(one) for one in runs],
            coming=coming,
        )

    def _act(self, request: HttpRequest, ids: list[str]) -> HttpResponse:
        if not self.has_change_permission(request):
            raise PermissionDenied
        action = ACTIONS.get(request.POST.get("action", ""))
        if action is None or not ids:
            messages.warning(request, "Choose an action and at least one schedule.")
            return HttpResponseRedirect(request.get_full_path())
        word, act = action
        done = 0
        for id in ids:
            try:
                key = act(scheduler(), id, request)
            except DulyError as error:
                messages.error(request, f"{id}: {error}")
                continue
            done += 1
            self.log_change(request, models.Schedule(id=id, key=key), f"{word.capitalize()}.")
        if done:
            messages.success(request, f"{done} schedule{'s' * (done != 1)} {word}.")
        return HttpResponseRedirect(request.get_full_path())


def _run_now(app: Duly, id: str, request: HttpRequest) -> str:
    return app.sync.schedules.trigger(id).schedule_key or id


def _pause(app: Duly, id: str, request: HttpRequest) -> str:
    reason = request.POST.get("reason") or None
    return app.sync.schedules.pause(id, reason=reason, by=request.user.get_username()).key


def _resume(app: Duly, id: str, request: HttpRequest) -> str:
    return app.sync.schedules.resume(id, by=request.user.get_username()).key


ACTIONS: dict[str, tuple[str, Callable[[Duly, str, HttpRequest], str]]] = {
    "run_now": ("started", _run_now),
    "pause": ("paused", _pause),
    "resume": ("resumed", _resume),
}


@admin.register(models.Run)
class RunAdmin(OfDuly):
    """Runs: what became of them, and of each attempt."""

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        self._check_may_view(request)
        wanted = {name: request.GET.get(name) or None for name in ("status", "job", "schedule", "cursor")}
        page = self._asked(request, lambda sync: sync.runs.list(**wanted, limit=PAGE), None)
        rows = [run_row(one) for one in page.items] if page else []
        return self._listed(request, rows, page.next_cursor if page else None, statuses=list(RunStatus))

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        self._check_may_view(request)
        found = self._asked(request, lambda sync: sync.runs.get(object_id), None)
        if found is None:
            raise Http404(f"there is no run {object_id!r}")
        attempts = self._asked(request, lambda sync: sync.runs.attempts(found.id), [])
        back = reverse("admin:duly_schedule_change", args=[found.schedule_id]) if found.schedule_id else None
        return self._shown(request, "run", found.id, run=found, row=run_row(found), attempts=attempts, back=back)
