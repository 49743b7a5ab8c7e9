export { builtinDefinitions } from "./builtin.js";
export type { AgentDefinition } from "./definition.js";
export { findDefinition, inForce } from "./find.js";
export { toolsFor } from "./tools-for.js";
