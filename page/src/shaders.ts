// The shaders. Every vertex looks up its block in textures with one row per block: `rest` (centre [m]), `pose` (displacement [m],
// then rotation vector [rad]) and `colour`; so a frame costs 32 bytes per block and one draw call.

const FETCH = /* glsl */ `
precision highp float;
precision highp sampler2D;
uniform sampler2D rest, pose, colour;
uniform float exaggeration;
in float block;

ivec2 texel(int number, int stride, int offset, sampler2D from) {
  int width = textureSize(from, 0).x, at = number * stride + offset;
  return ivec2(at % width, at / width);
}

// Rodrigues: v turned by the angle |w| about w
vec3 turned(vec3 v, vec3 w) {
  float angle = length(w);
  if (angle < 1e-9) return v + cross(w, v);
  vec3 axis = w / angle;
  return v * cos(angle) + cross(axis, v) * sin(angle) + axis * dot(axis, v) * (1.0 - cos(angle));
}

vec3 placed(int number) {
  vec3 shift = texelFetch(pose, texel(number, 2, 0, pose), 0).xyz;
  vec3 turn = texelFetch(pose, texel(number, 2, 1, pose), 0).xyz;
  return texelFetch(rest, texel(number, 1, 0, rest), 0).xyz + exaggeration * shift + turned(position, exaggeration * turn);
}
`;

export const BLOCK_VERTEX = /* glsl */ `
${FETCH}
out vec3 world;
flat out vec4 tone;
flat out int number;

void main() {
  number = int(block);
  world = placed(number);
  tone = texelFetch(colour, texel(number, 1, 0, colour), 0);
  gl_Position = tone.a > 0.0 ? projectionMatrix * viewMatrix * vec4(world, 1.0) : vec4(0.0, 0.0, 2.0, 1.0); // outside the view
}
`;

// Nothing is drawn beyond the plane. Unused parts are not compiled, because a software renderer is slowed down by each line.
const CUT = /* glsl */ `
#ifdef SECTION
uniform vec4 section;
bool cut(vec3 point) { return dot(section.xyz, point) > section.w; }
#else
bool cut(vec3 point) { return false; }
#endif
`;

// The share of sunlight that reaches a point: the mean of nine samples of the shadow map.
const SUNLIT = /* glsl */ `
#ifndef SHADOWS
float sunlit(vec3 point) { return 1.0; }
#else
uniform highp sampler2D sunDepth;
uniform mat4 sunMatrix;

float sunlit(vec3 point) {
  vec3 at = (sunMatrix * vec4(point, 1.0)).xyz * 0.5 + 0.5;
  if (any(lessThan(at, vec3(0.0))) || any(greaterThan(at, vec3(1.0)))) return 1.0;
  vec2 step = 1.2 / vec2(textureSize(sunDepth, 0));
  float lit = 0.0;
  for (int i = -1; i <= 1; i++)
    for (int j = -1; j <= 1; j++)
      lit += at.z < texture(sunDepth, at.xy + step * vec2(i, j)).r + 0.0015 ? 1.0 : 0.0;
  return lit / 9.0;
}
#endif
`;

export const BLOCK_FRAGMENT = /* glsl */ `
precision highp float;
${CUT}
${SUNLIT}
uniform vec3 sun, eye; // unit vectors towards them
uniform int selected;
uniform float evenness; // 1: colours as they are, not shaded
in vec3 world;
flat in vec4 tone;
flat in int number;
out vec4 result;

void main() {
  if (cut(world)) discard;
  vec3 normal = normalize(cross(dFdx(world), dFdy(world)));
  vec3 base = tone.rgb * tone.rgb; // nearly linear
  bool stripe = mod(gl_FragCoord.x + gl_FragCoord.y, 8.0) < 4.0; // so that the colour of a selected block stays visible
  if (number == selected && stripe) base = vec3(0.80, 0.0, 0.12);
  float sky = 0.5 + 0.5 * normal.z;
  float light = max(dot(normal, sun), 0.0);
  if (light > 0.0) light *= sunlit(world + 0.002 * normal);
  vec3 shade = mix(vec3(0.30, 0.28, 0.26), vec3(0.52, 0.56, 0.62), sky) + light * vec3(0.60, 0.55, 0.47) + 0.10 * abs(dot(normal, eye));
  vec3 shaded = base * mix(shade, vec3(1.0), evenness);
  if (!gl_FrontFacing) shaded = 0.42 * base; // the inside of a block, visible through the section
  result = vec4(sqrt(shaded), 1.0);
}
`;

/** The shadow map: only the depth is written. */
export const DEPTH_FRAGMENT = /* glsl */ `
precision highp float;
${CUT}
in vec3 world;
void main() { if (cut(world)) discard; }
`;

/** The number of the block under a pixel, plus one, in three bytes. */
export const PICK_FRAGMENT = /* glsl */ `
precision highp float;
${CUT}
in vec3 world;
flat in int number;
out vec4 result;

void main() {
  if (cut(world)) discard;
  int code = number + 1;
  result = vec4(code & 255, (code >> 8) & 255, code >> 16, 255) / 255.0;
}
`;

export const EDGE_FRAGMENT = /* glsl */ `
precision highp float;
${CUT}
uniform vec4 ink;
uniform int selected;
in vec3 world;
flat in int number;
out vec4 result;

void main() {
  if (cut(world)) discard;
  result = number == selected ? vec4(0.80, 0.0, 0.25, 1.0) : ink;
}
`;

export const FLOOR_VERTEX = /* glsl */ `
precision highp float;
out vec3 world;
void main() {
  world = (modelMatrix * vec4(position, 1.0)).xyz;
  gl_Position = projectionMatrix * viewMatrix * vec4(world, 1.0);
}
`;

/** A floor of which only its shadows are drawn, fading with the distance from the middle. */
export const FLOOR_FRAGMENT = /* glsl */ `
precision highp float;
${SUNLIT}
uniform vec3 middle;
uniform float reach;
in vec3 world;
out vec4 result;

void main() {
  float far = length(world.xy - middle.xy) / reach;
  result = vec4(0.25, 0.24, 0.27, 0.42 * (1.0 - sunlit(world)) * (1.0 - smoothstep(0.6, 1.0, far)));
}
`;

/** Lines of any width [pixels]: each is a quadrilateral across the line of sight. */
export const RIBBON_VERTEX = /* glsl */ `
precision highp float;
in vec3 start, end, hue;
in float width;
uniform vec2 viewport;
uniform float nearer; // [m] lines at most this far behind the visible surface are still drawn
out vec3 world;
out vec3 tone;

void main() {
  vec4 from = projectionMatrix * viewMatrix * vec4(start, 1.0);
  vec4 to = projectionMatrix * viewMatrix * vec4(end, 1.0);
  vec2 along = (to.xy / to.w - from.xy / from.w) * viewport;
  float size = length(along);
  along = size > 1e-6 ? along / size : vec2(1.0, 0.0);
  world = position.x < 0.5 ? start : end;
  tone = hue;
  gl_Position = position.x < 0.5 ? from : to;
  float half_width = 0.5 * max(width, 1.0);
  vec4 shifted = projectionMatrix * (viewMatrix * vec4(world, 1.0) + vec4(0.0, 0.0, nearer, 0.0));
  gl_Position.z = max(shifted.z / shifted.w, -0.999) * gl_Position.w;
  vec2 aside = vec2(-along.y, along.x) * position.y + along * (position.x - 0.5);
  gl_Position.xy += 2.0 * half_width * aside / viewport * gl_Position.w;
}
`;

export const RIBBON_FRAGMENT = /* glsl */ `
precision highp float;
${CUT}
uniform float strength;
in vec3 world;
in vec3 tone;
out vec4 result;

void main() {
  if (cut(world)) discard;
  result = vec4(tone, strength);
}
`;
