"""The result of an analysis of statics in a terminal: a dictionary comes in, a table with units goes out."""

from typing import Any

from drystone.results.store.stamp import format_stamp
from drystone.show.tables.summary_tables import describe_closed_gaps, print_rows

MAX_SLOPE = 1e3  # slope of a thrust line; a steeper line means that the joint bears no pressure

Rows = list[tuple[str, str]]


def print_result(result: dict[str, Any]) -> None:
    """Print the result of any analysis of statics as a table."""
    rows = [*result_rows(result), ("computed with", format_stamp(result.get("stamp", {}))), ("stored in", result["out"])]
    rows += [("pictures", "\n".join(result["pictures"]))] if result.get("pictures") else []
    print_rows(result["analysis"].capitalize(), rows)


def result_rows(result: dict[str, Any]) -> Rows:
    rows = [("verdict", result["words"])] if "words" in result else []
    rows += [("blocks", f"{result['blocks']}, of which {result['fixed_blocks']} fixed; {_format_force(result['weight'])}")]
    rows += [("gaps from rounding", describe_closed_gaps(result["closed_gaps"]))] if result.get("closed_gaps") else []
    rows += ROWS_BY_ANALYSIS[result["analysis"]](result)
    rows += [("mechanism", result["mechanism"]["words"])] if "mechanism" in result else []
    rows += [("note", result["note"])] if result.get("note") else []
    return [*rows, ("time", f"{result['seconds']:.3g} s")]


def _equilibrium(result: dict[str, Any]) -> Rows:
    rows = [("forces", f"{result['contact']}, residual {result['residual']:.1e} g dt")]
    pushes = [f"{name}: {_format_force_vector(force)}" for name, force in result["reactions"].items()]
    rows.append(
        ("reactions of the supports", "\n".join(pushes if len(pushes) <= 8 else [*pushes[:7], f"and {len(pushes) - 7} more"]))
    )
    if "falls" in result:
        rest = "the rest stands" if result["rest_stands"] else "nor does the rest stand"
        rows.append(("what falls", f"{len(result['falls'])} blocks; {rest}"))
    rows += [(f"{bound['between'][0]} on {bound['between'][1]}",
              "none: no forces can hold it" if result.get("verdict") == "falls" else
              f"{_format_bound(bound['least'])} to {_format_bound(bound['largest'])} along {bound['direction']}")
             for bound in result.get("bounds", [])]  # fmt: skip
    return rows + (_thrust(result["thrust"]) if "thrust" in result else [])


def _thrust(thrust: dict[str, Any]) -> Rows:
    if thrust["minimum"] is None:
        return [("thrust line", "none lies within the arch")]
    maximum, factor = thrust["maximum"], thrust["geometric_safety_factor"]
    largest = "no bound (a straight line fits in it)" if maximum is None else _format_force(maximum)
    safety = "no bound" if factor is None else f"{factor:.3f} (the joints could be thinner by this factor)"
    rows = [("thrust", f"{_format_force(thrust['minimum'])} to {largest}, no sliding assumed"), ("geometric safety", safety)]
    for name, joints in thrust["touches"].items():
        touched = ", ".join(f"{'|'.join(touch['joint'])} {touch['side']}" for touch in joints)
        rows += [(f"{name} line touches", touched)] if touched else []
    for name, joints in thrust["friction_check"].items():
        steep = ", ".join(f"{'|'.join(joint['joint'])} ({_format_slope(joint['slope'])})" for joint in joints)
        rows += [(f"{name} line too steep", steep)] if steep else []
    return rows


def _format_slope(slope: float) -> str:
    """The slope of a thrust line against the normal of a joint; a joint without pressure has none."""
    return f"{slope:.2f}" if slope < MAX_SLOPE else "no pressure"


def _limit(result: dict[str, Any]) -> Rows:
    rows = [*_safe(result), ("upper multiplier", f"{_format_upper(result)} (associated friction)")]
    if result.get("multiplier_first_crack") is not None:
        rows.append(("first crack", f"{result['multiplier_first_crack']:.5f} in sound, elastic joints"))
    rows.append(("without the live load", "stands" if result["stable"] else "does not stand"))
    gains = result["sensitivities"]
    if gains is not None:
        listed = [("friction", gains["friction"]), *((f"density of {name}", gain) for name, gain in gains["density"].items())]
        listed += [(f"{'live' if load['live'] else 'dead'} load on {load['on']}", load["gain"]) for load in gains["loads"]]
        rows.append(("change for 1 % more", "\n".join(f"{name}: {gain + 0.0:+.2f} %" for name, gain in listed)))
    return rows


def _safe(result: dict[str, Any]) -> Rows:
    """The rows of the safe multiplier, which begin with a warning if it is not confirmed."""
    safe, note = result.get("multiplier_safe"), result.get("search", {}).get("note", "")
    if safe is None:
        return [("safe multiplier", f"not known: {note}")] if note else []
    doubt = "" if result.get("confirmed") else "NOT CONFIRMED by a history: "
    rows = [("safe multiplier", f"{doubt}{safe:.5f} ({result['law_safe']}): {note}")]
    if result.get("multiplier_from_rest") is not None:
        rows.append(("begins to move at", f"{result['multiplier_from_rest']:.5f}, loaded slowly from natural rest"))
    return rows


def _tilt(result: dict[str, Any]) -> Rows:
    safe, angle = result.get("angle_safe"), "none (associated friction)"
    if result["angle"] is not None:
        angle = f"{result['angle']:.3f} deg, multiplier {result['multiplier']:.5f} (associated friction)"
    return [("safe angle", "not known" if safe is None else f"{safe:.3f} deg"), *_safe(result), ("upper angle", angle)]


def _capacity(result: dict[str, Any]) -> Rows:
    rows = [(f"{row['direction_deg']:g} deg", _interval(row)) for row in result["directions"]]
    weakest = result["weakest"]
    listed = "none" if weakest is None else f"{_interval(weakest)} at {weakest['direction_deg']:g} deg from +x"
    laws = "safe by Coulomb friction over the areas of the joints; upper bound by associated friction"
    return [("multipliers", laws), *rows, ("weakest", listed)]


def _interval(row: dict[str, Any]) -> str:
    """The safe multiplier of a direction, then the upper bound."""
    safe, doubt = row.get("multiplier_safe"), "" if row.get("confirmed") else " (NOT CONFIRMED by a history)"
    return f"{'not known' if safe is None else f'{safe:.5f}{doubt}'} safe, {_format_upper(row)} upper"


def _pushover(result: dict[str, Any]) -> Rows:
    return [
        *_safe(result),
        ("curve", "by associated friction, an upper bound"),
        ("start of the curve", f"multiplier {result['multiplier']:.5f}; limit analysis: {result['limit']:.5f}"),
        ("peak", f"{result['peak']:.5f} at {1e3 * result['peak_displacement']:.4g} mm"),
        ("falls to 80 % of the peak at", _format_millimetres(result["soft_displacement"])),
        ("falls to zero at", _format_millimetres(result["ultimate_displacement"])),
        ("points, reason for the end", f"{len(result['curve']['displacement'])}, {result['end']}"),
    ]


def _construction(result: dict[str, Any]) -> Rows:
    stages, all_at_once, change = result["stages"], result["all_at_once"], result.get("change_by_stages")
    reached, planned = len(stages["blocks"]), result["planned_stages"]
    heads = [f"{1e3 * opening:.3g} mm" for opening in (stages["head_joint_opening"][-1], all_at_once["head_joint_opening"])]
    largest_error = max(
        abs(base / down - 1) for base, down in zip(stages["base_resultant"], stages["pressing"], strict=True) if down
    )
    rows = [
        ("stages", f"{planned}, each stands" if result["stable"] else f"{reached} of {planned}, the last does not stand"),
        ("contact", result["contact"]),
        ("reaction of the supports", f"the load present to {largest_error:.0e} in every stage"),
        ("widest head joint", f"{heads[0]}; if laid at once {heads[1]}"),
    ]
    if change is None:
        return [*rows, ("falls", ", ".join(result["falls"]))] if "falls" in result else [*rows, ("at once", "does not stand")]
    listed = f"{change['largest_change']:.1%} of the largest force, {change['mean_change']:.1%} rms"
    forces = (
        f"{_format_force_vector(change['force_at_once'])} at once, {_format_force_vector(change['force_in_stages'])} in stages"
    )
    return [*rows, ("change of forces by stages", listed), (f"largest change, {'|'.join(change['joint'])}", forces)]


def _settlement(result: dict[str, Any]) -> Rows:
    settlement, base, cracks = result["settlement"][-1], result["base_resultant"], result["cracks"]
    last = f"while supports move by {1e3 * settlement:.4g} mm" if settlement else "under its weight"
    verdict = f"stays in balance {last}" if result["stable"] else f"{result['verdict']}, from {1e3 * settlement:.4g} mm on"
    balanced = result["increments"] + result["stable"]  # number of states in equilibrium
    largest_error = max((abs(force / base["weight"] - 1) for force in base["force"][:balanced]), default=0.0)
    rows = [("verdict", verdict)]
    rows += [("what falls", ", ".join(result["falls"]))] if result.get("falls") else []
    rows += [
        ("reaction of the supports", f"weight and loads to {largest_error:.0e} in {balanced} states of equilibrium"),
        ("contact", result["contact"]),
    ]
    listed = [
        f"{name}: {_format_force_vector(each['reaction'][0])} at first, {_format_force_vector(each['reaction'][-1])} in the end"
        for name, each in result["supports"].items()
    ]
    rows.append(
        ("reactions of the supports", "\n".join(listed if len(listed) <= 8 else [*listed[:7], f"and {len(listed) - 7} more"]))
    )
    place = [", ".join(f"{x + 0.0:.2f}" for x in each["place"]) for each in cracks]
    wide = [
        f"{'|'.join(each['blocks'])}: {1e3 * each['width']:.3g} mm at ({at}) m"
        for each, at in zip(cracks[:5], place[:5], strict=True)
    ]
    more = [f"and {len(cracks) - 5} more"] if len(cracks) > 5 else []
    return [*rows, ("open joints", "\n".join(wide + more) if wide else "none")]


ROWS_BY_ANALYSIS = {"equilibrium": _equilibrium, "limit": _limit, "tilt": _tilt, "capacity": _capacity, "pushover": _pushover,
        "construction": _construction, "settlement": _settlement}  # fmt: skip


def _format_upper(result: dict[str, Any]) -> str:
    value = result["multiplier"]
    return (
        {"endless": "no limit", "impossible": "none"}.get(result["status"], "not solved") if value is None else f"{value:.5f}"
    )


def _format_millimetres(value: float | None) -> str:
    return "not reached" if value is None else f"{1e3 * value:.4g} mm"


def _words(checks: dict[str, Any]) -> str:
    return ", ".join(f"{name.replace('_', ' ')}: {'yes' if held else 'NO'}" for name, held in checks.items())


def _format_force_vector(force: list[float]) -> str:
    return "(" + ", ".join(f"{each / 1e3 + 0.0:.2f}" for each in force) + ") kN"


def _format_bound(value: float | None) -> str:
    return "no bound" if value is None else _format_force(value)


def _format_force(value: float) -> str:
    value = round(value, 9) + 0.0
    return f"{value / 1e3:.4g} kN" if abs(value) < 1e6 else f"{value / 1e6:.4g} MN"
