/** An engine of `template.yaml`: what it does with the workspaces that templates describe. */
import type { Uuid } from "@atelier/core/platform"
import {
  type BuildMetadata,
  type EngineTiming,
  type PlanInput,
  type ProvisionedAgent,
  ProvisionFailure,
  type ResourceMetadata
} from "@atelier/core/provisioning"
import type { Effect, Either } from "effect"
import type { ArchiveFile } from "../engine/Archive.js"
import type { EngineRules } from "../template/EngineRules.js"
import { type Evaluation, type EvaluationFailure } from "../template/Evaluation.js"
import type { Template } from "../template/TemplateSource.js"
import { formatProblems, type Problem } from "../template/YamlSource.js"

/** The result of a build that an engine stores, as far as its sessions need to know it. */
export interface TemplateState {
  readonly workspace_id: Uuid.Uuid
  readonly workspace_build_id: Uuid.Uuid
  /** The build that started the agents, where this one has taken the workspace over as it ran. */
  readonly handed_over_from?: Uuid.Uuid | undefined
  /** Where agents reach the service. */
  readonly access_url: string
  /** The port that the template was given at the start; absent in states of earlier versions. */
  readonly port?: number | undefined
  /** Empty while the workspace is stopped. */
  readonly agents: ReadonlyArray<{ readonly name: string; readonly token: Uuid.Uuid }>
}

/** What a template makes of a workspace, and the port that it was given; 0 for none. */
export interface PlacedEvaluation extends Evaluation {
  readonly port: number
}

/** Reports the progress of an action to the build's log. */
export type Report = (line: string) => Effect.Effect<void>

/** The inputs of a start. */
export interface TemplateStart {
  readonly metadata: BuildMetadata
  readonly evaluation: PlacedEvaluation
  /** The agents of the evaluation that have tokens. */
  readonly agents: ReadonlyArray<{ readonly name: string; readonly token: Uuid.Uuid; readonly agent: ProvisionedAgent }>
  /** The template's files by path. */
  readonly source: ReadonlyMap<string, ArchiveFile>
}

/** The result of a start. */
export interface TemplateStarted<State> {
  readonly state: State
  /** What the workspace's resource shows beside the metadata of the template. */
  readonly metadata?: ReadonlyArray<ResourceMetadata>
  readonly timings?: ReadonlyArray<EngineTiming>
}

/** An action of an engine failed; `state` is the remaining state if the action has changed it. */
export interface TemplateActionFailure<State> {
  readonly message: string
  readonly state?: State | undefined
}

/** The workspaces of an engine, for its sessions. */
export interface TemplateEngine<State extends TemplateState> {
  readonly rules: EngineRules
  /** The type of the one resource that a template makes. */
  readonly resourceType: string
  /** Fails for a state of another engine; undefined before the first build. */
  readonly decode: (state: Uint8Array) => Either.Either<State | undefined, { readonly message: string }>
  readonly encode: (state: State) => Uint8Array
  /** Evaluates the template for this engine's workspaces, with new tokens. `port` is the port of a workspace that runs. */
  readonly evaluated: (template: Template, input: PlanInput, port?: number) => Effect.Effect<PlacedEvaluation, ProvisionFailure>
  /** The port of a workspace that is started; undefined for the usual one. Absent where `evaluated` finds it. */
  readonly portFor?: (workspaceId: Uuid.Uuid) => Effect.Effect<number | undefined, TemplateActionFailure<State>>
  /** Starts a workspace, after ending what runs of it. Failed or interrupted, it leaves the workspace stopped. */
  readonly start: (
    input: TemplateStart,
    previous: State | undefined,
    report: Report
  ) => Effect.Effect<TemplateStarted<State>, TemplateActionFailure<State>>
  /** Ends what runs of a workspace. Doing it twice is fine. */
  readonly stop: (
    metadata: BuildMetadata,
    previous: State | undefined,
    report: Report
  ) => Effect.Effect<State, TemplateActionFailure<State>>
  /**
   * Ends what runs of a workspace, and removes its files. Without the state of a workspace that has run, as when it is orphaned, the files stay, unless
   * the service never learned of its start (`unfinished`). Doing it twice is fine.
   */
  readonly remove: (
    workspaceId: Uuid.Uuid,
    previous: State | undefined,
    report: Report,
    unfinished: boolean | undefined
  ) => Effect.Effect<void, TemplateActionFailure<State>>
  /** Whether a workspace runs here by the build whose state this is. */
  readonly runs: (state: State) => Effect.Effect<boolean>
  /** Takes over the state of a workspace that was handed over as it runs. */
  readonly adopt: (before: State, state: State) => Effect.Effect<void, TemplateActionFailure<State>>
}

export const refusal = (problems: ReadonlyArray<Problem>) => new ProvisionFailure({ message: formatProblems(problems) })

export const evaluationFailure = (failure: EvaluationFailure): ProvisionFailure =>
  failure._tag === "Problems"
    ? refusal(failure.problems)
    : new ProvisionFailure({
        message: `required template variables have no value: ${failure.names.join(", ")}`,
        code: "REQUIRED_TEMPLATE_VARIABLES"
      })
