import { oneLine } from "../../src/util/text.js";
import type { Profile } from "./transport.js";

/** Longest text of a state behind the name, in characters. */
const widest = 40;

/** What a pane says of the teammate in it. iTerm2 reads something into a backslash, so there is none. */
export function titleOf(name: string, state = ""): Profile {
  const text = state === "" ? name : `${name}: ${oneLine(state, widest)}`;
  return { Name: oneLine(text).replaceAll("\\", "/") };
}

/** The colour of a teammate, by its 256-colour number, as the colour of the tab in which its pane has the focus. */
export function tabColour(number: number): Profile {
  const [red, green, blue] = rgbOf(number);
  const share = (value: number): number => Math.round((value / 255) * 1000) / 1000;
  return {
    "Use Tab Color": true,
    "Tab Color": {
      "Red Component": share(red),
      "Green Component": share(green),
      "Blue Component": share(blue),
      "Alpha Component": 1,
      "Color Space": "sRGB",
    },
  };
}

const basic = [
  [0, 0, 0],
  [205, 0, 0],
  [0, 205, 0],
  [205, 205, 0],
  [0, 0, 238],
  [205, 0, 205],
  [0, 205, 205],
  [229, 229, 229],
  [127, 127, 127],
  [255, 0, 0],
  [0, 255, 0],
  [255, 255, 0],
  [92, 92, 255],
  [255, 0, 255],
  [0, 255, 255],
  [255, 255, 255],
] as const;

/** As xterm has them: sixteen colours, a cube of 6 by 6 by 6, and 24 greys. */
function rgbOf(number: number): readonly [number, number, number] {
  const known = basic[number];
  if (known !== undefined) return known;
  if (number >= 232) {
    const grey = 8 + 10 * (number - 232);
    return [grey, grey, grey];
  }
  const level = (step: number): number => (step === 0 ? 0 : 55 + 40 * step);
  const cube = number - 16;
  return [level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6)];
}
