"""H5: the pulses and the earthquakes that bring the stone house down, by studies of many trials."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtr

from drystone.base.units import GRAVITY
from drystone.show.plots.failure_domain_plot import domain_size, draw_domain
from drystone.show.plots.fragility_plots import draw_fragility
from drystone.show.plots.style import drawing
from drystone.validation.claims import Claim, Figure, Subject, Value, Workspace
from drystone.validation.computation import compute_study
from drystone.validation.pulsed_house import HOUSE

PULSED_CASE = (
    HOUSE
    + """
after = "2 s"
[motion]
pulse = "one-sine"
amplitude = "0.8 g"
half_period = "0.20 s"
direction = [0, 1, 0]
"""
)
DOMAIN_STUDY = """
[study]
kind = "failure-domain"
case = "case.toml"
half_periods = { from = "0.15 s", to = "0.6 s", count = 5 }
amplitudes = { from = "0.3 g", to = "2 g", resolution = "5 %" }
directions = ["+", "-"]
scan = 6
scan_every = 4
capacity = true
time_limit = "30 min"
vary = { "joints.friction" = [0.7] }
"""


def _domain(workspace: Workspace) -> dict[str, Any]:
    return compute_study(DOMAIN_STUDY, PULSED_CASE, workspace.folder / "domain")


def _compute_domain(workspace: Workspace) -> dict[str, Value]:
    (curve,) = _domain(workspace)["curves"]
    lowest = [_lowest(both) for both in zip(*(result["boundary"] for result in curve["directions"].values()), strict=True)]
    islands = [sign for sign, result in curve["directions"].items() if result["islands"]]
    return {
        "short": "survived" if np.isinf(lowest[0]) else f"collapses from {lowest[0]:.2g} g",
        "trend": "falls" if all(long < short or np.isinf(long) for short, long in pairwise(lowest)) else "does not fall",
        "longest": lowest[-1],
        "islands": " and ".join(islands) or "neither",
    }


def _lowest(both: tuple[dict[str, Any], ...]) -> float:
    """Return the lowest amplitude [g] that brings the house down in either direction; infinite if none of those tried does."""
    return min(np.inf if each["collapses"] is None else each["collapses"] / GRAVITY for each in both)


def _draw_domain(workspace: Workspace, out: Path) -> list[Figure]:
    result = _domain(workspace)
    width, height = domain_size(result)
    with drawing(out / "H5-domain-21.png", width=width, height=height) as figure:
        draw_domain(figure, result, workspace.folder / "domain")
    return [Figure("H5-domain-21.png", "As NB figure 21 (a): pulses that bring the house down, by direction; dashed: the "
                                       "static capacity")]  # fmt: skip


SHAKEN_CASE = (
    HOUSE
    + """
after = "2 s"
[motion]
direction = [0, 1, 0]
arias = [0.01, 0.98]
"""
)
FRAGILITY_STUDY = """
[study]
kind = "fragility"
case = "case.toml"
method = "stripes"
measure = "PGA"
levels = ["0.5 g", "0.75 g", "1 g", "1.5 g", "2 g", "2.5 g"]
assume_monotone = true
records = {records}
unit = "g"
time_limit = "60 min"
vary = {{ "joints.friction" = [0.7] }}
"""
RECORDS_FOLDER = "ground_motions"
COMPONENT_PATTERNS = (  # one component of each station in the data
    "fema_p695_farfield/*1.txt", "fema_p695_nearfield/*SPV270.AT2", "fema_p695_nearfield/*SYL090.AT2",
    "fema_p695_nearfield/*-E.AT2", "fema_p695_nearfield/*CLS000.AT2", "fema_p695_nearfield/*RRS228.AT2",
)  # fmt: skip
PUBLISHED_THETA, PUBLISHED_BETA = 0.971, 0.416  # of NB; theta in g


def _fragility(workspace: Workspace) -> dict[str, Any]:
    assert workspace.data is not None  # the subject needs it
    folder = (workspace.data / RECORDS_FOLDER).resolve()
    patterns = [str(folder / pattern) for pattern in COMPONENT_PATTERNS]
    first = sorted(folder.glob(COMPONENT_PATTERNS[-1]))[0]  # any record: the study replaces it
    return compute_study(
        FRAGILITY_STUDY.format(records=patterns), f'{SHAKEN_CASE}record = "{first}"', workspace.folder / "fragility"
    )


def _compute_fragility(workspace: Workspace) -> dict[str, Value]:
    (curve,) = _fragility(workspace)["curves"]
    return {"theta": curve["fit"]["theta"] / GRAVITY, "beta": curve["fit"]["beta"]}


def _draw_fragility(workspace: Workspace, out: Path) -> list[Figure]:
    with drawing(out / "H5-fragility-22.png") as figure:
        draw_fragility(figure, _fragility(workspace))
        (axes,) = figure.axes
        intensity = np.linspace(0.01, axes.get_xlim()[1], 200)  # [g]
        axes.plot(
            intensity,
            ndtr(np.log(intensity / PUBLISHED_THETA) / PUBLISHED_BETA),
            "k:",
            label=f"NB: theta {PUBLISHED_THETA} g, beta {PUBLISHED_BETA}",
        )
        axes.legend(loc="lower right")
    return [Figure("H5-fragility-22.png", "As NB figure 22: share of collapses and fitted curve, friction 0.7")]


HOUSE_DOMAIN = Subject(
    "H5-domain", "Pulses that bring the stone house down", "NB section 4.5.2, figure 21 (a)",
    "One sine along y in either direction, five half-periods from 0.15 to 0.6 s, amplitudes from 0.3 to 2 g in steps of 5 %, "
    "friction 0.7; as in NB, collapse is the loss of 20 % of the potential energy within 2 s after the pulse. Of the 69 "
    "trials, six stand by this rule while stones are still falling (docs/failure-domains.md). We do not have NB's figure, "
    "only their text, so we compare with what the text says about it. Frictions of 0.3 and 0.5 are not computed.",
    (
        Claim("short", "the shortest pulse, 0.15 s, up to 2 g", "", "survived"),
        Claim("trend", "least amplitude that brings it down, from shorter to longer pulses", "", "falls"),
        Claim("longest", "least amplitude at the longest half-period, which approaches the static capacity", "g", 0.372, 0.0744,
              "the pulse of 0.6 s is not infinitely long; a fifth of the static capacity"),
        Claim("islands", "direction of the first pulse with safe islands within the unsafe region", "", "-",
              ours="+", explanation=(
            "The search for islands covers few points, so the question stays open. NB see small islands at small half-periods "
            "in the negative direction. Ours has one at 0.30 s in the positive direction (1.42 to 1.57 g are certainly safe; "
            "at lower amplitudes stones are still falling at the end). In the negative direction the house collapses at 0.21 "
            "s under each of eight amplitudes from 0.92 to 2 g, and at 0.18 s, tried in addition, at 1.81 and 2 g but not at "
            "1.36 and 1.57 g: a small island between these would be missed. The bond also differs from NB's.")),
    ),
    _compute_domain, _draw_domain, quick=False,
)  # fmt: skip
HOUSE_FRAGILITY = Subject(
    "H5-fragility",
    "Earthquakes that bring the stone house down",
    "NB section 4.5.3, figure 22",
    "Stripes at NB's six levels of peak ground acceleration along y, friction 0.7, steps of 2.5 ms. NB use the 100 components "
    "of FEMA P695; we use one component of each of the 21 stations whose files we have, 15 far-field and 6 near-field, cut to "
    "1 to 98 % of their Arias intensity. A record that brings the house down is not tried at higher levels, and one that does "
    "not is not tried at lower levels, which leaves 63 trials. Frictions of 0.3 and 0.5 are not computed.",
    (
        Claim(
            "theta",
            "theta, the median peak acceleration at collapse",
            "g",
            PUBLISHED_THETA,
            0.22,
            "half of our 95 % band for 21 records",
            1.20,
            "NB's value is 4 % outside our band of 1.01 to 1.44 g. Near-field records bring the house down at a lower "
            "acceleration, 1.09 g instead of 1.25 g, and are 56 of NB's 100 but 6 of our 21. In NB's proportion our value "
            "would be about 1.16 g, and a band of the same width around it contains NB's value. With six such records this "
            "is a likely reason, not a proof; the bond is another.",
        ),
        Claim(
            "beta",
            "beta, the standard deviation of its logarithm",
            "",
            PUBLISHED_BETA,
            0.11,
            "half of our 95 % band for 21 records",
        ),
    ),
    _compute_fragility,
    _draw_fragility,
    quick=False,
    needs=RECORDS_FOLDER,
)
