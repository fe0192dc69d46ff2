"""Compiled rasteriser: a z-buffer, sunlight with shadows, sky light with ambient occlusion, and outlines of blocks.

It does not use OpenGL, so that pixels are the same on every machine. Colours are linear, because light adds up; rows are
counted from the top. Visibility is computed for every subpixel; light, which varies slowly, is computed once per pixel and
averaged over neighbouring pixels of one face.
"""

import numpy as np

from drystone.base.kernel import inlined, inner
from drystone.show.pictures.camera import Camera

Array = np.ndarray

NO_FACE = -1  # face number of a pixel that no block covers
EMPTY_NEARNESS = -1e30  # nearness of such a pixel
SUBPIXELS = 2  # subpixels along each side of a pixel
SKY_SAMPLES = 8  # per pixel; shared with its eight neighbours
SRGB_TABLE = np.append(np.linspace(0.0, 1.0, 1025) ** (2 / 2.2), 1.0)
PIXEL_EDGE_TOLERANCE = -1e-9  # of a triangle: a pixel centre on an edge belongs to both triangles, in spite of rounding


@inner
def rasterise(triangle, face, out_near, out_face):
    """Draw triangles (T, 3, 3) of columns, rows and nearness; the nearest one wins. Faces seen from behind are left out."""
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
        across_u, across_v = (by - cy) / area, (cy - ay) / area  # by how much u and v grow from column to column
        for row in range(top, bottom + 1):
            y = row + 0.5
            u_left = ((bx - left - 0.5) * (cy - y) - (by - y) * (cx - left - 0.5)) / area
            v_left = ((cx - left - 0.5) * (ay - y) - (cy - y) * (ax - left - 0.5)) / area
            for column in range(left, right + 1):
                u, v = u_left + (column - left) * across_u, v_left + (column - left) * across_v
                if u < PIXEL_EDGE_TOLERANCE or v < PIXEL_EDGE_TOLERANCE or 1.0 - u - v < PIXEL_EDGE_TOLERANCE:
                    continue
                near = u * az + v * bz + (1.0 - u - v) * cz
                if near > out_near[row, column]:
                    out_near[row, column] = near
                    out_face[row, column] = face[t]


@inlined
def world_point(camera, column, row, near):
    """The world point of a pixel at a nearness. Points are tuples, because small arrays cost more than the computation."""
    z = -near / (1.0 + camera.inverse_distance * near)
    grow = (1.0 + camera.inverse_distance * z) / camera.scale
    x, y = (column + 0.5 - camera.middle[0]) * grow, (camera.middle[1] - row - 0.5) * grow
    right, up, forward, centre = camera.right, camera.up, camera.forward, camera.centre
    return (
        centre[0] + x * right[0] + y * up[0] + z * forward[0],
        centre[1] + x * right[1] + y * up[1] + z * forward[1],
        centre[2] + x * right[2] + y * up[2] + z * forward[2],
    )


@inlined
def pixel_of(camera, x, y, z):
    """Column, row and nearness of a world point; integers are the edges of pixels."""
    dx, dy, dz = x - camera.centre[0], y - camera.centre[1], z - camera.centre[2]
    depth = dx * camera.forward[0] + dy * camera.forward[1] + dz * camera.forward[2]
    shrink = 1.0 / (1.0 + camera.inverse_distance * depth)
    right = dx * camera.right[0] + dy * camera.right[1] + dz * camera.right[2]
    up = dx * camera.up[0] + dy * camera.up[1] + dz * camera.up[2]
    column = camera.middle[0] + camera.scale * right * shrink
    row = camera.middle[1] - camera.scale * up * shrink
    return column, row, -depth * shrink


@inlined
def is_unshaded(sun, sun_near, row, column, near):
    """1 if nothing in a pixel of the shadow map is nearer to the sun than `near` [m], else 0."""
    if 0 <= row < sun_near.shape[0] and 0 <= column < sun_near.shape[1] and sun_near[row, column] >= near + 1.0 / sun.scale:
        return 0
    return 1


@inlined
def sunlit_share(sun, sun_near, point, normal):
    """The share of 25 neighbouring rays from a point that reach the sun, which gives soft shadows."""
    off = 3.0 / sun.scale  # the point is moved off the surface, which would otherwise shade itself
    x, y, near = pixel_of(sun, point[0] + off * normal[0], point[1] + off * normal[1], point[2] + off * normal[2])
    column, row = int(np.floor(x)), int(np.floor(y))
    free = is_unshaded(sun, sun_near, row, column, near)
    for r in (row - 2, row + 2):
        for c in (column - 2, column + 2):
            free += is_unshaded(sun, sun_near, r, c, near)
    if free in (0, 5):  # far from the edge of a shadow all 25 rays agree
        return free / 5.0
    free = 0
    for r in range(row - 2, row + 3):
        for c in range(column - 2, column + 3):
            free += is_unshaded(sun, sun_near, r, c, near)
    return free / 25.0


@inlined
def tangents(x, y, z):
    """Two unit vectors perpendicular to a unit vector and to each other (Duff et al. 2017)."""
    sign = 1.0 if z >= 0.0 else -1.0
    a = -1.0 / (sign + z)
    b = x * y * a
    return (1.0 + sign * x * x * a, sign * b, -sign * x), (b, sign + y * y * a, -y)


@inlined
def open_sky_share(camera, near_buffer, samples, reach, point, normal, turn):
    """The share of the sample points around a surface point that nothing within `reach` [m] hides."""
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
        if 0.0 <= row < near_buffer.shape[0] and 0.0 <= column < near_buffer.shape[1]:
            before = near_buffer[int(row), int(column)] - near
            if 0.02 * reach < before < 2.0 * reach:
                hidden += 1
    return 1.0 - hidden / len(samples)


@inlined
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inlined
def outline_strength(near, face, block_of, normal, step, row, column):
    """The strength of the outline in a pixel: 1 where another block begins, 0.4 at an edge of the block, 0 elsewhere.
    Where the depth jumps by more than `step` [m], the line is drawn on the nearer block only."""
    here = face[row, column]
    strength = 0.0
    for i, j in ((0, 1), (1, 0), (0, -1), (-1, 0)):
        r, c = row + i, column + j
        if not (0 <= r < face.shape[0] and 0 <= c < face.shape[1]):
            continue
        other = face[r, c]
        if other == here or near[r, c] > near[row, column] + step:
            continue
        if other == NO_FACE or block_of[other] != block_of[here]:
            return 1.0
        if dot(normal[other], normal[here]) < 0.99:
            strength = 0.4
    return strength


@inlined
def is_inside_face(face, row, column):
    """Whether a pixel and all neighbouring subpixels show one face, so that there is no outline."""
    r, c = SUBPIXELS * row, SUBPIXELS * column
    if r == 0 or c == 0 or r + SUBPIXELS == face.shape[0] or c + SUBPIXELS == face.shape[1]:
        return False
    here = face[r, c]
    for k in range(SUBPIXELS):
        if face[r - 1, c + k] != here or face[r + SUBPIXELS, c + k] != here or face[r + k, c - 1] != here:
            return False
        for j in range(SUBPIXELS + 1):
            if face[r + k, c + j] != here:
                return False
    return True


@inlined
def floor_point(camera, column, row, floor):
    """Where the ray of a pixel meets the level `floor` [m], and whether it does so in front of the horizon."""
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


@inlined
def block_light(camera, near, face, normal, sun, sun_near, samples, reach, row, column):
    """Light of the sun and the sky, 0..1, on the block that is visible in a subpixel."""
    n = normal[face[row, column]]
    point = world_point(camera, column, row, near[row, column])
    sunshine = -dot(n, sun.forward)
    sunshine = sunshine * sunlit_share(sun, sun_near, point, n) if sunshine > 0.0 else 0.0
    return sunshine, (0.70 + 0.30 * n[2]) * open_sky_share(camera, near, samples, reach, point, n, scatter_angle(row, column))


@inlined
def floor_light(camera, near, sun, sun_near, samples, reach, floor, radius, beside, row, column):
    """The share of the background's light, 0..1, that is left in a subpixel: the floor is a plane that only receives shadows
    and fades within `radius` [m] of the structure. Blocks hide its sky only if the subpixel is `beside` them."""
    point, met = floor_point(camera, column, row, floor)
    away = ((point[0] - camera.centre[0]) ** 2 + (point[1] - camera.centre[1]) ** 2) / radius**2
    if not met or not away < 6.0:
        return 1.0
    upward = (0.0, 0.0, 1.0)
    shade = 0.55 + 0.45 * sunlit_share(sun, sun_near, point, upward)
    if beside:
        shade *= 0.5 + 0.5 * open_sky_share(camera, near, samples, reach, point, upward, scatter_angle(row, column))
    return 1.0 - np.exp(-away) * (1.0 - shade)


@inner
def covered_range(face, margin):
    """The first and last row and column of subpixels that show blocks, with a margin around them."""
    top, bottom, left, right = face.shape[0], -1, face.shape[1], -1
    for row in range(0, face.shape[0], SUBPIXELS):
        for column in range(0, face.shape[1], SUBPIXELS):
            if face[row, column] != NO_FACE:
                top, bottom, left, right = min(top, row), max(bottom, row), min(left, column), max(right, column)
    return top - margin, bottom + margin, left - margin, right + margin


@inner
def light_pixels(camera, near, face, normal, sun, sun_near, samples, reach, floor, radius, out_sun, out_sky):
    """Light (H, W) in the first subpixel of every pixel; the light of the floor is all in `out_sky`. `floor` is nan if there is
    none."""
    top, bottom, left, right = covered_range(face, reach * camera.scale)
    for row in range(out_sun.shape[0]):
        for column in range(out_sun.shape[1]):
            r, c = SUBPIXELS * row, SUBPIXELS * column
            beside = top <= r <= bottom and left <= c <= right
            if face[r, c] != NO_FACE:
                light = block_light(camera, near, face, normal, sun, sun_near, samples, reach, r, c)
                out_sun[row, column], out_sky[row, column] = light
            else:
                out_sky[row, column] = floor_light(camera, near, sun, sun_near, samples, reach, floor, radius, beside, r, c)


@inlined
def shared_light(face, sun_light, sky_light, here, row, column):
    """The mean light of those of a pixel and its eight neighbours that show the face `here`, and their number."""
    sunshine, sky, count = 0.0, 0.0, 0
    for r in range(max(row - 1, 0), min(row + 2, sun_light.shape[0])):
        for c in range(max(column - 1, 0), min(column + 2, sun_light.shape[1])):
            if face[SUBPIXELS * r, SUBPIXELS * c] == here:
                sunshine += sun_light[r, c]
                sky += sky_light[r, c]
                count += 1
    return sunshine / max(count, 1), sky / max(count, 1), count


@inner
def shade_pixels(
    camera, near, face, block_of, normal, tone, sun, sun_near, samples, reach, line, background, sun_light, sky_light, out_image
):
    """Colour the pixels (H, W, 3): blocks of `tone` (B, 3) lit by sun and sky, with outlines of strength `line`, in front of a
    `background` (H, 3) that is darkened by shadows on the floor."""
    sun_colour, sky_colour = (0.80, 0.765, 0.69), (0.50, 0.52, 0.58)
    for row in range(out_image.shape[0]):
        for column in range(out_image.shape[1]):
            red, green, blue = 0.0, 0.0, 0.0
            last = NO_FACE - 1
            sunshine, sky, count = 0.0, 0.0, 0
            fine = 1 if is_inside_face(face, row, column) else SUBPIXELS
            for i in range(fine):
                for j in range(fine):
                    r, c = SUBPIXELS * row + i, SUBPIXELS * column + j
                    here = face[r, c]
                    if here != last:
                        sunshine, sky, count = shared_light(face, sun_light, sky_light, here, row, column)
                    last = here
                    if here == NO_FACE:
                        left = sky if count else 1.0
                        red += left * background[row, 0]
                        green += left * background[row, 1]
                        blue += left * background[row, 2]
                        continue
                    if count == 0:
                        sunshine, sky = block_light(camera, near, face, normal, sun, sun_near, samples, reach, r, c)
                    ink = 1.0
                    if fine > 1:
                        ink -= line * outline_strength(near, face, block_of, normal, 4.0 / camera.scale, r, c)
                    own = tone[block_of[here]]
                    red += ink * own[0] * (sky_colour[0] * sky + sun_colour[0] * sunshine)
                    green += ink * own[1] * (sky_colour[1] * sky + sun_colour[1] * sunshine)
                    blue += ink * own[2] * (sky_colour[2] * sky + sun_colour[2] * sunshine)
            out_image[row, column, 0] = to_srgb(red / fine**2)
            out_image[row, column, 1] = to_srgb(green / fine**2)
            out_image[row, column, 2] = to_srgb(blue / fine**2)


@inlined
def to_srgb(linear):
    """The sRGB value, 0..1, of an amount of light: its power 1/2.2, interpolated in a table over its root, where it is almost
    linear."""
    place = np.sqrt(min(max(linear, 0.0), 1.0)) * (len(SRGB_TABLE) - 2)
    k = int(place)
    return SRGB_TABLE[k] + (place - k) * (SRGB_TABLE[k + 1] - SRGB_TABLE[k])


@inner
def draw_outlines(near, face, block_of, normal, step, out_ink):
    """The share (H, W) of every pixel that outlines cover."""
    for row in range(out_ink.shape[0]):
        for column in range(out_ink.shape[1]):
            cover = 0.0
            for i in range(SUBPIXELS):
                for j in range(SUBPIXELS):
                    r, c = SUBPIXELS * row + i, SUBPIXELS * column + j
                    if face[r, c] != NO_FACE:
                        cover += outline_strength(near, face, block_of, normal, step, r, c)
            out_ink[row, column] = cover / SUBPIXELS**2


@inlined
def scatter_angle(row, column):
    """[rad] an angle that varies from pixel to pixel, evenly distributed and without a visible pattern."""
    return 6.283185307179586 * ((column * 0.7548776662466927 + row * 0.5698402909980532) % 1.0)


def empty_buffers(size: tuple[int, int]) -> tuple[Array, Array]:
    """The nearness and face of every pixel of an empty picture."""
    shape = (size[1], size[0])
    return np.full(shape, EMPTY_NEARNESS, np.float32), np.full(shape, NO_FACE, np.int32)


def hemisphere(count: int) -> Array:
    """(count, 3) points of the unit hemisphere around z, denser near its centre, because near surfaces hide most of the sky."""
    k = np.arange(count) + 0.5
    height = 0.15 + 0.85 * k / count
    turn = np.pi * (1.0 + np.sqrt(5.0)) * k
    ring = np.sqrt(np.maximum(0.0, 1.0 - height**2))
    length = 0.1 + 0.9 * ((7 * k) % count / count) ** 2
    return length[:, None] * np.stack([ring * np.cos(turn), ring * np.sin(turn), height], axis=1)


def rasterise_nearest(camera: Camera, triangle: Array, face: Array) -> tuple[Array, Array]:
    """The nearness and face of every pixel, from projected triangles."""
    near, number = empty_buffers(camera.size)
    rasterise(triangle, face, near, number)
    return near, number
