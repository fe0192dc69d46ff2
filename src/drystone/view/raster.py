"""Triangles to pixels, compiled: a z-buffer, sunlight with shadows, open sky with occlusion, and outlines of blocks.

No GL: pixels are the same on every machine. Colours are linear (light adds up); rows count from the top.
"""

import numpy as np

from drystone.kernel import kernel
from drystone.view.camera import Camera

Array = np.ndarray

NOTHING = -1  # face number of a pixel that no block covers
FAR = -1e30  # nearness of such a pixel


@kernel
def rasterise(triangle, face, out_near, out_face):
    """Draw triangles (T, 3, 3) of columns, rows, nearness; the nearest stays. Faces seen from behind are left out."""
    height, width = out_near.shape
    for t in range(len(triangle)):
        ax, ay, az = triangle[t, 0]
        bx, by, bz = triangle[t, 1]
        cx, cy, cz = triangle[t, 2]
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        if not area < 0.0:  # rows grow downwards: counter-clockwise faces have negative area
            continue
        top, bottom = max(0, int(np.floor(min(ay, by, cy)))), min(height - 1, int(np.ceil(max(ay, by, cy))))
        left, right = max(0, int(np.floor(min(ax, bx, cx)))), min(width - 1, int(np.ceil(max(ax, bx, cx))))
        for row in range(top, bottom + 1):
            for column in range(left, right + 1):
                x, y = column + 0.5, row + 0.5
                u = ((bx - x) * (cy - y) - (by - y) * (cx - x)) / area
                v = ((cx - x) * (ay - y) - (cy - y) * (ax - x)) / area
                if u < 0.0 or v < 0.0 or u + v > 1.0:
                    continue
                near = u * az + v * bz + (1.0 - u - v) * cz
                if near > out_near[row, column]:
                    out_near[row, column] = near
                    out_face[row, column] = face[t]


@kernel
def world_point(camera, column, row, near):
    """The world point seen in a pixel at a nearness. Points are tuples: arrays cost more than their light."""
    z = -near / (1.0 + camera.inverse_distance * near)
    grow = (1.0 + camera.inverse_distance * z) / camera.scale
    x, y = (column + 0.5 - camera.middle[0]) * grow, (camera.middle[1] - row - 0.5) * grow
    right, up, forward, centre = camera.right, camera.up, camera.forward, camera.centre
    return (
        centre[0] + x * right[0] + y * up[0] + z * forward[0],
        centre[1] + x * right[1] + y * up[1] + z * forward[1],
        centre[2] + x * right[2] + y * up[2] + z * forward[2],
    )


@kernel
def pixel_of(camera, x, y, z):
    """Column, row and nearness of a world point."""
    dx, dy, dz = x - camera.centre[0], y - camera.centre[1], z - camera.centre[2]
    depth = dx * camera.forward[0] + dy * camera.forward[1] + dz * camera.forward[2]
    shrink = 1.0 / (1.0 + camera.inverse_distance * depth)
    right = dx * camera.right[0] + dy * camera.right[1] + dz * camera.right[2]
    up = dx * camera.up[0] + dy * camera.up[1] + dz * camera.up[2]
    column = camera.middle[0] + camera.scale * right * shrink
    row = camera.middle[1] - camera.scale * up * shrink
    return int(np.floor(column)), int(np.floor(row)), -depth * shrink


@kernel
def sunlit(sun, sun_near, point, normal):
    """Part of 25 neighbouring rays from a point that reach the sun: a shadow with a soft rim."""
    texel = 1.0 / sun.scale
    off = 3.0 * texel  # off the surface, which would else shade itself
    column, row, near = pixel_of(sun, point[0] + off * normal[0], point[1] + off * normal[1], point[2] + off * normal[2])
    free = 0
    for r in range(row - 2, row + 3):
        for c in range(column - 2, column + 3):
            inside = 0 <= r < sun_near.shape[0] and 0 <= c < sun_near.shape[1]
            if not inside or sun_near[r, c] < near + texel:
                free += 1
    return free / 25.0


@kernel
def tangents(x, y, z):
    """Two unit vectors across a unit vector and each other (Duff et al. 2017)."""
    sign = 1.0 if z >= 0.0 else -1.0
    a = -1.0 / (sign + z)
    b = x * y * a
    return (1.0 + sign * x * x * a, sign * b, -sign * x), (b, sign + y * y * a, -y)


@kernel
def open_sky(camera, near_buffer, samples, reach, point, normal, turn):
    """Part of the sample points about a surface point that are not behind something nearer than `reach`."""
    first, second = tangents(normal[0], normal[1], normal[2])
    cosine, sine = reach * np.cos(turn), reach * np.sin(turn)
    hidden = 0
    for k in range(len(samples)):
        a = samples[k, 0] * cosine - samples[k, 1] * sine
        b = samples[k, 0] * sine + samples[k, 1] * cosine
        c = reach * samples[k, 2]
        column, row, near = pixel_of(
            camera,
            point[0] + a * first[0] + b * second[0] + c * normal[0],
            point[1] + a * first[1] + b * second[1] + c * normal[1],
            point[2] + a * first[2] + b * second[2] + c * normal[2],
        )
        if 0 <= row < near_buffer.shape[0] and 0 <= column < near_buffer.shape[1]:
            before = near_buffer[row, column] - near
            if 0.02 * reach < before < 2.0 * reach:
                hidden += 1
    return 1.0 - hidden / len(samples)


@kernel
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def outline(near, face, block_of, normal, step, row, column):
    """How strongly a pixel belongs to a line: 1 where another block begins, 0.4 at an edge of the block, 0 elsewhere.
    Where depth jumps by more than `step` [m] the line is drawn on the nearer block alone."""
    here = face[row, column]
    strength = 0.0
    for i, j in ((0, 1), (1, 0), (0, -1), (-1, 0)):
        r, c = row + i, column + j
        if not (0 <= r < face.shape[0] and 0 <= c < face.shape[1]):
            continue
        other = face[r, c]
        if other == here or near[r, c] > near[row, column] + step:
            continue
        if other == NOTHING or block_of[other] != block_of[here]:
            return 1.0
        if dot(normal[other], normal[here]) < 0.99:
            strength = 0.4
    return strength


@kernel
def floor_point(camera, column, row, floor):
    """Where the ray of a pixel meets the level `floor` [m], and whether it does so before the eye's horizon."""
    start = world_point(camera, column, row, 0.0)
    k, centre, forward = camera.inverse_distance, camera.centre, camera.forward
    x, y, z = (
        forward[0] + k * (start[0] - centre[0]),
        forward[1] + k * (start[1] - centre[1]),
        forward[2] + k * (start[2] - centre[2]),
    )
    if not z < -1e-6:
        return (0.0, 0.0, 0.0), False
    along = (floor - start[2]) / z
    return (start[0] + along * x, start[1] + along * y, floor), k * along > -0.9


@kernel
def shade_floor(camera, near, sun, sun_near, samples, reach, floor, radius, out_image):
    """Darken the background where the floor lies in shadow. It is a plane that only catches shadows and fades with
    `radius` [m] about the structure."""
    upward = (0.0, 0.0, 1.0)
    for row in range(near.shape[0]):
        for column in range(near.shape[1]):
            if near[row, column] != FAR:
                continue
            point, met = floor_point(camera, column, row, floor)
            away = ((point[0] - camera.centre[0]) ** 2 + (point[1] - camera.centre[1]) ** 2) / radius**2
            if not met or away > 6.0:
                continue
            shade = 0.55 + 0.45 * sunlit(sun, sun_near, point, upward)
            shade *= 0.5 + 0.5 * open_sky(camera, near, samples, reach, point, upward, spread(row, column))
            for i in range(3):
                out_image[row, column, i] *= 1.0 - np.exp(-away) * (1.0 - shade)


@kernel
def shade_blocks(camera, near, face, block_of, normal, colour, sun, sun_near, samples, reach, line, out_image):
    """Colour the pixels (H, W, 3) of blocks by sun and sky; `line` is the strength of outlines."""
    sun_colour, sky_colour = (0.80, 0.765, 0.69), (0.50, 0.52, 0.58)
    for row in range(near.shape[0]):
        for column in range(near.shape[1]):
            f = face[row, column]
            if f == NOTHING:
                continue
            n = normal[f]
            point = world_point(camera, column, row, near[row, column])
            sunshine = -dot(n, sun.forward)
            sunshine = sunshine * sunlit(sun, sun_near, point, n) if sunshine > 0.0 else 0.0
            sky = (0.70 + 0.30 * n[2]) * open_sky(camera, near, samples, reach, point, n, spread(row, column))
            ink = 1.0 - line * outline(near, face, block_of, normal, 4.0 / camera.scale, row, column)
            for i in range(3):
                light = sky_colour[i] * sky + sun_colour[i] * sunshine
                out_image[row, column, i] = colour[block_of[f], i] * light * ink


@kernel
def spread(row, column):
    """[rad] An angle by pixel, evenly spread and without a pattern that the eye finds."""
    return 6.283185307179586 * ((column * 0.7548776662466927 + row * 0.5698402909980532) % 1.0)


def empty_buffers(size: tuple[int, int]) -> tuple[Array, Array]:
    """Nearness and face of a picture in which nothing has been drawn."""
    shape = (size[1], size[0])
    return np.full(shape, FAR), np.full(shape, NOTHING, np.int64)


def hemisphere(count: int) -> Array:
    """(count, 3) points of the unit half ball about z, denser near its middle: what is close hides most sky."""
    k = np.arange(count) + 0.5
    height = 0.15 + 0.85 * k / count
    turn = np.pi * (1.0 + np.sqrt(5.0)) * k
    ring = np.sqrt(np.maximum(0.0, 1.0 - height**2))
    length = 0.1 + 0.9 * ((7 * k) % count / count) ** 2
    return length[:, None] * np.stack([ring * np.cos(turn), ring * np.sin(turn), height], axis=1)


def nearest(camera: Camera, triangle: Array, face: Array) -> tuple[Array, Array]:
    """Nearness and face of every pixel, of triangles already projected."""
    near, number = empty_buffers(camera.size)
    rasterise(triangle, face, near, number)
    return near, number
