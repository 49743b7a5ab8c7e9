// Loaded before a program that is to believe that two hours have passed.
const now = Date.now;
Date.now = () => now() + 2 * 3_600_000;
