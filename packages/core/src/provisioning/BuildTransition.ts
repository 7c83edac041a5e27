import { Schema } from "effect"

/** What a build does to its workspace, and what a job makes resources for. workspaces.md §1. */
export const BuildTransition = Schema.Literal("start", "stop", "delete")
export type BuildTransition = typeof BuildTransition.Type
