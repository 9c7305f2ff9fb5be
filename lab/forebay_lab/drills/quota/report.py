"""What a drill found: a table for the terminal, JSON, and the page of the documents."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from forebay_lab.drills.quota import cells, workload
from forebay_lab.drills.quota.cells import Cell, Plan, Provider
from forebay_lab.drills.quota.measure import Measures

MOST_REFUSED: dict[Provider, float] = {"bucket": 0.001, "window": 0.01}
LEAST_USED: dict[Provider, float] = {"bucket": 0.97, "window": 0.90}

NAMES = {"none": "none", "sum": "sum over tasks in work", "forebay": "Forebay"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """One cell and what it came to."""

    cell: Cell
    measures: Measures

    @property
    def misses(self) -> list[str]:
        """Return which goals a cell of Forebay misses; the others have none."""
        cell, measures = self.cell, self.measures
        if cell.throttle != "forebay":
            return []
        found = []
        if measures.over_admissions:
            found.append(f"{measures.over_admissions} over-admissions of concurrency")
        if measures.refused_share > MOST_REFUSED[cell.provider]:
            found.append(f"{measures.refused_share:.2%} of the calls refused")
        if measures.used_share < LEAST_USED[cell.provider]:
            found.append(f"{measures.used_share:.1%} of the budget used")
        return found


Column = Callable[[Outcome, Plan], str]

COLUMNS: dict[str, Column] = {
    "provider": lambda each, _: each.cell.provider,
    "tasks up to": lambda each, _: f"{each.cell.largest:.0%}",
    "estimates": lambda each, _: f"{each.cell.bias:+.0%}",
    "dispatchers": lambda each, _: str(each.cell.dispatchers),
    "throttle": lambda each, _: NAMES[each.cell.throttle],
    "calls": lambda each, _: f"{each.measures.calls:,}",
    "refused": lambda each, _: f"{each.measures.refused_share:.2%}",
    "budget used": lambda each, _: f"{each.measures.used_share:.1%}",
    "over-admitted": lambda each, _: (
        f"{each.measures.over_admissions} / {each.measures.refused_for_tokens}"
    ),
    "calls at once": lambda each, _: str(each.measures.most_calls),
    "wait p50": lambda each, plan: f"{plan.scale.model(each.measures.wait_p50):.0f} s",
    "wait p99": lambda each, plan: f"{plan.scale.model(each.measures.wait_p99):.0f} s",
    "begun": lambda each, _: str(each.measures.tasks_begun),
    "goal": lambda each, _: _verdict(each),
}


def row(outcome: Outcome, plan: Plan) -> list[str]:
    """Return the cells of one line of the table."""
    return [column(outcome, plan) for column in COLUMNS.values()]


def columns(plan: Plan) -> dict[str, Callable[[Outcome], str]]:
    """Return the headings of the table, each with what stands below it."""
    return {heading: partial(_shown, column, plan) for heading, column in COLUMNS.items()}


def _shown(column: Column, plan: Plan, outcome: Outcome) -> str:
    return column(outcome, plan)


def document(outcomes: Sequence[Outcome], plan: Plan) -> dict[str, Any]:
    """Return all of it for scripts; waits are in seconds of the model, ways in real ones."""
    return {
        "seed": plan.seed,
        "minutes": plan.minutes,
        "time_factor": plan.scale.factor,
        "cores": os.cpu_count(),
        "cells": [
            asdict(each.cell)
            | asdict(each.measures)
            | {
                "refused_share": each.measures.refused_share,
                "wait_p50": plan.scale.model(each.measures.wait_p50),
                "wait_p99": plan.scale.model(each.measures.wait_p99),
                "misses": each.misses,
            }
            for each in outcomes
        ],
        "is_met": is_met(outcomes),
    }


def is_met(outcomes: Iterable[Outcome]) -> bool:
    """Tell whether every cell of Forebay meets its goals."""
    return not any(each.misses for each in outcomes)


def _command(plan: Plan) -> str:
    """Return what to run to get the same."""
    minute, minutes = f"--minute {plan.scale.minute:g}", f"--minutes {plan.minutes:g}"
    return f"forebay drill quota --seed {plan.seed} {minute} {minutes} --lanes {plan.lanes}"


def setting(plan: Plan) -> str:
    """Return in a sentence how it was run."""
    return (
        f"Seed {plan.seed}, {plan.minutes:g} minutes of the model a cell, time runs"
        f" {plan.scale.factor:g} times faster (a minute takes {plan.scale.minute:g} s),"
        f" {plan.lanes} cells at a time on {os.cpu_count()} cores ({platform.machine()});"
        " the model is simulated."
    )


def page(outcomes: Sequence[Outcome], plan: Plan, seconds: float) -> str:
    """Return the page of the documents, of a drill that took so long."""
    ours = [each for each in outcomes if each.cell.throttle == "forebay"]
    others = [each for each in outcomes if each.cell.throttle != "forebay"]
    return PAGE.format(
        command=_command(plan),
        setting=setting(plan),
        took=seconds / 60,
        summary="\n".join(_summaries(ours)),
        ours=_markdown(ours, plan),
        others=_markdown(others, plan),
        budget=workload.BUDGET,
        smallest=f"{workload.SMALLEST:.1%}",
        largest_call=f"{workload.LARGEST_CALL:.0%}",
        output=f"{workload.OUTPUT_SHARE:.0%}",
        noise=f"{workload.NOISE:.0%}",
        backlog=f"{workload.BACKLOG:g}",
        demand=f"{workload.DEMAND:.0%}",
        short_call=f"{workload.SECONDS_A_CALL[workload.SHORT]:g}",
        long_call=f"{workload.SECONDS_A_CALL[workload.LONG]:g}",
        calls=cells.CONCURRENT_CALLS,
        slots=cells.SLOTS,
        tasks=cells.MAX_TASKS,
        way=_way(outcomes, plan),
    )


def _summaries(ours: Sequence[Outcome]) -> Iterable[str]:
    for provider in cells.PROVIDERS:
        found = [each.measures for each in ours if each.cell.provider == provider]
        if found:
            calls, refused = sum(m.calls for m in found), sum(m.refused for m in found)
            yield (
                f"- {provider} provider, {len(found)} cells: {refused} of {calls:,} calls refused,"
                f" {min(m.used_share for m in found):.1%} to"
                f" {max(m.used_share for m in found):.1%} of the budget used,"
                f" {sum(m.over_admissions for m in found)} over-admissions."
            )


def _way(outcomes: Sequence[Outcome], plan: Plan) -> str:
    """Return what the scaling of time does not shrink."""
    usual = max((each.measures.way_p50 for each in outcomes), default=0.0)
    slow = max((each.measures.way_p99 for each in outcomes), default=0.0)
    return (
        f"From being let go to arriving at the provider a call took at most {1000 * usual:.0f} ms"
        f" (median of a cell) or {1000 * slow:.0f} ms (p99 of a cell); {1000 * slow:.0f} ms stand"
        f" for {plan.scale.model(slow):.2f} s of the model."
    )


def _verdict(outcome: Outcome) -> str:
    if outcome.cell.throttle != "forebay":
        return ""
    return "; ".join(outcome.misses) or "met"


def _markdown(outcomes: Iterable[Outcome], plan: Plan) -> str:
    lines = [list(COLUMNS), ["---"] * len(COLUMNS), *(row(each, plan) for each in outcomes)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


PAGE = """\
# The drill of quotas

Written by

```sh
{command} --page docs/quota-drill.md
```

{setting} It took {took:.0f} minutes.

{summary}

The goals, in every cell of Forebay: no over-admission of concurrency; at a bucket provider at most
0.1 % of the calls refused and at least 97 % of the budget used, at a window provider 1 % and 90 %.
The command exits with 1 when one is missed.

## Forebay

{ours}

## What it is compared with

{others}

*none* claims as many tasks as the provider takes calls at once, and calls at will. *sum over
tasks in work* is the usual design: a task starts while the estimates of all tasks in work, its own
included, are within the budget of a minute; here the dispatchers keep that sum as one number under
one lock. Both try a refused call again after the time that the provider names, and go on. Such a
task has begun, so that what it is held up by its refused calls is in none of the waits.

## What is measured, and how

Everything is read from the log of the simulated model server ([models.md](models.md)), which
enforces the limits by itself and knows nothing of Forebay; only when a task was sent is not in it.

- **refused**: answers 429 as a share of all calls, from the first call on.
- **budget used**: tokens of the calls that were let in, as a share of what the limit allows in that
  time. Measured once warm: from one period after the first call to the last moment at which a task
  had not made its first call. A share above 100 % comes from the borders: what a window's last
  period or a bucket's level had left.
- **over-admitted**: of concurrency / of the budget. The first are calls that came while as many
  were in flight as the provider takes, and moments at which more calls or tasks were in work than
  allowed: the agent may have {tasks} tasks of Forebay in work, and a task counts from its first
  call to the end of its last one. The second are calls that were sent beyond the budget. The
  provider refuses both kinds, so that they are refusals too.
- **wait**: seconds of the model from sending a task to its first call that was let in. Tasks that
  still wait at the end count with what they have waited. More arrives than the budget allows, so
  that waits grow with the length of a run: compare them within a provider and size.
- **begun**: tasks that made a call.

## What is done

The provider allows {budget:,} tokens a minute and {calls} calls at once. A *bucket* holds that many
tokens, is full at the start and refills all the time; a *window* counts exactly the last minute. A
call is charged on arrival with its prompt and its `max_tokens`, and corrected when it ends.

Tasks are by turns short (1 to 5 seconds of the model) and long (1 to 5 minutes). Sizes run from
{smallest} of the budget to 20 % or 70 %, evenly over the orders of magnitude. A task makes its
calls one after the other: about one for {short_call} seconds (short) or {long_call} seconds (long),
and more where needed so that no call is larger than {largest_call} of the budget, as an agent does
that reads a document in chunks. A quarter of a call's tokens ({output}) may be its answer, which
uses 60 to 100 % of that. Estimates are off by the bias shown and by noise of {noise}; learning
starts from nothing. {backlog} budgets wait at the start, and {demand} of the budget arrives in
every minute after it.

Dispatchers are processes with a pull worker ([operating.md](operating.md)), {slots} tasks in hand
among them all. Before each call the task asks `may_call`, and reports what the call used. The quota
is registered as the provider has it, with Forebay's defaults for everything else; `reserve_after`
and polling are shortened as the time is. The database is a Postgres of the drill's own, without
durability: what it costs to wait for a disk is not measured here. Not shortened are the ways to the
database and to the server. {way}
"""
