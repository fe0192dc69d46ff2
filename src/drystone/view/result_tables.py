"""What an analysis of statics found, told in a terminal: facts come in, a table with units goes out."""

from typing import Any

from drystone.stamp import in_words
from drystone.view.tables import describe_closed_gaps, print_rows

MAX_SLOPE = 1e3  # slope of a line: beyond, nothing presses

Rows = list[tuple[str, str]]


def print_result(facts: dict[str, Any]) -> None:
    """The facts of any kind, in the words of that kind."""
    rows = [*result_rows(facts), ("computed with", in_words(facts.get("stamp", {}))), ("kept in", facts["out"])]
    rows += [("pictures", "\n".join(facts["pictures"]))] if facts.get("pictures") else []
    print_rows(facts["analysis"].capitalize(), rows)


def result_rows(facts: dict[str, Any]) -> Rows:
    rows = [("verdict", facts["words"])] if "words" in facts else []
    rows += [("blocks", f"{facts['blocks']}, of which {facts['fixed_blocks']} fixed; {_newton(facts['weight'])}")]
    rows += [("gaps of rounding", describe_closed_gaps(facts["closed_gaps"]))] if facts.get("closed_gaps") else []
    rows += TOLD[facts["analysis"]](facts)
    rows += [("mechanism", facts["mechanism"]["words"])] if "mechanism" in facts else []
    rows += [("note", facts["note"])] if facts.get("note") else []
    return [*rows, ("time", f"{facts['seconds']:.3g} s")]


def _equilibrium(facts: dict[str, Any]) -> Rows:
    rows = [("forces", f"{facts['contact']}, residual {facts['residual']:.1e} of g dt")]
    pushes = [f"{name}: {_vector(force)}" for name, force in facts["reactions"].items()]
    rows.append(("supports push with", "\n".join(pushes if len(pushes) <= 8 else [*pushes[:7], f"and {len(pushes) - 7} more"])))
    if "falls" in facts:
        rest = "the rest stands" if facts["rest_stands"] else "nor does the rest stand"
        rows.append(("what falls", f"{len(facts['falls'])} blocks; {rest}"))
    rows += [(f"{bound['between'][0]} on {bound['between'][1]}",
              "none: no forces hold it" if facts.get("verdict") == "falls" else
              f"{_bound(bound['least'])} to {_bound(bound['largest'])} along {bound['direction']}")
             for bound in facts.get("bounds", [])]  # fmt: skip
    return rows + (_thrust(facts["thrust"]) if "thrust" in facts else [])


def _thrust(thrust: dict[str, Any]) -> Rows:
    if thrust["minimum"] is None:
        return [("thrust line", "none lies within the arch")]
    most, factor = thrust["maximum"], thrust["geometric_safety_factor"]
    largest = "no bound (a straight line fits in it)" if most is None else _newton(most)
    safety = "no bound" if factor is None else f"{factor:.3f}: so thin the joints could be"
    rows = [("thrust", f"{_newton(thrust['minimum'])} to {largest}, no sliding assumed"), ("geometric safety", safety)]
    for name, joints in thrust["touches"].items():
        touched = ", ".join(f"{'|'.join(touch['joint'])} {touch['side']}" for touch in joints)
        rows += [(f"{name} line touches", touched)] if touched else []
    for name, joints in thrust["friction_check"].items():
        steep = ", ".join(f"{'|'.join(joint['joint'])} ({_slope(joint['slope'])})" for joint in joints)
        rows += [(f"{name} line too steep", steep)] if steep else []
    return rows


def _slope(slope: float) -> str:
    """Of a line against the normal of a joint; where nothing presses, there is none."""
    return f"{slope:.2f}" if slope < MAX_SLOPE else "nothing presses"


def _limit(facts: dict[str, Any]) -> Rows:
    rows = [*_safe(facts), ("upper multiplier", f"{_multiplier(facts)} (associated friction)")]
    if facts.get("multiplier_first_crack") is not None:
        rows.append(("first crack", f"{facts['multiplier_first_crack']:.5f} in sound, elastic joints"))
    rows.append(("without the live load", "stands" if facts["stable"] else "does not stand"))
    gains = facts["sensitivities"]
    if gains is not None:
        told = [("friction", gains["friction"]), *((f"density of {name}", gain) for name, gain in gains["density"].items())]
        told += [(f"{'live' if load['live'] else 'dead'} load on {load['on']}", load["gain"]) for load in gains["loads"]]
        rows.append(("with 1 % more of", "\n".join(f"{name}: {gain + 0.0:+.2f} %" for name, gain in told)))
    return rows


def _safe(facts: dict[str, Any]) -> Rows:
    """The safe multiplier; first that it is not confirmed, if it is not."""
    safe, note = facts.get("multiplier_safe"), facts.get("search", {}).get("note", "")
    if safe is None:
        return [("safe multiplier", f"not known: {note}")] if note else []
    doubt = "" if facts.get("confirmed") else "NOT CONFIRMED by a history: "
    rows = [("safe multiplier", f"{doubt}{safe:.5f} ({facts['law_safe']}): {note}")]
    if facts.get("multiplier_from_rest") is not None:
        rows.append(("begins to move at", f"{facts['multiplier_from_rest']:.5f}, loaded slowly from natural rest"))
    return rows


def _tilt(facts: dict[str, Any]) -> Rows:
    safe, angle = facts.get("angle_safe"), "none (associated friction)"
    if facts["angle"] is not None:
        angle = f"{facts['angle']:.3f} deg, multiplier {facts['multiplier']:.5f} (associated friction)"
    return [("safe angle", "not known" if safe is None else f"{safe:.3f} deg"), *_safe(facts), ("upper angle", angle)]


def _capacity(facts: dict[str, Any]) -> Rows:
    rows = [(f"{row['direction_deg']:g} deg", _interval(row)) for row in facts["directions"]]
    weakest = facts["weakest"]
    told = "none" if weakest is None else f"{_interval(weakest)} at {weakest['direction_deg']:g} deg from +x"
    laws = "safe by Coulomb friction over the areas of the joints; upper bound by associated friction"
    return [("multipliers", laws), *rows, ("weakest", told)]


def _interval(row: dict[str, Any]) -> str:
    """The safe multiplier of a direction, then the upper one."""
    safe, doubt = row.get("multiplier_safe"), "" if row.get("confirmed") else " (NOT CONFIRMED by a history)"
    return f"{'not known' if safe is None else f'{safe:.5f}{doubt}'} safe, {_multiplier(row)} upper"


def _pushover(facts: dict[str, Any]) -> Rows:
    return [
        *_safe(facts),
        ("curve", "by associated friction, an upper bound"),
        ("starts at", f"multiplier {facts['multiplier']:.5f}; limit analysis: {facts['limit']:.5f}"),
        ("peak", f"{facts['peak']:.5f} at {1e3 * facts['peak_displacement']:.4g} mm"),
        ("80 % of it left at", _millimetres(facts["soft_displacement"])),
        ("no capacity at", _millimetres(facts["ultimate_displacement"])),
        ("points, end", f"{len(facts['curve']['displacement'])}, {facts['end']}"),
    ]


def _construction(facts: dict[str, Any]) -> Rows:
    stages, whole, change = facts["stages"], facts["all_at_once"], facts.get("change_by_stages")
    reached, planned = len(stages["blocks"]), facts["planned_stages"]
    heads = [f"{1e3 * opening:.3g} mm" for opening in (stages["head_joint_opening"][-1], whole["head_joint_opening"])]
    borne = max(abs(base / down - 1) for base, down in zip(stages["base_resultant"], stages["pressing"], strict=True) if down)
    rows = [
        ("stages", f"{planned}, each stands" if facts["stable"] else f"{reached} of {planned}, the last does not stand"),
        ("contact", facts["contact"]),
        ("supports bear", f"what is there to {borne:.0e} in every stage"),
        ("widest head joint", f"{heads[0]}; laid at once {heads[1]}"),
    ]
    if change is None:
        return [*rows, ("falls", ", ".join(facts["falls"]))] if "falls" in facts else [*rows, ("at once", "does not stand")]
    told = f"{change['largest_change']:.1%} of the largest force, {change['mean_change']:.1%} rms"
    most = f"{_vector(change['force_at_once'])} at once, {_vector(change['force_in_stages'])} in stages"
    return [*rows, ("stages change forces by", told), (f"most at {'|'.join(change['joint'])}", most)]


def _settlement(facts: dict[str, Any]) -> Rows:
    way, base, cracks = facts["settlement"][-1], facts["base_resultant"], facts["cracks"]
    last = f"while supports go by {1e3 * way:.4g} mm" if way else "under its weight"
    verdict = f"stays in balance {last}" if facts["stable"] else f"{facts['verdict']}, from {1e3 * way:.4g} mm on"
    whole = facts["increments"] + facts["stable"]  # states that are in balance
    borne = max((abs(force / base["weight"] - 1) for force in base["force"][:whole]), default=0.0)
    rows = [("verdict", verdict)]
    rows += [("what falls", ", ".join(facts["falls"]))] if facts.get("falls") else []
    rows += [("supports bear", f"weight and loads to {borne:.0e} at {whole} states in balance"), ("contact", facts["contact"])]
    told = [f"{name}: {_vector(each['reaction'][0])} at first, {_vector(each['reaction'][-1])} in the end"
            for name, each in facts["supports"].items()]  # fmt: skip
    rows.append(("supports push with", "\n".join(told if len(told) <= 8 else [*told[:7], f"and {len(told) - 7} more"])))
    place = [", ".join(f"{x + 0.0:.2f}" for x in each["place"]) for each in cracks]
    wide = [
        f"{'|'.join(each['blocks'])}: {1e3 * each['width']:.3g} mm at ({at}) m"
        for each, at in zip(cracks[:5], place[:5], strict=True)
    ]
    more = [f"and {len(cracks) - 5} more"] if len(cracks) > 5 else []
    return [*rows, ("joints that opened", "\n".join(wide + more) if wide else "none")]


TOLD = {"equilibrium": _equilibrium, "limit": _limit, "tilt": _tilt, "capacity": _capacity, "pushover": _pushover,
        "construction": _construction, "settlement": _settlement}  # fmt: skip


def _multiplier(facts: dict[str, Any]) -> str:
    value = facts["multiplier"]
    return {"endless": "no limit", "impossible": "none"}.get(facts["status"], "not solved") if value is None else f"{value:.5f}"


def _millimetres(value: float | None) -> str:
    return "not reached" if value is None else f"{1e3 * value:.4g} mm"


def _words(checks: dict[str, Any]) -> str:
    return ", ".join(f"{name.replace('_', ' ')}: {'yes' if held else 'NO'}" for name, held in checks.items())


def _vector(force: list[float]) -> str:
    return "(" + ", ".join(f"{each / 1e3 + 0.0:.2f}" for each in force) + ") kN"


def _bound(value: float | None) -> str:
    return "no bound" if value is None else _newton(value)


def _newton(value: float) -> str:
    value = round(value, 9) + 0.0
    return f"{value / 1e3:.4g} kN" if abs(value) < 1e6 else f"{value / 1e6:.4g} MN"
