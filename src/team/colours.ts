/** Colours of teammates in the order they are given, with their numbers in the 256-colour table. */
export const colours = {
  red: 203,
  blue: 75,
  green: 114,
  yellow: 221,
  purple: 141,
  orange: 215,
  pink: 218,
  cyan: 80,
} as const;

export type ColourName = keyof typeof colours;

/** The colour for the `index`-th teammate of a team: all in turn. */
export function colourAt(index: number): ColourName {
  const names = Object.keys(colours) as ColourName[];
  return names[index % names.length] ?? "red";
}
