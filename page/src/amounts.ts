// Numbers as text: an amount in SI comes in, digits with a convenient unit go out.

export interface Unit {
  name: string;
  size: number; // [SI]
}

const UNITS: Record<string, [string, number][]> = {
  m: [["m", 1], ["mm", 1e-3], ["µm", 1e-6]],
  "m/s": [["m/s", 1], ["mm/s", 1e-3]],
  rad: [["rad", 1], ["mrad", 1e-3], ["µrad", 1e-6]],
  N: [["MN", 1e6], ["kN", 1e3], ["N", 1]],
  Pa: [["MPa", 1e6], ["kPa", 1e3], ["Pa", 1]],
  J: [["MJ", 1e6], ["kJ", 1e3], ["J", 1]],
  kg: [["t", 1e3], ["kg", 1]],
};

/** The unit in which an amount has one to four digits before the point. */
export function fitting(most: number, unit: string): Unit {
  const units = UNITS[unit] ?? [[unit, 1]];
  const [name, size] = units.find(([, size]) => Math.abs(most) >= 0.5 * size) ?? units[most === 0 ? 0 : units.length - 1];
  return { name, size };
}

export function amount(value: number, unit: string): string {
  if (!Number.isFinite(value)) return "–";
  const { name, size } = fitting(value, unit);
  return `${digits(value / size)} ${name}`.trim();
}

export function digits(value: number): string {
  if (value === 0) return "0";
  const size = Math.abs(value);
  return (size >= 1e5 || size < 1e-3 ? value.toExponential(2) : String(Number(value.toPrecision(3)))).replace("-", "−");
}

/** The smallest round number that is not below a value: 1, 1.5, 2, 3, 5 or 7.5 times a power of ten. */
export function roundedUp(value: number): number {
  if (!(value > 0)) return 0;
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 1.5, 2, 3, 5, 7.5].find((step) => value <= step * power * (1 + 1e-9)) ?? 10);
}
