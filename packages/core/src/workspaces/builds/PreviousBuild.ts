import { Effect, type Option } from "effect"
import type { WorkspaceBuild } from "./WorkspaceBuild.js"
import type { BuildDetails, WorkspaceBuildRepository } from "./WorkspaceBuildRepository.js"

/** The build of a workspace before another build; none, without a statement, for the first one. */
export const previousBuild = (
  builds: WorkspaceBuildRepository["Type"],
  { build_number, workspace_id }: Pick<WorkspaceBuild, "build_number" | "workspace_id">
): Effect.Effect<Option.Option<BuildDetails>> => (build_number === 1 ? Effect.succeedNone : builds.byNumber(workspace_id, build_number - 1))
