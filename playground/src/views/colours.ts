/** Colours that people with any colour vision can distinguish (Okabe and Ito). */
const LANES = {
  light: ["#0072b2", "#d55e00", "#009e73"],
  dark: ["#56b4e9", "#f0894a", "#33c79b"],
};

/** Hue and saturation of each class of traffic: others than those of the lanes. */
const CLASSES = [
  [41, 100],
  [327, 45],
  [202, 75],
  [164, 100],
  [262, 40],
  [15, 85],
] as const;

export type Scheme = "light" | "dark";

/** The colour of a lane. */
export const laneColour = (scheme: Scheme, lane: number) => LANES[scheme][lane] ?? LANES[scheme][0];

/** The colour of a flow: the hue is that of its class, the lightness that of its rank in it. */
export function flowColour(scheme: Scheme, of: number, rank = 0): string {
  const [hue, saturation] = CLASSES[of % CLASSES.length] as (typeof CLASSES)[number];
  const lightness = (scheme === "light" ? 42 : 62) + ((rank * 7) % 22) - 8;
  return `hsl(${hue} ${saturation}% ${lightness}%)`;
}
