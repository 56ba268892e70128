"""``python -m bench.scale``: print the table of docs/scale.md."""

from __future__ import annotations

import argparse

from bench.scale.day import databases, draw, lag_at, lags, workers


def main() -> None:
    arguments = argparse.ArgumentParser(prog="python -m bench.scale", description=__doc__)
    arguments.add_argument("--schedules", type=float, default=1e8)
    arguments.add_argument("--sample", type=int, default=200_000, help="schedules that are drawn; each stands for many")
    arguments.add_argument("--per-second", type=float, default=5000, help="fires that one database carries")
    arguments.add_argument("--concurrency", type=int, default=1000, help="places of one worker process")
    chosen = arguments.parse_args()
    day = draw(round(chosen.schedules), chosen.sample)
    total = sum(day.fires)
    print(f"{chosen.schedules:,.0f} schedules, {total:,.0f} fires that day, {total / 86_400:,.0f} a second on average,")
    print(f"{max(day.fires):,.0f} in the busiest second; {sum(day.work) / 86_400:,.0f} runs at once on average\n")
    print("| jitter | p99 of fires within | databases | lag p50, p99, worst | workers |")
    print("|---|---|---|---|---|")
    for jitter in (0, 60, 300, 1800):
        shifted = day.spread(jitter) if jitter else day
        for allowed in (1, 10, 60):
            needed = databases(shifted, chosen.per_second, allowed)
            found = lags(shifted.fires, needed * chosen.per_second)
            shown = ", ".join(f"{lag:.1f} s" for lag in (lag_at(found, 0.5), lag_at(found, 0.99), max(found)[0]))
            crew = workers(shifted, max(allowed, 60), chosen.concurrency)
            print(f"| {f'{jitter} s' if jitter else 'none'} | {allowed} s | {needed} | {shown} | {crew} |")


if __name__ == "__main__":
    main()
