import { Array as Arr, Effect, type Option } from "effect"
import type { Conflict } from "../../platform/Errors.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { ParameterValue } from "../../provisioning/engines/SourceDefinitions.js"
import type { ProvisionerJob } from "../../provisioning/jobs/ProvisionerJob.js"
import type { ProvisionerJobRepository } from "../../provisioning/jobs/ProvisionerJobRepository.js"
import type { AuthoredVersion } from "../../templates/versions/TemplateVersion.js"
import type { TemplateVersionParameter, TemplateVersionPreset } from "../../templates/versions/TemplateVersionDefinitions.js"
import type { TemplateVersionRepository } from "../../templates/versions/TemplateVersionRepository.js"
import type { BuildStates } from "./BuildStates.js"
import type { WorkspaceBuildId } from "./WorkspaceBuild.js"
import type { WorkspaceBuildRepository } from "./WorkspaceBuildRepository.js"

/** What is read to decide about a build: of its version, and of the build before it. */
export interface BuildReads {
  readonly version: (id: Uuid) => Effect.Effect<Option.Option<AuthoredVersion>>
  /** The import of a version. */
  readonly source: (jobId: Uuid) => Effect.Effect<Option.Option<ProvisionerJob>>
  readonly presets: (versionId: Uuid) => Effect.Effect<ReadonlyArray<TemplateVersionPreset>>
  /** The parameters that the import of a version found. */
  readonly definitions: (versionId: Uuid) => Effect.Effect<ReadonlyArray<TemplateVersionParameter>>
  /** The values of a build, by name. */
  readonly parameters: (buildId: WorkspaceBuildId) => Effect.Effect<ReadonlyArray<ParameterValue>>
  /** What the engine keeps of a build. */
  readonly state: (buildId: WorkspaceBuildId) => Effect.Effect<Uint8Array, Conflict>
}

interface Needs {
  readonly versions: TemplateVersionRepository["Type"]
  readonly jobs: ProvisionerJobRepository["Type"]
  readonly builds: WorkspaceBuildRepository["Type"]
  readonly states: BuildStates["Type"]
}

/** The reads of one build, and those that builds of several workspaces share. */
export const buildReads = ({ versions, jobs, builds, states }: Needs) => {
  const ofOne: BuildReads = {
    version: versions.byId,
    source: jobs.byId,
    presets: versions.presets,
    definitions: versions.parameters,
    parameters: builds.parameters,
    state: states.of
  }

  /** Reads of builds that follow `previous`: each version is read once, and the builds before by two statements. */
  const shared = (previous: ReadonlyArray<WorkspaceBuildId>): Effect.Effect<BuildReads> =>
    Effect.gen(function* () {
      const parameters = Arr.groupBy(yield* builds.parametersOf(previous), ({ workspace_build_id }) => workspace_build_id)
      return {
        version: yield* Effect.cachedFunction(ofOne.version),
        source: yield* Effect.cachedFunction(ofOne.source),
        presets: yield* Effect.cachedFunction(ofOne.presets),
        definitions: yield* Effect.cachedFunction(ofOne.definitions),
        parameters: (id) => Effect.succeed((parameters[id] ?? []).map(({ name, value }) => ({ name, value }))),
        state: yield* states.ofEach(previous)
      }
    })

  return { ofOne, shared }
}
