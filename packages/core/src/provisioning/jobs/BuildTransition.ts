import { Schema } from "effect"

/** The effect of a build on its workspace, and the purpose of a job's resources. workspaces.md §1. */
export const BuildTransition = Schema.Literal("start", "stop", "delete")
export type BuildTransition = typeof BuildTransition.Type
