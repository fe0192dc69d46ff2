"""An arch of voussoirs with radial joints between two fixed abutments: circular, segmental or pointed."""

from typing import Literal

import numpy as np

from drystone.base.errors import InputError
from drystone.base.units import Angle, Count, Density, Length
from drystone.build.shapes import check_count, check_positive, prism
from drystone.structure.model import Block

Array = np.ndarray
Shape = Literal["circular", "segmental", "pointed"]


def arch(
    *,
    shape: Shape = "circular",
    radius: Length = 10.0,
    thickness: Length = 1.5,
    embrace: Angle = 150 * np.pi / 180,
    span: Length | None = None,
    rise: Length | None = None,
    blocks: Count = 7,
    depth: Length = 1.0,
    density: Density = 2000.0,
) -> list[Block]:
    """An arch of thickness and depth (y) [m], spanning along x.

    shape: "circular" by the mid-curve's radius [m] and the angle `embrace` [rad]; "segmental", one arc, and "pointed", two
    arcs with their centres on the springing line and a vertical joint where they meet, by the clear span and the rise
    of the intrados [m]. A pointed arch rises at least half its span, a segmental one at most.
    Voussoirs "voussoir-1" (rightmost) to "voussoir-<blocks>" are straight between the joints, with their corners on the
    arcs of the intrados and the extrados; the arch is centred on x = 0 and its lowest corner is at z = 0. The supports
    "abutment-right" and "abutment-left" continue it by its thickness and are wider than the joint by half of it on
    every side.
    """
    check_positive("arch", radius=radius, thickness=thickness, embrace=embrace, depth=depth, density=density)
    check_count("arch", 1, blocks=blocks)
    if shape == "pointed":
        joints = pointed_joints(*_span_and_rise(shape, span, rise), thickness, blocks)
    elif shape == "segmental":
        joints = circular_joints("arch", *_arc(*_span_and_rise(shape, span, rise), thickness), blocks)
    elif shape == "circular":
        if span is not None or rise is not None:
            raise InputError(
                'arch: span and rise are for the shapes "segmental" and "pointed"; give radius and embrace, or the shape'
            )
        joints = circular_joints("arch", radius, thickness, embrace, blocks)
    else:
        raise InputError(f'arch: shape is {shape!r}; give "circular", "segmental" or "pointed"')
    y = (-depth / 2, depth / 2)
    return abutments(*joints, y, density) + voussoirs(*joints, y, "arch", density)


def circular_joints(family: str, radius: float, thickness: float, embrace: float, blocks: int) -> tuple[Array, Array]:
    """(blocks + 1, 2) [m] x and z of the inner and the outer corners of the joints, from right to left."""
    _check_arc(family, radius, thickness, embrace, blocks)
    angle = (np.pi - embrace) / 2 + embrace * np.arange(blocks + 1) / blocks
    inner, outer = radius - thickness / 2, radius + thickness / 2
    rim = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    rim = (rim + rim[::-1] * [-1, 1]) / 2  # mirror images to the last bit
    centre = np.array([0.0, -min(inner * rim[0, 1], outer * rim[0, 1])])
    return centre + inner * rim, centre + outer * rim


def pointed_joints(span: float, rise: float, thickness: float, blocks: int) -> tuple[Array, Array]:
    """The joints of a pointed arch, by the span and the rise of its intrados [m]; the joint at the top is vertical."""
    if blocks % 2:
        raise InputError(f"arch: {blocks} blocks do not make a pointed arch with a joint at its top; give an even number")
    if 2 * rise < span:
        raise InputError(f"arch: a pointed arch of rise {rise:g} m is lower than half its span {span:g} m; give more rise")
    inner = (span**2 / 4 + rise**2) / span  # radius of the intrados, which passes (span / 2, 0) and (0, rise)
    outer, centre = inner + thickness, span / 2 - inner
    angle = np.arcsin(rise / inner) * np.arange(blocks // 2) / (blocks // 2)
    rim = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    right = [np.array([centre, 0.0]) + radius * rim for radius in (inner, outer)]
    tops = [np.array([[0.0, np.sqrt(radius**2 - centre**2)]]) for radius in (inner, outer)]
    both = [np.concatenate([half, top, half[::-1] * [-1, 1]]) for half, top in zip(right, tops, strict=True)]
    return both[0], both[1]


def voussoirs(inner: Array, outer: Array, y: tuple[float, float], group: str, density: float) -> list[Block]:
    """The stones "voussoir-1" (rightmost), ... between the joints of an arch, from one y to another [m]."""
    return [
        prism(outline, y, name=f"voussoir-{i + 1}", group=group, density=density)
        for i, outline in enumerate(joint_outlines(inner, outer))
    ]


def joint_outlines(inner: Array, outer: Array) -> list[Array]:
    """(4, 2) [m] the outlines between neighbouring joints in the plane x-z, counter-clockwise, from right to left."""
    return [np.array([inner[i], outer[i], outer[i + 1], inner[i + 1]]) for i in range(len(inner) - 1)]


def abutments(inner: Array, outer: Array, y: tuple[float, float], density: float) -> list[Block]:
    """The two supports behind the first and the last joint of an arch, from one y to another [m]."""
    # The outline behind the left joint is a mirror image; reversed it is counter-clockwise too.
    right, left = _abutment_outline(inner[0], outer[0]), _abutment_outline(inner[-1], outer[-1])
    wide = float(np.linalg.norm(outer[0] - inner[0])) / 2
    return [
        prism(outline, (y[0] - wide, y[1] + wide), fixed=True, name=name, group="foundation", density=density)
        for outline, name in ((right, "abutment-right"), (left[::-1], "abutment-left"))
    ]


def _abutment_outline(inner: Array, outer: Array) -> Array:
    """(4, 2) [m] the outline that continues the arch behind a joint by its thickness, wider by half of it on both sides."""
    along = outer - inner
    away = np.sign(along[0]) * np.array([along[1], -along[0]])
    within = min(1.0, inner[0] / along[0]) if along[0] else 1.0  # not beyond the middle of a thick arch
    low = inner - along * within / 2
    return np.array([low + away, outer + along / 2 + away, outer + along / 2, low])


def _span_and_rise(shape: str, span: float | None, rise: float | None) -> tuple[float, float]:
    if span is None or rise is None:
        raise InputError(f"arch: the {shape} shape needs a span and a rise; give both in m")
    check_positive("arch", span=span, rise=rise)
    return span, rise


def _arc(span: float, rise: float, thickness: float) -> tuple[float, float, float]:
    """Mid-curve radius [m], thickness [m] and embrace [rad] of the arc whose intrados has a span and a rise."""
    if 2 * rise > span:
        raise InputError(f"arch: a segmental arch of rise {rise:g} m is higher than half its span {span:g} m; give less "
                         'rise or shape = "pointed"')  # fmt: skip
    inner = (span**2 / 4 + rise**2) / (2 * rise)
    return inner + thickness / 2, thickness, 4 * np.arctan(2 * rise / span)


def _check_arc(family: str, radius: float, thickness: float, embrace: float, blocks: int) -> None:
    if thickness >= 2 * radius:
        raise InputError(f"{family}: thickness {thickness:g} m is not below twice the radius {radius:g} m; give a thinner arch")
    if embrace >= 2 * np.pi:
        raise InputError(f'{family}: embrace is {embrace:g} rad; give less than a full turn, in rad or as "150 deg"')
    if embrace / blocks >= np.pi:
        raise InputError(f"{family}: {blocks} block over {np.rad2deg(embrace):g} degrees is no voussoir; give more blocks")
