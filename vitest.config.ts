import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    pool: "forks",
    // More than cores: tests wait for programs as often as they compute.
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Real programs and terminals on a busy machine: what fails twice in a row is wrong. The report tells what was tried again.
    retry: 1,
    setupFiles: ["test/helpers/setup.ts"],
  },
});
