"""A Flask app with duly: views ask, ``flask duly serve`` fires and runs.

export FLASK_APP=examples.flask_app DULY_DATABASE_URL=sqlite:///shop.db
flask run                 # as many web workers as you like: none of them fires
flask duly serve          # as many as you like: every window fires once
curl -X POST localhost:5000/reminders/7
"""

from flask import Flask, current_app

import duly
from duly.integrations.flask import DulyFlask

scheduler = DulyFlask()


@scheduler.every("1s", name="tick", overlap="allow")
def tick(run: duly.RunContext) -> str:
    return f"the window of {run.scheduled_at:%H:%M:%S} in {current_app.name}"


@scheduler.job()
async def send_reminder(user: int) -> str:
    return f"{current_app.config['GREETING']}, user {user}"


def create_app() -> Flask:
    app = Flask("shop")
    app.config["GREETING"] = "hello"
    scheduler.init_app(app)

    @app.post("/reminders/<int:user>")
    def remind(user: int) -> tuple[dict[str, str], int]:
        run = scheduler.sync.enqueue(send_reminder.bind(user=user))
        return {"run": run.id}, 202

    @app.get("/runs/<id>")
    def show(id: str) -> tuple[dict[str, object], int]:
        run = scheduler.sync.runs.get(id)
        if run is None:
            return {"error": "no such run"}, 404
        return {"status": run.status, "result": run.result}, 200

    return app
