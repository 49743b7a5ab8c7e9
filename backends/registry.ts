/** Every backend by its type, loaded when it is asked for; each gives the factory of its executor. */
export const backends = {
  tmux: async () => (await import("./tmux/executor.js")).createTmuxExecutor,
  iterm2: async () => (await import("./iterm2/executor.js")).createIterm2Executor,
  "in-process": async () => (await import("./in-process.js")).createInProcessExecutor,
} as const;
