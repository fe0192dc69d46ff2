"""A church on a Latin cross: nave, transept and chancel, a chapel and a bell tower beside the chancel; walls, no roof."""

import numpy as np

from drystone.base.errors import InputError
from drystone.base.units import Count, Density, Length
from drystone.build.courses import Opening, Wall, lay_walls, make_bond
from drystone.build.shapes import check_count, check_positive, foundation_slab
from drystone.structure.model import Block

# [m] sizes that the parameters do not set
LEVEL_STEP = 0.25  # sills, heads and tops are multiples of it, so the height of courses must divide it
NAVE_WIDTH = 9.0  # of nave and chancel, across, outside
TRANSEPT_DEPTH = 8.8  # of the transept, along the nave, including the wall to the chancel
CHANCEL_LENGTH = 6.0  # from the transept to the east end
TOWER_DEPTH = 4.0  # of tower and chapel, along the chancel
TOWER_PROJECTION = 1.0  # of the tower beyond the end of the transept
EAVES_HEIGHT, CHANCEL_EAVES_HEIGHT, CHAPEL_HEIGHT = 10.0, 9.0, 6.0
GABLE_RISE, CHANCEL_GABLE_RISE = 4.0, 2.0  # rise


def church(
    *,
    nave: Length = 18.0,
    transept: Length = 14.0,
    tower_height: Length = 17.0,
    thickness: Length = 0.8,
    courses: Count = 68,
    stone: Length = 1.0,
    density: Density = 2000.0,
    margin: Length = 1.0,
) -> list[Block]:
    """A church with its facade along x at y = 0 and its nave [m] towards +y, centred on x = 0, on the slab "foundation".

    The nave opens through an arch into a transept [m] across, this through another into the chancel; beside the chancel
    are the tower (at -x) and the chapel (at +x). Facade, transept and chancel end in gables, 14 m high at the facade and
    the transept. Courses are tower_height / courses high, a quarter of a metre by default; stones are `stone` long [m] in
    running bond; all walls are `thickness` thick and interlock. Doors and windows have arches, the facade a rose, the door
    of the tower a lintel. "facade-3-1" is the first stone of the facade's third course.

    After the church of Nodargi and Bisegna (2024, section 4.6): Latin cross, one nave about 18 m long, transept 14 m,
    chapel and bell tower beside the apse, 14 m and 17 m high, 5161 stones. Their drawing gives the rest, chosen here:
    5182 stones, and a facade that a pull of 0.264 g topples with friction 0.6, theirs 0.238 g.
    """
    check_positive("church", nave=nave, transept=transept, tower_height=tower_height, thickness=thickness, stone=stone)
    check_positive("church", density=density, margin=margin)
    check_count("church", 1, courses=courses)
    if transept < NAVE_WIDTH + 4 * thickness or nave < 16.0:
        raise InputError(f"church: nave {nave:g} m and transept {transept:g} m; give at least 16 m for the windows of the "
                         f"nave and {NAVE_WIDTH + 4 * thickness:g} m for arms of the transept")  # fmt: skip
    if tower_height < EAVES_HEIGHT + GABLE_RISE:
        raise InputError(
            f"church: tower_height is {tower_height:g} m; give at least the {EAVES_HEIGHT + GABLE_RISE:g} m of the gables"
        )
    parts = LEVEL_STEP * courses / tower_height
    if abs(parts - round(parts)) > 1e-9 or parts < 0.5:
        raise InputError(f"church: {courses} courses of {tower_height / courses:g} m do not meet the sills and tops, which are "
                         f"at multiples of {LEVEL_STEP:g} m; give a tower_height of quarters of a metre and courses = "
                         f"{round(tower_height / LEVEL_STEP)}")  # fmt: skip
    walls = [
        *_nave(nave, thickness),
        *_transept(nave, transept, thickness),
        *_chancel(nave + TRANSEPT_DEPTH, thickness),
        *_chapel(nave + TRANSEPT_DEPTH, transept, thickness),
        *_tower(nave + TRANSEPT_DEPTH, transept, tower_height, thickness),
    ]
    levels = np.linspace(0.0, tower_height, courses + 1)
    stones = lay_walls(walls, levels, make_bond("running", stone), group="church", density=density)
    side, end = transept / 2, nave + TRANSEPT_DEPTH + CHANCEL_LENGTH
    return [foundation_slab((-side - TOWER_PROJECTION, side), (0.0, end), margin, density), *stones]


def _central_opening(length: float, sill: float, width: float, height: float) -> Opening:
    """An arched opening in the middle of a wall."""
    return Opening((length - width) / 2, sill, width, height, "arch")


def _nave(nave: float, thickness: float) -> list[Wall]:
    """Facade and side walls. The side walls end inside the wall to the transept, which begins at y = nave - thickness."""
    door, rose = _central_opening(NAVE_WIDTH, 0.0, 2.0, 3.0), Opening(NAVE_WIDTH / 2 - 1.0, 7.75, 2.0, 0.0, "round")
    windows = tuple(Opening(nave * i / 4 - 0.6, 5.0, 1.2, 2.0, "arch") for i in (1, 2, 3))
    return [
        Wall("facade", (-NAVE_WIDTH / 2, 0.0), "x", NAVE_WIDTH, thickness, EAVES_HEIGHT, GABLE_RISE, openings=(door, rose)),
        Wall("nave-left", (-NAVE_WIDTH / 2, 0.0), "y", nave, thickness, EAVES_HEIGHT, openings=windows),
        Wall("nave-right", (NAVE_WIDTH / 2 - thickness, 0.0), "y", nave, thickness, EAVES_HEIGHT, openings=windows),
    ]


def _transept(nave: float, transept: float, thickness: float) -> list[Wall]:
    """The walls to nave and chancel, each with an arch, and the two end walls. A gable stops at the wall to the chancel,
    because
    the tower rises there; the end of the wall below it is a wall of its own."""
    first, last, side = nave - thickness, nave + TRANSEPT_DEPTH - thickness, transept / 2
    arch = _central_opening(transept, 0.0, 4.4, 4.0)
    span = last - first
    window = _central_opening(span, 4.0, 1.6, 2.0)
    walls = [
        Wall("transept-front", (-side, first), "x", transept, thickness, EAVES_HEIGHT, openings=(arch,)),
        Wall("transept-back", (-side, last), "x", transept, thickness, EAVES_HEIGHT, openings=(arch,)),
    ]
    for name, x in (("transept-left", -side), ("transept-right", side - thickness)):
        walls += [
            Wall(name, (x, first), "y", span, thickness, EAVES_HEIGHT, GABLE_RISE, openings=(window,)),
            Wall(f"{name}-end", (x, last), "y", thickness, thickness, EAVES_HEIGHT),
        ]
    return walls


def _chancel(start: float, thickness: float) -> list[Wall]:
    """Side walls and east end, beyond the transept's back wall, which ends at y = start."""
    length = CHANCEL_LENGTH + thickness
    to_tower = Opening(thickness + 1.2, 0.0, 0.9, 2.0)
    to_chapel = Opening(thickness + 0.9, 0.0, 1.4, 2.0, "arch")
    window = _central_opening(NAVE_WIDTH, 3.0, 1.6, 2.0)
    return [
        Wall(
            "chancel-left",
            (-NAVE_WIDTH / 2, start - thickness),
            "y",
            length,
            thickness,
            CHANCEL_EAVES_HEIGHT,
            openings=(to_tower,),
        ),
        Wall(
            "chancel-right",
            (NAVE_WIDTH / 2 - thickness, start - thickness),
            "y",
            length,
            thickness,
            CHANCEL_EAVES_HEIGHT,
            openings=(to_chapel,),
        ),
        Wall(
            "chancel-end",
            (-NAVE_WIDTH / 2, start + CHANCEL_LENGTH - thickness),
            "x",
            NAVE_WIDTH,
            thickness,
            CHANCEL_EAVES_HEIGHT,
            CHANCEL_GABLE_RISE,
            openings=(window,),
        ),
    ]


def _chapel(start: float, transept: float, thickness: float) -> list[Wall]:
    """Between the chancel and the line of the transept's right end."""
    inner, outer = NAVE_WIDTH / 2 - thickness, transept / 2
    window = Opening(thickness + 1.0, 2.0, 1.0, 1.0, "arch")
    return [
        Wall("chapel-right", (outer - thickness, start - thickness), "y", TOWER_DEPTH + thickness, thickness, CHAPEL_HEIGHT,
             openings=(window,)),
        Wall("chapel-end", (inner, start + TOWER_DEPTH - thickness), "x", outer - inner, thickness, CHAPEL_HEIGHT),
    ]  # fmt: skip


def _tower(start: float, transept: float, height: float, thickness: float) -> list[Wall]:
    """Four walls, two of them on walls of transept and chancel; all with a belfry."""
    right = -NAVE_WIDTH / 2 + thickness
    left = -transept / 2 - TOWER_PROJECTION
    width, depth = right - left, TOWER_DEPTH + thickness
    across, along = (_central_opening(length, height - 4.0, 1.4, 1.75) for length in (width, depth))
    return [
        Wall("tower-front", (left, start - thickness), "x", width, thickness, height, openings=(across,)),
        Wall("tower-back", (left, start + TOWER_DEPTH - thickness), "x", width, thickness, height, openings=(across,)),
        Wall("tower-left", (left, start - thickness), "y", depth, thickness, height, openings=(along,)),
        Wall("tower-right", (right - thickness, start - thickness), "y", depth, thickness, height, openings=(along,)),
    ]
