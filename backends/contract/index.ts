export { executorContract, submitTextContract } from "./executor-contract.js";
export {
  type ContractCase,
  type ContractPrograms,
  type ContractTools,
  type ExecutorHarness,
  posixPrograms,
} from "./harness.js";
