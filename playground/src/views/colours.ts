/** Colours that people with any colour vision can distinguish (Okabe and Ito). */
const LANES = {
  light: ["#0072b2", "#d55e00", "#009e73"],
  dark: ["#56b4e9", "#f0894a", "#33c79b"],
};

/** Hue and saturation of each class of traffic, and the lightness of its darkest flows in the light scheme. */
const CLASSES = [
  [41, 100, 26],
  [327, 45, 36],
  [202, 75, 28],
  [164, 100, 20],
  [262, 40, 38],
  [15, 85, 34],
] as const;

/** How many flows of a class have colours of their own, and how much lighter each is than the one before, in %. */
const SHADES = 5;
const LIGHTER = 3;

export type Scheme = "light" | "dark";

/** The colour of a lane. */
export const laneColour = (scheme: Scheme, lane: number): string => LANES[scheme][lane] ?? "#0072b2";

/** The colour of a lost packet. */
export const lostColour = (scheme: Scheme) => (scheme === "light" ? "#d00000" : "#ff5c5c");

/** Hue, saturation and lightness of a flow. */
export function flowShade(scheme: Scheme, of: number, flow: number): readonly [number, number, number] {
  const [hue, saturation, darkest] = CLASSES[of % CLASSES.length] as (typeof CLASSES)[number];
  return [hue, saturation, (scheme === "light" ? darkest : 58) + LIGHTER * (flow % SHADES)];
}

const made = new Map<number, string>();

/** The colour of a flow: the hue is that of its class, the lightness goes by its number. */
export function flowColour(scheme: Scheme, of: number, flow = 0): string {
  const key = ((of % CLASSES.length) * SHADES + (flow % SHADES)) * 2 + (scheme === "light" ? 0 : 1);
  let colour = made.get(key);
  if (colour === undefined) {
    const [hue, saturation, lightness] = flowShade(scheme, of, flow);
    colour = `hsl(${hue} ${saturation}% ${lightness}%)`;
    made.set(key, colour);
  }
  return colour;
}
