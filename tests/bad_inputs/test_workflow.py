"""Rows of the list of bad inputs that are about the code of a workflow."""

from duly import Duly, WorkflowContext
from duly.core.run import RunStatus
from duly.testing import drain


async def test_x02_two_steps_of_one_name_keep_each_its_own_result(duly_app: Duly) -> None:
    entered: list[int] = []

    def work(n: int) -> int:
        entered.append(n)
        return n * 10

    @duly_app.workflow("twice")
    async def twice(ctx: WorkflowContext) -> list[int]:
        first = await ctx.step("same", work, 1)
        await ctx.sleep("1h")
        return [first, await ctx.step("same", work, 2)]

    async with duly_app:
        run = await duly_app.workflows.start("twice")
        await drain(duly_app)
        done = await duly_app.runs.get(run.id)
    assert done is not None
    assert (done.status, done.result) == (RunStatus.COMPLETED, [10, 20])
    assert entered == [1, 2], "what was recorded is not done again"
