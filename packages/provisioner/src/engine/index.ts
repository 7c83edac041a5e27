/**
 * What engines share: how a source is read, a directory owned, and processes found and ended. `docs/extending.md` shows how to write an engine.
 */
export { findProgram, LaunchError } from "./AgentProcess.js"
export {
  type ArchiveEntry,
  ArchiveError,
  type ArchiveFile,
  entries,
  maximumArchiveSize,
  maximumEntries,
  maximumFileSize,
  readArchive,
  readFiles
} from "./Archive.js"
export * as DirectoryOwner from "./DirectoryOwner.js"
export { localPath } from "./LocalPath.js"
export { madeOnce } from "./madeOnce.js"
export { openLater } from "./openLater.js"
export { allowedFormTypes } from "./ParameterRules.js"
export { ProcessTable } from "./ProcessTable.js"
export * as ProcessTree from "./ProcessTree.js"
export { templateEngines, templatePath } from "./TemplatePath.js"
export { attempt, attemptUnless, DirectoryError, prepareRoot } from "./EngineDirectory.js"
