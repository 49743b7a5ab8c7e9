// Every test process starts without the caller's team, terminal multiplexer, credentials and proxies, so that
// no test reaches a real session, a paid model or the network.
for (const name of Object.keys(process.env))
  if (
    /^(TROUPE_|TMUX|ANTHROPIC_|CI$|ITERM_|TERM_PROGRAM|LC_TERMINAL|HTTPS?_PROXY|https?_proxy)/.test(name) &&
    name !== "TROUPE_TMUX"
  )
    delete process.env[name];
