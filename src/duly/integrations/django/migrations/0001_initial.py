"""The models without tables; duly's tables are made after ``migrate``, by duly's own numbered steps."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    dependencies: list[tuple[str, str]] = []
    operations = [
        migrations.CreateModel(
            name="Schedule",
            fields=[
                ("id", models.CharField(editable=False, max_length=36, primary_key=True, serialize=False)),
                ("key", models.CharField(editable=False, max_length=200)),
            ],
            options={"managed": False, "default_permissions": ("view", "change"), "base_manager_name": "objects"},
        ),
        migrations.CreateModel(
            name="Run",
            fields=[("id", models.CharField(editable=False, max_length=300, primary_key=True, serialize=False))],
            options={"managed": False, "default_permissions": ("view",), "base_manager_name": "objects"},
        ),
    ]
