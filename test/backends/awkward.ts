/** Values that shells, terminals and tmux read something into. */
export const awkward = [
  "",
  "a b",
  "it's",
  '"',
  "$HOME `id` \\",
  "two\nlines",
  ";",
  "x;",
  "-n",
  "😀 Ω",
  "#{pid}",
  "%d",
  "\u001b[0m",
  "\t",
];
