// The stage: blocks of a structure come in as arrays, then poses, colours and forces of a frame; a picture in a canvas goes out.
// All blocks are one mesh and one draw call; nothing is drawn unless something has changed.

import * as three from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { strengthColour } from "./colours";
import * as shaders from "./shaders";
import type { Arrays } from "./source";

const FIELD_OF_VIEW = 24; // [deg]
const FIT_MARGIN = 1.06; // factor on the distance at which the structure fills the view
const SHADOW_MAP_PIXELS = 2048; // along each side
const SUN_DIRECTION = new three.Vector3(-0.24, -0.65, 0.72).normalize();
const MAX_LINE_WIDTH = 9; // [pixels] line width of the largest force
const MIN_FORCE_SHARE = 0.005; // of the largest force: smaller forces are not drawn
const FAINT_DEPTH = 3; // in radii of a block: forces farther behind the visible blocks are faint
const THRUST_COLOUR: [number, number, number] = [0.7, 0.18, 0.36];
const MARK_COLOUR: [number, number, number] = [0.82, 0.1, 0.08];
const MAX_SHADED_TRIANGLES = 10000; // with more, a software renderer draws no shadows
const TEXELS_PER_ROW = 1024; // of a texture

export type Axis = "x" | "y" | "z";

/** The position from which the structure is seen; linked stages share one. */
export interface View {
  position: three.Vector3;
  target: three.Vector3;
}

/** A cut through the structure: what lies beyond `at` [m] along the axis is not drawn (or what lies before it). */
export interface Section {
  axis: Axis;
  at: number;
  flipped: boolean;
}

export class Stage {
  readonly canvas: HTMLCanvasElement;
  onView = () => {}; // called when the user has turned this stage
  private readonly soft = isSoftware();
  private readonly renderer: three.WebGLRenderer;
  private readonly scene = new three.Scene();
  private readonly sunScene = new three.Scene();
  private readonly pickScene = new three.Scene();
  private readonly camera = new three.PerspectiveCamera(FIELD_OF_VIEW);
  private readonly sunCamera = new three.OrthographicCamera();
  private readonly controls: OrbitControls;
  private readonly sunTarget = sunTarget();
  private readonly pickTarget = new three.WebGLRenderTarget(1, 1);
  private readonly uniforms = uniforms();
  private readonly strong = { ...this.uniforms, strength: { value: 1 }, nearer: { value: 0 } };
  private readonly faint = { ...this.uniforms, strength: { value: 0.22 }, nearer: { value: 0 } }; // of what is behind
  private readonly ghostUniforms = { ...this.uniforms, exaggeration: { value: 0 }, ink: { value: new three.Vector4(0.25, 0.35, 0.5, 0.45) } };
  private readonly ghost = new three.LineSegments();
  private readonly floor = new three.Mesh();
  private centre: Float32Array = new Float32Array(); // (B, 3) [m]
  private displacement: Float32Array = new Float32Array(); // (B, 3) [m]
  private turn: Float32Array = new Float32Array(); // (B, 3) [rad]
  private joints: Arrays | null = null;
  private strongest = 0; // [N] the force of the longest segment
  private flow: three.Mesh[] = [];
  private thrust: three.Mesh[] = [];
  private marks: three.Mesh[] = [];
  private box = new three.Box3();
  private radius = 1; // [m] of a typical block
  private parallel = false;
  private shadows = true;
  private cuts = false;
  private sunStale = true;
  private asked = 0; // the animation frame in which it will be drawn

  constructor(private readonly container: HTMLElement) {
    this.renderer = new three.WebGLRenderer({ antialias: !this.soft, alpha: true, powerPreference: "high-performance" });
    this.renderer.setPixelRatio(this.soft ? 1 : Math.min(window.devicePixelRatio, 2));
    this.canvas = this.renderer.domElement;
    this.canvas.className = "stage";
    container.append(this.canvas);
    this.uniforms.sunDepth.value = this.sunTarget.depthTexture;
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.zoomToCursor = true;
    this.controls.addEventListener("change", () => {
      this.draw();
      this.onView();
    });
    new ResizeObserver(() => this.resize()).observe(container);
    this.resize();
  }

  /** Sets new blocks at rest: `centre`, `vertex`, `owner`, `triangle` and `edge` of an answer. */
  setGeometry(geometry: Arrays): void {
    this.clear();
    this.centre = geometry.centre.data as Float32Array;
    this.displacement = new Float32Array(this.centre.length);
    this.turn = new Float32Array(this.centre.length);
    const count = this.centre.length / 3;
    this.uniforms.rest.value = texture(count, three.FloatType);
    this.uniforms.pose.value = texture(2 * count, three.FloatType);
    this.uniforms.colour.value = texture(count, three.UnsignedByteType);
    spread(this.uniforms.rest.value, this.centre, 1, 0);
    this.uniforms.colour.value.image.data!.fill(200);
    this.measure(geometry);
    this.addBlocks(geometry);
    if (this.soft && geometry.triangle.shape[0] > MAX_SHADED_TRIANGLES) this.simplify();
    this.setPose(this.displacement, this.turn);
  }

  /** Sets the displacements of the centres (B, 3) [m] and the rotation vectors (B, 3) [rad]. */
  setPose(displacement: Float32Array, turn: Float32Array): void {
    this.displacement = displacement;
    this.turn = turn;
    spread(this.uniforms.pose.value, displacement, 2, 0);
    spread(this.uniforms.pose.value, turn, 2, 1);
    this.floor.visible = this.shadows && !this.fallen();
    this.moved();
  }

  /** Sets the colours (B, 4), bytes sRGB; a block of opacity 0 is not drawn. `evenness` 0..1: larger values mean less shading. */
  setColours(colours: Uint8Array, evenness = 0): void {
    this.uniforms.evenness.value = evenness;
    this.uniforms.ink.value.setScalar(evenness > 0 ? 1 : 0.13); // edges: light on the dark end of a scale; `aim` sets how strong
    const held = this.uniforms.colour.value;
    (held.image.data as Uint8Array).set(colours);
    held.needsUpdate = true;
    this.draw();
  }

  /** Sets the forces in the joints: `b`, `centre` and `force` of an answer; a force of `strongest` [N] is drawn longest. */
  setJoints(joints: Arrays | null, strongest = largestForce(joints)): void {
    this.joints = joints;
    this.strongest = strongest;
    this.flow = this.ribbons(this.flow, joints ? this.segments(joints) : []);
  }

  /** Sets thrust lines: points (P, 3) [m] and the number of the first point of each line; with `joints`, they move with these. */
  setThrust(points: Float32Array, start: ArrayLike<number>, joints: Arrays | null = null): void {
    const lines: Segment[] = [];
    const corner = (at: number) => (joints ? this.carried(point(points, at), nearest(joints, point(points, at))) : point(points, at));
    const ends = [...Array.from(start).slice(1), points.length / 3];
    for (let line = 0; line < start.length; line++)
      for (let at = start[line]; at + 1 < ends[line]; at++)
        lines.push({ start: corner(at), end: corner(at + 1), hue: THRUST_COLOUR, width: 4 });
    this.thrust = this.ribbons(this.thrust, lines);
  }

  /** Draws marks at points (P, 3) [m]; `size` is in units of the size of the structure. */
  setMarks(points: Float32Array, size: number): void {
    const half = (size * this.box.getSize(new three.Vector3()).length()) / 2;
    const marks: Segment[] = [];
    for (let at = 0; 3 * at < points.length; at++) {
      const middle = point(points, at);
      const arm = new three.Vector3(0, 0, half);
      marks.push({ start: middle.clone().sub(arm), end: middle.add(arm), hue: MARK_COLOUR, width: 9 });
    }
    this.marks = this.ribbons(this.marks, marks);
  }

  setExaggeration(times: number): void {
    this.uniforms.exaggeration.value = times;
    if (this.joints) this.setJoints(this.joints, this.strongest);
    this.moved();
  }

  setSection(section: Section | null): void {
    if (!section && !this.cuts) return;
    if (section) {
      const side = section.flipped ? -1 : 1;
      const along = (axis: Axis) => (axis === section.axis ? side : 0);
      this.uniforms.section.value.set(along("x"), along("y"), along("z"), side * section.at);
    }
    if (this.cuts !== (section !== null)) {
      this.cuts = section !== null;
      this.compile();
    }
    this.moved();
  }

  /** Shows or hides the outlines of the initial shape. */
  setGhost(shown: boolean): void {
    this.ghost.visible = shown;
    this.draw();
  }

  setOrthographic(parallel: boolean): void {
    this.parallel = parallel;
    this.controls.zoomToCursor = !parallel; // which works with perspective cameras only
    this.draw();
    this.onView();
  }

  /** Marks a block; -1 marks none. */
  select(block: number): void {
    this.uniforms.selected.value = block;
    this.draw();
  }

  /** [m] The smallest and largest coordinates of the initial shape. */
  extent(axis: Axis): [number, number] {
    return [this.box.min[axis], this.box.max[axis]];
  }

  /** Looks at the middle of the structure from an azimuth [deg] (0: along y) and an elevation [deg], so that all of it is seen. */
  look(azimuth: number, elevation: number): void {
    const [a, e] = [three.MathUtils.degToRad(azimuth), three.MathUtils.degToRad(Math.min(elevation, 89.9))];
    const towards = new three.Vector3(Math.sin(a) * Math.cos(e), -Math.cos(a) * Math.cos(e), Math.sin(e));
    const target = this.box.getCenter(new three.Vector3());
    this.setView({ target, position: target.clone().addScaledVector(towards, this.fittingDistance(towards)) });
    this.onView();
  }

  /** Fits the whole structure into the view from the present direction. */
  fit(): void {
    const towards = this.camera.position.clone().sub(this.controls.target).normalize();
    const target = this.box.getCenter(new three.Vector3());
    this.setView({ target, position: target.clone().addScaledVector(towards, this.fittingDistance(towards)) });
    this.onView();
  }

  view(): View {
    return { position: this.camera.position.clone(), target: this.controls.target.clone() };
  }

  setView(view: View): void {
    const onView = this.onView;
    this.onView = () => {}; // only turns by the user are reported
    this.camera.position.copy(view.position);
    this.controls.target.copy(view.target);
    this.controls.update();
    this.onView = onView;
    this.draw();
  }

  /** The block under a pixel of the canvas; -1 if there is none. */
  pick(x: number, y: number): number {
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    this.pickTarget.setSize(width, height);
    this.pickTarget.scissorTest = true;
    this.pickTarget.scissor.set(Math.floor(x), height - 1 - Math.floor(y), 1, 1);
    this.aim();
    this.renderer.setRenderTarget(this.pickTarget);
    this.renderer.clear();
    this.renderer.render(this.pickScene, this.camera);
    this.renderer.setRenderTarget(null);
    const code = new Uint8Array(4);
    this.renderer.readRenderTargetPixels(this.pickTarget, Math.floor(x), height - 1 - Math.floor(y), 1, 1, code);
    return code[0] + 256 * code[1] + 65536 * code[2] - 1;
  }

  /** Where the centre of a block is on the canvas [pixels]. */
  pixel(block: number): [number, number] {
    this.aim();
    const at = this.carried(new three.Vector3().fromArray(this.centre, 3 * block), block, true).project(this.camera);
    return [(at.x + 1) / 2 * this.canvas.clientWidth, (1 - at.y) / 2 * this.canvas.clientHeight];
  }

  /** Draws with the browser's next animation frame. */
  draw(): void {
    if (!this.asked) this.asked = requestAnimationFrame(() => this.drawNow());
  }

  /** Draws at once and returns the time it took [ms], including the work of the graphics hardware. */
  timed(): number {
    const begin = performance.now();
    this.sunStale = true;
    this.drawNow();
    const gl = this.renderer.getContext();
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
    return performance.now() - begin;
  }

  /** Reduces the work per frame for slow hardware: no shadows and no subpixels. */
  simplify(): void {
    this.shadows = this.floor.visible = false;
    this.compile();
    this.renderer.setPixelRatio(1);
    this.resize();
  }

  private drawNow(): void {
    cancelAnimationFrame(this.asked);
    this.asked = 0;
    this.aim();
    if (this.sunStale && this.shadows) this.drawSun();
    this.renderer.render(this.scene, this.camera);
  }

  private drawSun(): void {
    this.sunStale = false;
    this.renderer.setRenderTarget(this.sunTarget);
    this.renderer.clear();
    this.renderer.render(this.sunScene, this.sunCamera);
    this.renderer.setRenderTarget(null);
  }

  /** Sets the camera to the present view, with depth limits close to the structure and, on request, a parallel projection. */
  private aim(): void {
    const distance = this.camera.position.distanceTo(this.controls.target);
    const size = 4 * this.box.getSize(new three.Vector3()).length();
    this.camera.near = Math.max(distance - size, 0.002 * distance);
    this.camera.far = distance + size;
    this.camera.updateProjectionMatrix();
    const half = distance * Math.tan(three.MathUtils.degToRad(FIELD_OF_VIEW / 2)); // [m] half the height of the picture
    if (this.parallel) {
      const wide = half * this.camera.aspect;
      this.camera.projectionMatrix.makeOrthographic(-wide, wide, half, -half, distance - size, distance + size);
      this.camera.projectionMatrixInverse.copy(this.camera.projectionMatrix).invert();
    }
    const pixels = (this.radius * this.canvas.clientHeight) / (2 * half); // of a block
    this.uniforms.ink.value.w = (this.uniforms.evenness.value > 0 ? 0.22 : 0.75) * three.MathUtils.clamp(pixels / 12, 0.12, 1);
    this.uniforms.eye.value.copy(this.camera.position).sub(this.controls.target).normalize();
    this.camera.updateMatrixWorld();
  }

  /** Compiles the shaders for the present settings; only a section shows blocks from inside. */
  private compile(): void {
    for (const scene of [this.scene, this.sunScene, this.pickScene])
      scene.traverse((thing) => {
        const look = (thing as three.Mesh).material as three.ShaderMaterial | undefined;
        if (!look) return;
        look.defines = this.defines();
        if (look.fragmentShader === shaders.BLOCK_FRAGMENT) look.side = this.cuts ? three.DoubleSide : three.FrontSide;
        look.needsUpdate = true;
      });
    this.moved();
  }

  private defines(): Record<string, number> {
    return { ...(this.cuts && { SECTION: 1 }), ...(this.shadows && { SHADOWS: 1 }) };
  }

  /** Whether blocks have fallen below the floor, so that there can be no floor. */
  private fallen(): boolean {
    const lowest = this.floor.position.z - this.radius;
    const times = this.uniforms.exaggeration.value;
    for (let z = 2; z < this.centre.length; z += 3) if (this.centre[z] + times * this.displacement[z] < lowest) return true;
    return false;
  }

  private moved(): void {
    this.sunStale = true;
    this.draw();
  }

  private resize(): void {
    const [width, height] = [Math.max(this.container.clientWidth, 1), Math.max(this.container.clientHeight, 1)];
    this.renderer.setSize(width, height);
    this.camera.aspect = width / height;
    this.uniforms.viewport.value.set(width, height);
    this.drawNow(); // a resized canvas is blank, and a later drawing would flicker
  }

  private clear(): void {
    for (const scene of [this.scene, this.sunScene, this.pickScene]) {
      scene.traverse((thing) => (thing as three.Mesh).geometry?.dispose());
      scene.clear();
    }
    for (const held of [this.uniforms.rest, this.uniforms.pose, this.uniforms.colour]) held.value.dispose();
    this.joints = null;
    this.flow = this.thrust = this.marks = [];
  }

  /** How large the structure and its blocks are, and where the sun must look. */
  private measure(geometry: Arrays): void {
    const [vertex, owner] = [geometry.vertex.data, geometry.owner.data];
    const reach = new Float32Array(this.centre.length / 3);
    this.box.makeEmpty();
    const corner = new three.Vector3();
    for (let i = 0; i < owner.length; i++) {
      corner.fromArray(vertex as Float32Array, 3 * i);
      reach[owner[i]] = Math.max(reach[owner[i]], corner.length());
      this.box.expandByPoint(corner.add(new three.Vector3().fromArray(this.centre, 3 * owner[i])));
    }
    this.radius = reach.sort()[reach.length >> 1] || 1;
    this.strong.nearer.value = FAINT_DEPTH * this.radius;
    this.aimSun();
  }

  private aimSun(): void {
    const middle = this.box.getCenter(new three.Vector3());
    const size = this.box.getSize(new three.Vector3()).length();
    const half = 0.75 * size;
    this.sunCamera.up.set(0, 0, 1);
    this.sunCamera.position.copy(middle).addScaledVector(SUN_DIRECTION, 2 * size);
    this.sunCamera.lookAt(middle);
    Object.assign(this.sunCamera, { left: -half, right: half, top: half, bottom: -half, near: 0, far: 4 * size });
    this.sunCamera.updateProjectionMatrix();
    this.sunCamera.updateMatrixWorld();
    this.uniforms.sunMatrix.value.copy(this.sunCamera.projectionMatrix).multiply(this.sunCamera.matrixWorldInverse);
    this.uniforms.middle.value.copy(middle);
    this.uniforms.reach.value = 1.6 * size;
    this.floor.position.set(middle.x, middle.y, this.box.min.z - 1e-4 * size);
  }

  private addBlocks(geometry: Arrays): void {
    const shape = new three.BufferGeometry();
    shape.setAttribute("position", new three.BufferAttribute(geometry.vertex.data as Float32Array, 3));
    shape.setAttribute("block", new three.BufferAttribute(Float32Array.from(geometry.owner.data), 1));
    const outline = shape.clone();
    shape.setIndex(new three.BufferAttribute(geometry.triangle.data as Uint32Array, 1));
    outline.setIndex(new three.BufferAttribute(geometry.edge.data as Uint32Array, 1));
    const stone = material(shaders.BLOCK_VERTEX, shaders.BLOCK_FRAGMENT, this.uniforms);
    Object.assign(stone, { polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 });
    const depth = material(shaders.BLOCK_VERTEX, shaders.DEPTH_FRAGMENT, this.uniforms);
    const number = material(shaders.BLOCK_VERTEX, shaders.PICK_FRAGMENT, this.uniforms);
    depth.side = number.side = three.DoubleSide;
    depth.colorWrite = false;
    const line = material(shaders.BLOCK_VERTEX, shaders.EDGE_FRAGMENT, this.uniforms, true);
    this.ghost.geometry = outline;
    this.ghost.material = material(shaders.BLOCK_VERTEX, shaders.EDGE_FRAGMENT, this.ghostUniforms, true);
    this.ghost.visible = false;
    this.floor.geometry = new three.CircleGeometry(this.uniforms.reach.value, 48);
    this.floor.material = material(shaders.FLOOR_VERTEX, shaders.FLOOR_FRAGMENT, this.uniforms, true);
    this.floor.renderOrder = -1;
    this.scene.add(this.floor, new three.Mesh(shape, stone), new three.LineSegments(outline, line), this.ghost);
    this.sunScene.add(new three.Mesh(shape, depth));
    this.pickScene.add(new three.Mesh(shape, number));
    for (const scene of [this.scene, this.sunScene, this.pickScene]) scene.traverse((thing) => (thing.frustumCulled = false));
    this.compile();
  }

  /** A segment a joint along its force, as long as the force is large, wide and dark as its root. */
  private segments(joints: Arrays): Segment[] {
    const [centre, force, b] = [joints.centre.data, joints.force.data, joints.b.data];
    const length = this.fittingLength(force) / (this.strongest || 1); // [m/N]
    const segments: Segment[] = [];
    for (let joint = 0; joint < b.length; joint++) {
      const along = point(force, joint);
      const share = along.length() / (this.strongest || 1);
      if (share < MIN_FORCE_SHARE) continue;
      const middle = this.carried(point(centre, joint), b[joint]);
      along.multiplyScalar(length / 2);
      const root = Math.sqrt(Math.min(share, 1));
      segments.push({ start: middle.clone().sub(along), end: middle.add(along), hue: [...strengthColour(root)], width: MAX_LINE_WIDTH * root });
    }
    return segments.sort((one, other) => one.width - other.width);
  }

  /** [m] The length of the longest segment; a typical one is then about half a block long, and none is too long. */
  private fittingLength(force: ArrayLike<number>): number {
    const sizes = Array.from({ length: force.length / 3 }, (_, joint) => point(force, joint).length());
    const drawn = sizes.filter((size) => size > MIN_FORCE_SHARE * this.strongest).sort((one, other) => one - other);
    const common = drawn[drawn.length >> 1] ?? 1;
    const [least, most] = [2 * this.radius, 0.08 * this.box.getSize(new three.Vector3()).length()];
    return Math.max(least, Math.min((0.7 * this.radius * this.strongest) / common, most));
  }

  /** The position of a point [m] that moves with a block, under the exaggerated motion. */
  private carried(at: three.Vector3, block: number, atRest = false): three.Vector3 {
    const times = this.uniforms.exaggeration.value;
    if (times === 1 && !atRest) return at;
    const centre = new three.Vector3().fromArray(this.centre, 3 * block);
    const shift = new three.Vector3().fromArray(this.displacement, 3 * block);
    const turn = new three.Vector3().fromArray(this.turn, 3 * block);
    const angle = turn.length();
    const axis = angle > 0 ? turn.divideScalar(angle) : new three.Vector3(0, 0, 1);
    const arm = at.clone().sub(centre);
    if (!atRest) arm.sub(shift).applyAxisAngle(axis, -angle);
    return arm.applyAxisAngle(axis, times * angle).addScaledVector(shift, times).add(centre);
  }

  /** Replaces lines: drawn faint everywhere, and strong where they are not far behind the visible blocks. */
  private ribbons(before: three.Mesh[], segments: Segment[]): three.Mesh[] {
    this.scene.remove(...before);
    before[0]?.geometry.dispose();
    this.draw();
    if (!segments.length) return [];
    const shape = new three.InstancedBufferGeometry();
    shape.setAttribute("position", new three.Float32BufferAttribute([0, -1, 0, 1, -1, 0, 1, 1, 0, 0, 1, 0], 3));
    shape.setIndex([0, 1, 2, 0, 2, 3]);
    const column = (values: number[], size: number) => new three.InstancedBufferAttribute(Float32Array.from(values), size);
    shape.setAttribute("start", column(segments.flatMap((segment) => segment.start.toArray()), 3));
    shape.setAttribute("end", column(segments.flatMap((segment) => segment.end.toArray()), 3));
    shape.setAttribute("hue", column(segments.flatMap((segment) => segment.hue), 3));
    shape.setAttribute("width", column(segments.map((segment) => segment.width), 1));
    const drawn = [this.faint, this.strong].map((look) => {
      const mesh = new three.Mesh(shape, material(shaders.RIBBON_VERTEX, shaders.RIBBON_FRAGMENT, look, true));
      mesh.material.side = three.DoubleSide;
      mesh.material.depthTest = look === this.strong;
      mesh.material.defines = this.defines();
      mesh.frustumCulled = false;
      mesh.renderOrder = 1;
      return mesh;
    });
    this.scene.add(...drawn);
    return drawn;
  }

  /** [m] The distance from the middle at which the box fills the picture. */
  private fittingDistance(towards: three.Vector3): number {
    const turn = new three.Matrix4().lookAt(towards, new three.Vector3(), this.camera.up).invert();
    const middle = this.box.getCenter(new three.Vector3());
    const slope = Math.tan(three.MathUtils.degToRad(FIELD_OF_VIEW / 2));
    const aspect = this.container.clientWidth / Math.max(this.container.clientHeight, 1) || 1; // the canvas may follow later
    let distance = 0.01;
    for (let corner = 0; corner < 8; corner++) {
      const at = new three.Vector3(...(["x", "y", "z"] as const).map((axis, i) => this.box[corner & (1 << i) ? "max" : "min"][axis]));
      at.sub(middle).applyMatrix4(turn);
      distance = Math.max(distance, at.z + (FIT_MARGIN * Math.max(Math.abs(at.x) / aspect, Math.abs(at.y))) / slope);
    }
    return distance;
  }
}

interface Segment {
  start: three.Vector3;
  end: three.Vector3;
  hue: [number, number, number] | number[];
  width: number; // [pixels]
}

/** [N] The largest force in the joints of a frame. */
export function largestForce(joints: Arrays | null): number {
  let most = 0;
  if (joints) for (let joint = 0; joint < joints.b.data.length; joint++) most = Math.max(most, point(joints.force.data, joint).length());
  return most;
}

const point = (values: ArrayLike<number>, row: number) => new three.Vector3(values[3 * row], values[3 * row + 1], values[3 * row + 2]);

/** The block of the joint that is nearest to a point. */
function nearest(joints: Arrays, at: three.Vector3): number {
  let [best, least] = [0, Infinity];
  for (let joint = 0; joint < joints.b.data.length; joint++) {
    const far = point(joints.centre.data, joint).distanceToSquared(at);
    if (far < least) [best, least] = [joints.b.data[joint], far];
  }
  return best;
}

function uniforms() {
  return {
    rest: { value: texture(1, three.FloatType) },
    pose: { value: texture(2, three.FloatType) },
    colour: { value: texture(1, three.UnsignedByteType) },
    exaggeration: { value: 1 },
    section: { value: new three.Vector4() },
    selected: { value: -1 },
    evenness: { value: 0 },
    ink: { value: new three.Vector4(0.16, 0.13, 0.1, 0.75) },
    sun: { value: SUN_DIRECTION },
    eye: { value: new three.Vector3() },
    sunDepth: { value: null as three.Texture | null },
    sunMatrix: { value: new three.Matrix4() },
    middle: { value: new three.Vector3() },
    reach: { value: 1 },
    viewport: { value: new three.Vector2(1, 1) },
  };
}

function material(vertexShader: string, fragmentShader: string, uniforms: Record<string, three.IUniform>, over = false): three.ShaderMaterial {
  return new three.ShaderMaterial({ vertexShader, fragmentShader, uniforms, glslVersion: three.GLSL3, transparent: over, depthWrite: !over });
}

/** A texture with one texel per row of data. */
function texture(count: number, type: typeof three.FloatType | typeof three.UnsignedByteType): three.DataTexture {
  const width = Math.min(TEXELS_PER_ROW, count);
  const height = Math.ceil(count / width);
  const data = type === three.FloatType ? new Float32Array(4 * width * height) : new Uint8Array(4 * width * height);
  return new three.DataTexture(data, width, height, three.RGBAFormat, type);
}

/** Puts rows of three numbers into every `stride`-th texel. */
function spread(into: three.DataTexture, rows: Float32Array, stride: number, offset: number): void {
  const data = into.image.data as Float32Array;
  for (let row = 0; 3 * row < rows.length; row++)
    for (let i = 0; i < 3; i++) data[4 * (stride * row + offset) + i] = rows[3 * row + i];
  into.needsUpdate = true;
}

function sunTarget(): three.WebGLRenderTarget {
  const target = new three.WebGLRenderTarget(SHADOW_MAP_PIXELS, SHADOW_MAP_PIXELS);
  target.depthTexture = new three.DepthTexture(SHADOW_MAP_PIXELS, SHADOW_MAP_PIXELS, three.FloatType);
  return target;
}

/** Whether the processor draws instead of graphics hardware, so that antialiasing is too slow. */
function isSoftware(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  if (!gl) throw new Error("this browser has no WebGL 2, which the drawing needs; use a newer browser, or switch on its hardware acceleration");
  const named = gl.getExtension("WEBGL_debug_renderer_info");
  const name = named ? String(gl.getParameter(named.UNMASKED_RENDERER_WEBGL)) : "";
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|softpipe|basic render/i.test(name);
}
