/** The definitions in a version's source, as its import found them. templates-and-provisioning.md §4.1, §4.2, §5.1. */
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { ParameterValue, PrebuildPolicy, RichParameter, TemplateVariable } from "../../provisioning/engines/SourceDefinitions.js"

/** A parameter as it is stored with its version. */
export type TemplateVersionParameter = RichParameter

/**
 * Whether prebuilt workspaces of a preset succeed: `hard_limited` after failures in a row, `validation_failed` once a build was refused.
 * templates-and-provisioning.md §5.3.
 */
export type PrebuildStatus = "healthy" | "hard_limited" | "validation_failed"

/** A named set of parameter values. */
export interface TemplateVersionPreset {
  readonly id: Uuid
  readonly template_version_id: Uuid
  /** Unique in the version. */
  readonly name: string
  readonly description: string
  readonly icon: string
  /** At most one of a version. */
  readonly default: boolean
  /** Workspaces to keep ready; null when the template says nothing about it. */
  readonly desired_prebuild_instances: number | null
  readonly prebuild_policy: PrebuildPolicy
  readonly parameters: ReadonlyArray<ParameterValue>
}

/** A variable of the source with the value the import used. */
export interface TemplateVersionVariable extends TemplateVariable {
  readonly value: string
}
