// Colours of blocks: values come in, (B, 4) bytes sRGB go out; the same tones as the pictures of Python (show/pictures/picture.py).

type Colour = readonly [number, number, number];

const LIMESTONE_COLOURS: Colour[] = [[0.87, 0.8, 0.67], [0.84, 0.75, 0.61], [0.89, 0.83, 0.72], [0.82, 0.75, 0.64]];
const SUPPORT_COLOUR: Colour = [0.63, 0.64, 0.65];
const NO_VALUE_COLOUR: Colour = [0.86, 0.86, 0.86]; // a block without a value
const PALE_SHARE = 0.45; // share of its own tone that a block keeps when something is drawn over it

// from blue to yellow in equal steps of lightness (samples of viridis)
const COLOUR_SCALE: Colour[] = [
  [0.267, 0.005, 0.329], [0.275, 0.195, 0.496], [0.213, 0.359, 0.552], [0.153, 0.497, 0.558],
  [0.122, 0.633, 0.531], [0.29, 0.759, 0.428], [0.622, 0.854, 0.226], [0.993, 0.906, 0.144],
];
// from weak to strong, ever darker, so that it can be read without hue
const FORCE_COLOURS: Colour[] = [[0.98, 0.7, 0.36], [0.9, 0.4, 0.25], [0.7, 0.18, 0.36], [0.4, 0.08, 0.43], [0.12, 0.04, 0.28]];
// distinguishable with colour blindness (Okabe and Ito)
const CLASS_COLOURS: Colour[] = [
  [0.9, 0.62, 0], [0.34, 0.71, 0.91], [0, 0.62, 0.45], [0.94, 0.89, 0.26], [0, 0.45, 0.7], [0.84, 0.37, 0], [0.8, 0.47, 0.65],
];

export const scaleColour = (share: number) => between(COLOUR_SCALE, share);
export const strengthColour = (share: number) => between(FORCE_COLOURS, share);

/** The colour of a class; class 0 does not move and is pale. */
export const classColour = (number: number): Colour => (number < 1 ? NO_VALUE_COLOUR : CLASS_COLOURS[(number - 1) % CLASS_COLOURS.length]);

/** A tone of limestone for each block, the same in every picture. */
export function stoneColour(block: number): Colour {
  const tone = LIMESTONE_COLOURS[Math.floor(chance(43758.5453, 12.9898, block) * LIMESTONE_COLOURS.length)];
  const shade = 0.96 + 0.08 * chance(24634.6345, 78.233, block);
  return [tone[0] * shade, tone[1] * shade, tone[2] * shade];
}

/** (B, 4) bytes from one colour per block; supports are grey; hidden blocks have an opacity of 0. */
export function colours(fixed: boolean[], of: (block: number) => Colour, paled = false, hidden: ArrayLike<number> | null = null): Uint8Array {
  const bytes = new Uint8Array(4 * fixed.length);
  fixed.forEach((support, block) => {
    const tone = support ? SUPPORT_COLOUR : of(block);
    tone.forEach((part, i) => (bytes[4 * block + i] = Math.round(255 * Math.min(1, paled ? PALE_SHARE * part + (1 - PALE_SHARE) * 0.93 : part))));
    bytes[4 * block + 3] = hidden?.[block] ? 0 : 255;
  });
  return bytes;
}

/** The colour of the value of a block, from 0 to `most`; nan stands for no value. */
export function valueColour(value: number, most: number, counted: boolean): Colour {
  if (Number.isNaN(value)) return NO_VALUE_COLOUR;
  return counted ? classColour(value) : scaleColour(most > 0 ? value / most : 0);
}

export const css = (colour: Colour) => `rgb(${colour.map((part) => Math.round(255 * part)).join(" ")})`;

const chance = (large: number, small: number, block: number) => {
  const value = large * Math.sin(small * block);
  return value - Math.floor(value);
};

function between(scale: Colour[], share: number): Colour {
  const at = Math.min(1, Math.max(0, share)) * (scale.length - 1);
  const from = Math.min(Math.floor(at), scale.length - 2);
  return scale[from].map((part, i) => part + (at - from) * (scale[from + 1][i] - part)) as unknown as Colour;
}
