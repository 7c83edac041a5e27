/** What engines of containers share: what a template says of its containers, and how agents run in them. `docs/extending.md` shows how to write an engine. */
export { type ContainerImage, type ContainerSpec, homeVolume, type SidecarSpec, type VolumeSpec } from "./ContainerSpec.js"
export {
  agentCommand,
  agentDirectory,
  agentEnvironment,
  AgentReport,
  awaitAgent,
  filesArchive,
  reachWithin,
  reasonOf,
  runtimeDirectory,
  tokenFile
} from "./AgentStart.js"
export { archiveOf } from "./FilesArchive.js"
export { runtimeArchive, type RuntimeArchive, type RuntimeOptions } from "./runtime/RuntimeArchive.js"
export { RuntimeError } from "./runtime/RuntimeFiles.js"
export { type EngineRules } from "../template/EngineRules.js"
export { type Evaluation, type PlacedFile } from "../template/Evaluation.js"
export { excesses, type Limits, mebibytes, type OperatorLimits, parseLimits, withDefaults } from "./ContainerLimits.js"
export { containerEvaluations } from "./ContainerEvaluation.js"
export { ContainerState, decodeContainerState, encodeContainerState } from "./ContainerState.js"
export { openTemplates } from "../session/openTemplates.js"
export {
  type PlacedEvaluation,
  type Report,
  type TemplateActionFailure,
  type TemplateEngine,
  type TemplateStart,
  type TemplateStarted,
  type TemplateState
} from "../session/TemplateEngine.js"
