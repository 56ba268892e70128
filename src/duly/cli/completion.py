"""``duly completion``: the script that makes a shell complete duly's words."""

from __future__ import annotations

import click

RECIPES = {
    "bash": 'eval "$(duly completion bash)"    # in ~/.bashrc',
    "zsh": 'eval "$(duly completion zsh)"    # in ~/.zshrc',
    "fish": "duly completion fish | source    # in ~/.config/fish/config.fish",
}


@click.command(help="Print the completion script of a shell.\n\n\b\n" + "\n".join(RECIPES.values()))
@click.argument("shell", type=click.Choice(sorted(RECIPES)))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(ctx.find_root().command, {}, "duly", "_DULY_COMPLETE").source())
