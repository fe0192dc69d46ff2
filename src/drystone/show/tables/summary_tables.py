"""Summaries in a terminal: the dictionaries of `check`, `info`, `solve` and others come in, tables with units go out."""

from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.table import Table

from drystone.engine.solvers.solution import FINER_STEPS
from drystone.results.store.stamp import format_stamp

MAX_ENTRIES = 3  # entries of a kind that are printed one by one
MAX_LISTED_GAPS = 8  # gaps that are printed one by one


def print_check(result: dict[str, Any]) -> None:
    """Print the result of `drystone check`."""
    x, y, z = result["dimensions"]
    rows = [
        ("blocks", f"{result['blocks']}, of which {result['fixed_blocks']} fixed, {result['sound_blocks']} sound solids"),
        ("dimensions", f"{x:.4g} x {y:.4g} x {z:.4g} m"),
        ("free blocks", f"{result['volume']:.4g} m3, {result['mass'] / 1e3:.4g} t, weight {result['weight'] / 1e3:.4g} kN"),
        ("joints", f"{result['joints']} (pairs of blocks that touch), {result['contacts']} contact points"),
    ]
    if result.get("closed_gaps"):
        rows.append(("gaps from rounding", describe_closed_gaps(result["closed_gaps"])))
    if "method" in result:
        rows += _case_rows(result)
    findings = result.get("remaining", result["findings"])
    if "fixed" in result:
        print_rows("As given", rows)
        _print_kinds("Repaired", result["repairs"], lambda repair: f"{repair['block']}: {repair['said']}")
        print(f"written to {result['fixed']}; what is left:" if findings else f"written to {result['fixed']}; nothing is left")
    else:
        print_rows(_verdict(findings), rows)
    for severity in ("error", "warning"):
        _print_kinds(severity.capitalize(), [f for f in findings if f["severity"] == severity], _sentence)


def describe_closed_gaps(closed: list[dict[str, Any]]) -> str:
    """The joints that were closed because only the rounding of the drawing had opened them, the widest first."""
    listed = sorted(closed, key=lambda gap: -abs(gap["gap"]))
    rows = [f"{gap['a']}|{gap['b']}: {1e3 * gap['gap']:.3g} mm" if gap["b"] else f"{gap['a']}, faces made plane: "
            f"{1e3 * gap['gap']:.3g} mm" for gap in listed[:MAX_LISTED_GAPS]]  # fmt: skip
    more = [f"and {len(listed) - MAX_LISTED_GAPS} more"] if len(listed) > MAX_LISTED_GAPS else []
    return "\n".join([f"{len(listed)} closed (+ gap, - overlap)", *rows, *more])


def _case_rows(result: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        ("height of the free blocks", f"{result['height']:.4g} m"),
        ("friction at the contacts", f"{result['smallest_friction']:g} to {result['largest_friction']:g}"),
        ("motions", ", ".join(result["motions"]) or "none: gravity only"),
        ("analysis", result["analysis"] + _describe_steps(result)),
        ("contact, solver", f"{result['contact']}, {result['method']}"),
    ]


def _describe_steps(result: dict[str, Any]) -> str:
    return f", {result['duration']:g} s in {result['steps']} steps, {result['frames']} frames" if "steps" in result else ""


def _verdict(findings: list[dict[str, Any]]) -> str:
    errors = sum(finding["severity"] == "error" for finding in findings)
    if errors:
        return f"It cannot run: {errors} errors"
    count = f"{len(findings)} warning" + ("" if len(findings) == 1 else "s")
    return f"It can run, with {count}" if findings else "Sound: nothing found"


def _print_kinds(title: str, entries: list[dict[str, Any]], sentence: Callable[[dict[str, Any]], str]) -> None:
    """Print entries by kind: how many there are, the range of their measured values, and the first few in words."""
    kinds: dict[str, list[dict[str, Any]]] = {}
    for entry in entries:
        kinds.setdefault(entry["kind"], []).append(entry)
    for kind, members in kinds.items():
        print(f"{title}: {kind}, {len(members)} times{_range(members)}" if len(members) > 1 else f"{title}: {kind}")
        for member in members[:MAX_ENTRIES]:
            print(f"  {sentence(member)}")
        if len(members) > MAX_ENTRIES:
            print(f"  ... {len(members) - MAX_ENTRIES} more; --json lists all")


def _range(members: list[dict[str, Any]]) -> str:
    values = [member["value"] for member in members if member.get("unit") == "m" and member["value"] is not None]
    ends = [f"{1e3 * value:.3g}" for value in (min(values, default=0.0), max(values, default=0.0))]
    return f", {' to '.join(dict.fromkeys(ends))} mm" if values else ""


def _sentence(finding: dict[str, Any]) -> str:
    """The blocks of a finding, what is wrong with them, and how to correct it."""
    names = [repr(name) for name in finding["blocks"]]
    if len(names) > MAX_ENTRIES:
        names = [", ".join(names[:MAX_ENTRIES]), f"{len(names) - MAX_ENTRIES} more"]
    where = " and ".join(names) + ("" if finding["face"] is None else f", face {finding['face']}")
    between = ": " if len(finding["blocks"]) == 1 else " " if where else ""
    return f"{where}{between}{finding['said']}; {finding['cure']}"


def print_summary(summary: dict[str, Any]) -> None:
    """Print the summary of a run, as `drystone info` does."""
    print_rows("Run", summary_rows(summary))
    if summary["dumps"]:
        message = f"{summary['unconverged_steps']} steps did not converge; reproduce one with:"
        print(f"{message} drystone solve {summary['dumps'][0]} --method clarabel-static")


def summary_rows(summary: dict[str, Any]) -> list[tuple[str, str]]:
    cost, factorisations = summary["ms_per_step"], summary["factorisations"]
    small = summary["integrator"] == "small-steps"
    paths = ", ".join(f"{name} {count}" for name, count in summary["paths"].items())
    rows = [
        ("blocks", f"{summary['blocks']}, of which {summary['fixed_blocks']} fixed"),
        ("simulated time", f"{summary['time']:g} s in {summary['steps']} steps" + _interruption_note(summary)),
        *([("OPEN", open_question(summary["hung_by_friction"]))] if summary["hung_by_friction"] else []),
        ("outcome", _describe_outcome(summary) + (" in this run" if summary["hung_by_friction"] else "")),
        ("largest displacement", f"{summary['max_displacement']:.4g} m"),
        ("deepest overlap of blocks", f"{summary['max_penetration']:.2e} m"),
        *([] if small else [("largest residual", f"{summary['max_residual']:.1e} g dt")]),
        ("steps that made energy" if small else "unconverged steps", f"{summary['unconverged_steps']}"),
        ("contact points", f"{summary['contacts']['mean']:.1f} on average, {summary['contacts']['max']} at most"),
        *([] if small else [("steps by solver", paths)]),
        _small_steps_row(summary)
        if small
        else ("factorisations per step", f"{factorisations['mean']:.2f} mean, {factorisations['max']} at most"),
        ("time per step", f"{cost['total']:.3g} ms: " + _describe_cost(cost, "small steps" if small else "solver")),
    ]
    energies = [(name, ends) for name, ends in summary["energy"].items() if any(ends)]
    rows += [(f"energy, {name}", f"{_format_energy(ends[0])} at the start, {_format_energy(ends[1])} at the end")
             for name, ends in energies]  # fmt: skip
    rows += [("computed with", format_stamp(summary["stamp"]))] if "stamp" in summary else []
    if "base_resultant" in summary:
        heads = [1e3 * opening for opening in summary["head_joint_openings"]]
        rows.insert(3, ("reaction of the supports", _describe_base(summary["base_resultant"])))
        rows.insert(4, ("widest head joint", f"{heads[-1]:.3g} mm at the end, {max(heads):.3g} mm on the way"))
    if "mechanism" in summary:
        cracks = [f"{name} {width:.3g} mm" for name, width in summary["cracks"].items()]
        rows += [("mechanism", summary["mechanism"]["words"]), ("widest cracks", ", ".join(cracks[:MAX_ENTRIES]) or "none")]
    return rows


def _small_steps_row(summary: dict[str, Any]) -> tuple[str, str]:
    """How long the small steps were, and how many steps were partly repeated with finer ones."""
    text = f"{1e6 * summary['small_step']:.3g} µs long on average, {summary['factorisations']['mean']:.0f} per step"
    count = summary["paths"].get(FINER_STEPS, 0)
    return "small steps", text + (f"; {count} steps repeated in part with finer ones" if count else "")


def open_question(hung: list[str]) -> str:
    """The sentence about blocks that rest on nothing; `hung` has their names, at least one."""
    named = ", ".join(hung[:MAX_ENTRIES]) + (f" and {len(hung) - MAX_ENTRIES} more" if len(hung) > MAX_ENTRIES else "")
    return (
        f"{len(hung)} blocks rest on nothing ({named}); whether friction in vertical joints holds them depends on the play "
        'of these joints, which the drawing does not show: try structure.play = "0.1 mm" with several play_seed'
    )


def _describe_base(base: dict[str, Any]) -> str:
    """The vertical reaction of the supports as a share of the load; without inertia it would always be the full load."""
    shares = [force / base["weight"] for force in base["force"][1:]]
    since = base["balanced_from"]
    text = "never equal to 1e-4 until then" if since is None else f"equal to 1e-4 from {since:g} s on"
    return f"{shares[-1]:.3%} of weight and loads at the end, {text}; {min(shares):.1%} to {max(shares):.1%} on the way"


def print_search(result: dict[str, Any]) -> None:
    """Print the result of `drystone search`."""
    trials, unit = result["trials"], result["unit"]
    rows = [
        (f"least for {result['event']}", f"{result['value']:.6g} {unit}".rstrip()),
        ("not yet at", f"{result['does_not']:.6g} {unit}".rstrip()),
        ("trials", f"{len(trials)}, of which {sum(trial['happens'] for trial in trials)} with {result['event']}"),
        ("steps that did not converge or made energy", str(sum(trial["unconverged"] for trial in trials))),
        ("note", result["note"]),
    ]
    print_rows(f"{result['case']}: {result['key']}", rows)


def print_verification(result: dict[str, Any]) -> None:
    """Print the result of `drystone verify`."""
    differences = [_difference(each) for each in result["differences"]]
    rows = [
        ("verdict", result["verdict"]),
        ("computed again", f"{result['steps']} of {result['of_steps']} steps"),
        *(("differs from the stamp", text) for text in result["changed"]),
        *(("differs", text) for text in differences[:MAX_ENTRIES]),
        *([("differs", f"{len(differences) - MAX_ENTRIES} more; --json lists all")] if len(differences) > MAX_ENTRIES else []),
        *((f"other {name}", f"{then}; here {now}") for name, (then, now) in result["other"].items()),
        *(("changed since", text) for text in result["since"]),
        ("computed with", format_stamp(result["stamp"])),
    ]
    print_rows(result["out"], rows)


def print_cross(result: dict[str, Any]) -> None:
    """Print the result of `drystone verify --cross`."""
    if "ways" in result:
        print_rows(
            result["out"],
            [("verdict", result["verdict"]), *((name, _describe_bounds(way)) for name, way in result["ways"].items())],
        )
        return
    allowed = "1 % of its radius" if result["apart"] is None else f"{1e3 * result['apart']:.4g} mm"
    rows = [
        ("verdict", result["verdict"]),
        ("recorded by", result["recorded_by"]),
        ("followed by", result["followed_by"]),
        ("parted means", f"a block is more than {allowed} apart in a recorded frame"),
        ("largest distance before", f"{1e3 * result['before']:.3g} mm"),
        *([("not converged", f"{result['unconverged']} steps of the other integrator")] if result["unconverged"] else []),
    ]
    print_rows(result["out"], rows)


def _describe_bounds(way: dict[str, Any]) -> str:
    safe, upper = ("not known" if way[name] is None else f"{way[name]:.4g}" for name in ("safe", "upper"))
    return f"multiplier: safe {safe}, upper {upper}"


def _difference(difference: dict[str, Any]) -> str:
    difference_text = (
        "in number or in words" if difference["largest"] is None else f"by at most {difference['largest']:.2g} (SI)"
    )
    since = "" if difference["step"] is None else f" from step {difference['step']} on"
    return f"{difference['what']}{since}, {difference_text}"


def print_solution(result: dict[str, Any]) -> None:
    """Print the result of `drystone solve`."""
    unit = "g dt" if result["form"] == "dump" else "of the largest velocity without reaction"
    rows = [
        ("problem", f"{result['form']}, {result['contacts']} contacts, {result['unknowns']} unknowns"),
        ("friction law", result["friction_law"]),
        ("method", f"{result['method']}, tolerance {result['tolerance']:g}"),
        ("converged", ("yes" if result["converged"] else "no") + f", path {result['path']}"),
        ("residual", f"{_format_error(result['residual'])} {'g dt' if result['form'] == 'dump' else 'relative to q'}"),
        ("natural map", f"{_format_error(result['natural_map'])} {unit}"),
        ("velocity error", f"{_format_error(result['error'])} {unit}, an estimate"),
        ("iterations", f"{result['iterations']} factorisations"),
        ("time", f"{result['seconds']:.3g} s"),
        *(("note", note) for note in result["notes"]),
    ]
    print_rows(result["file"], rows)


def _format_error(value: float | None) -> str:
    return "not finite" if value is None else f"{value:.1e}"


def _interruption_note(summary: dict[str, Any]) -> str:
    return "" if summary["finished"] else " (cut before its end)"


def _describe_outcome(summary: dict[str, Any]) -> str:
    fallen = summary["fallen_blocks"]
    more = f"; {'1 block has' if fallen == 1 else f'{fallen} blocks have'} fallen out of place"
    return (f"collapsed at {summary['collapse_time']:.3f} s" if summary["collapsed"] else "stands") + (more if fallen else "")


def _describe_cost(cost: dict[str, float], middle: str) -> str:
    return f"contact detection {cost['contact']:.3g}, {middle} {cost['solver']:.3g}, all else {cost['rest']:.3g}"


def _format_energy(value: float) -> str:
    return f"{value / 1e3:.4g} kJ" if abs(value) >= 1e3 else f"{value:.4g} J"


def print_rows(title: str, rows: list[tuple[str, str]]) -> None:
    """A table of names and values."""
    table = Table(title=title, show_header=False, title_justify="left")
    for name, value in rows:
        table.add_row(name, value)
    Console().print(table)
