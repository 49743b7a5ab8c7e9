import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // On a check machine that is busy with other work a test may meet one of its deadlines; at a desk each failure counts.
    retry: process.env["CI"] ? 1 : 0,
    setupFiles: ["test/helpers/setup.ts"],
  },
});
