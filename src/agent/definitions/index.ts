export { builtinDefinitions } from "./builtin.js";
export type { AgentDefinition, DefinitionSource } from "./definition.js";
export { findDefinition, inForce } from "./find.js";
export { type DefinitionDirectory, type LoadedDefinitions, loadDefinitions } from "./load.js";
export { toolsFor } from "./tools-for.js";
