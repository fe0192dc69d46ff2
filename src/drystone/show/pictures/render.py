"""The renderer: `DrawnBodies` and a `Scene` come in, an image (H, W, 3) of values 0..1 goes out.

All images of a strip or a movie share a scene (camera, sun and floor).
"""

from typing import NamedTuple

import numpy as np

from drystone.base import quaternion
from drystone.show.pictures import raster
from drystone.show.pictures.camera import Camera, View, downscale, fit_camera, project_points
from drystone.show.pictures.raster import SUBPIXELS
from drystone.structure.body_surfaces import block_of_faces, world_vertices
from drystone.structure.boxes import all_vertices, box_diagonal
from drystone.structure.face_triangles import triangulate_faces
from drystone.structure.model import Bodies, Model

Array = np.ndarray

SHADOW_MAP_PIXELS = 1536  # along each side
IMAGE_MARGIN = 0.09  # share of the image on every side
MAX_DISTANCE = 0.5  # in sizes of the structure: blocks that are farther away may be out of view
SKY, HORIZON = np.array([0.83, 0.87, 0.91]), np.array([0.965, 0.962, 0.955])  # sRGB


class DrawnBodies(NamedTuple):
    """The B bodies that are drawn, at one moment."""

    bodies: Bodies
    position: Array  # (B, 3) [m] centroids
    rotation: Array  # (B, 4) quaternions
    shown: Array  # (B,) bool; the others are left out


class Scene(NamedTuple):
    """The camera, sun and floor of all images of a strip or a movie."""

    camera: Camera  # in subpixels
    sun: Camera  # the view of the sun, for the shadow map
    floor: float  # [m] level of a plane that receives the shadow; nan if there is none
    extent: float  # [m] the diagonal of the bounding box of the visible points


def bounding_diagonal(model: Model) -> float:
    """[m] the diagonal of the bounding box of a structure."""
    return box_diagonal(all_vertices(model.blocks))


def drawn_vertices(stones: DrawnBodies) -> Array:
    """(NV, 3) [m] the vertices of all blocks in world coordinates."""
    return world_vertices(stones.bodies, stones.position, stones.rotation)


def points_near_structure(model: Model, points: Array) -> Array:
    """The points (N, 3) that are not far from the structure as built; all of them if none is near."""
    built = all_vertices(model.blocks)
    apart = np.maximum(built.min(axis=0) - points, points - built.max(axis=0)).max(axis=1)
    near = apart < MAX_DISTANCE * box_diagonal(built)
    return points[near] if near.any() else points


def make_scene(model: Model, points: Array, size: tuple[int, int], view: View) -> Scene:
    """A scene in which all points (N, 3) are in view."""
    fine = (size[0] * SUBPIXELS, size[1] * SUBPIXELS)
    camera = fit_camera(points, fine, azimuth=view.azimuth, elevation=view.elevation, field=view.field, margin=IMAGE_MARGIN)
    # the sun stands high behind the left shoulder of the viewer
    sun = fit_camera(
        points, (SHADOW_MAP_PIXELS, SHADOW_MAP_PIXELS), azimuth=view.azimuth - 48.0, elevation=46.0, field=0.0, margin=0.01
    )
    return Scene(camera, sun, _floor(model, points), box_diagonal(points))


def render(stones: DrawnBodies, colours: Array, scene: Scene) -> tuple[Array, Array]:
    """The image (H, W, 3) of bodies with colours (B, 3) sRGB, and the nearness (H, W) [m] of the visible surface."""
    camera, sun = scene.camera, scene.sun
    triangle, face, block_of, normal, world = _surfaces(stones)
    near, number = raster.rasterise_nearest(camera, project_points(camera, world)[triangle], face)
    sun_near, _ = raster.rasterise_nearest(sun, project_points(sun, world)[triangle], face)
    # at most a tenth of the structure, so that both joints and the foot of a wall become darker
    reach = min(1.2 * float(np.median(stones.bodies.radius)), 0.10 * scene.extent)
    samples = raster.hemisphere(raster.SKY_SAMPLES)
    width, height = camera.size[0] // SUBPIXELS, camera.size[1] // SUBPIXELS
    light = np.zeros((height, width)), np.zeros((height, width))
    raster.light_pixels(camera, near, number, normal, sun, sun_near, samples, reach, scene.floor, 0.9 * scene.extent, *light)
    image, line, tones = np.empty((height, width, 3)), _line(stones.bodies, camera), _linear(colours)
    raster.shade_pixels(
        camera, near, number, block_of, normal, tones, sun, sun_near, samples, reach, line, _background(height), *light, image
    )
    return image, near[::SUBPIXELS, ::SUBPIXELS]


def outline_cover(stones: DrawnBodies, scene: Scene) -> Array:
    """(H, W) the share of every pixel that outlines of the bodies cover, times the strength of outlines in a picture."""
    camera = scene.camera
    triangle, face, block_of, normal, world = _surfaces(stones)
    near, number = raster.rasterise_nearest(camera, project_points(camera, world)[triangle], face)
    ink = np.empty((camera.size[1] // SUBPIXELS, camera.size[0] // SUBPIXELS))
    raster.draw_outlines(near, number, block_of, normal, 4.0 / camera.scale, ink)
    return _line(stones.bodies, camera) * ink


def image_camera(scene: Scene) -> Camera:
    """The camera of the final image."""
    return downscale(scene.camera, SUBPIXELS)


def _surfaces(stones: DrawnBodies) -> tuple[Array, Array, Array, Array, Array]:
    """Triangles (T, 3) of the bodies that are shown and their faces, the block and the normal of every face, and all vertices
    in world coordinates."""
    bodies = stones.bodies
    triangle, face = triangulate_faces(bodies.face_start, bodies.face_vertex)
    block_of = block_of_faces(bodies)
    seen = stones.shown[block_of[face]]
    normal = quaternion.rotate(stones.rotation[block_of], bodies.face_normal)
    return triangle[seen], face[seen], block_of, normal, drawn_vertices(stones)


def _line(bodies: Bodies, camera: Camera) -> float:
    """The strength of outlines: faint if blocks are only a few pixels large."""
    return 0.80 * float(np.clip(np.median(bodies.radius) * camera.scale / (12.0 * SUBPIXELS), 0.15, 1.0))


def _floor(model: Model, seen: Array) -> float:
    """[m] the level of the plane that receives the shadow; nan if blocks have fallen below it, so that there is no floor."""
    level = float(all_vertices(model.blocks)[:, 2].min())
    height = float(np.ptp(seen[:, 2]))
    return level if seen[:, 2].min() > level - 0.02 * height else float("nan")


def _background(height: int) -> Array:
    """(H, 3) linear colours of a pale sky that is brighter towards the horizon."""
    share = np.linspace(0.0, 1.0, height)[:, None] ** 0.8
    return _linear((1.0 - share) * SKY + share * HORIZON)


def _linear(colour: Array) -> Array:
    return np.clip(colour, 0.0, 1.0) ** 2.2
