"""``duly schedule``: create, look at, change and trigger schedules."""

from __future__ import annotations

from duly.cli.grouping import lazy_group

command = lazy_group(
    "schedule",
    "Create, look at, change and trigger schedules. A schedule is named by its id or its key.",
    {
        "apply": ("schedule.applying:apply", "Make schedules what files say."),
        "backfill": ("schedule.backfilling:backfill", "Make runs of the windows of a past range."),
        "cancel": ("schedule.acting:cancel", "End schedules and their waiting runs, for good."),
        "changes": ("schedule.backfilling:changes", "Show who changed what of a schedule."),
        "create": ("schedule.making:create", "Create a schedule."),
        "delete": ("schedule.acting:delete", "Remove schedules; their history stays."),
        "diff": ("schedule.applying:diff", "Show what `apply` would change."),
        "get": ("schedule.looking:get", "Show a schedule."),
        "list": ("schedule.looking:list_", "List schedules."),
        "pause": ("schedule.acting:pause", "Stop firing, with a reason and if wished an end."),
        "preview": ("schedule.looking:preview", "Show the next windows of a schedule or a timing."),
        "reschedule": ("schedule.making:reschedule", "Replace one that never fired by another timing."),
        "resume": ("schedule.acting:resume", "Fire again, from now on."),
        "trigger": ("schedule.acting:trigger", "Make a run now, without moving the schedule."),
        "upcoming": ("overview:upcoming", "Show what fires next of all schedules."),
        "update": ("schedule.making:update", "Change what is given, and leave the rest."),
    },
)
