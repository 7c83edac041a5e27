/** What plans and states of Terraform say of workspaces. Pure. templates-and-provisioning.md §10. */
import { Uuid } from "@atelier/core/platform"
import type { Applied, Plan, ResourceReplacement } from "@atelier/core/provisioning"
import { Either, Option, Schema } from "effect"
import { readDefinitions } from "./Definitions.js"
import {
  type Instance,
  PlanDocument,
  planInstances,
  planReplacements,
  read,
  ReadFailure,
  StateDocument,
  stateInstances,
  Text,
  blocks
} from "./Document.js"
import { parseGraph } from "./Graph.js"
import { dailyCost, readResources } from "./Resources.js"

/** A token for an agent whose own is not known before the apply, by the address of the agent. */
export type SpareToken = (address: string) => Uuid.Uuid

export interface ReadPlan extends Required<Omit<Plan, "workspace_tags" | "timings">> {
  readonly workspace_tags: Readonly<Record<string, string>>
  /** How many tasks the template's workspaces would work on; more than one cannot be built. */
  readonly ai_tasks: number
  readonly replacements: ReadonlyArray<ResourceReplacement>
}

const document = <A, I>(schema: Schema.Schema<A, I>, what: string, json: unknown): Either.Either<A, ReadFailure> =>
  Either.mapLeft(
    Schema.decodeUnknownEither(schema)(json),
    ({ message }) => new ReadFailure({ message: `Terraform showed a ${what} that this server cannot read: ${message}` })
  )

const tasksOf = (instances: ReadonlyArray<Instance>): ReadonlyArray<Instance> => instances.filter(({ type }) => type === "coder_ai_task")

/** A stop leaves out what only a start has, although the template declares it. */
const hasExternalAgent = (instances: ReadonlyArray<Instance>): boolean => instances.some(({ type }) => type === "coder_external_agent")

/** Reads the JSON of `terraform show` for a plan, and the graph of the same configuration. */
export const readPlan = (json: unknown, dot: string, token: SpareToken): Either.Either<ReadPlan, ReadFailure> =>
  Either.gen(function* () {
    const plan = yield* document(PlanDocument, "plan", json)
    const attached = { instances: planInstances(plan), graph: parseGraph(dot), configuration: plan.configuration?.root_module }
    const tasks = tasksOf(attached.instances)
    return {
      ...(yield* readDefinitions(attached.instances)),
      resources: yield* readResources(attached, token),
      daily_cost: dailyCost(attached),
      has_ai_task: tasks.length > 0,
      ai_tasks: tasks.length,
      replacements: planReplacements(plan),
      has_external_agent: hasExternalAgent(attached.instances)
    }
  })

const TaskValues = Schema.Struct({ app_id: Text, sidebar_app: blocks(Schema.Struct({ id: Text })) })

/** Reads the JSON of `terraform show` for the state after an apply, and the graph of the same configuration. */
export const readState = (json: unknown, dot: string, token: SpareToken): Either.Either<Omit<Applied, "state">, ReadFailure> =>
  Either.gen(function* () {
    const attached = {
      instances: stateInstances(yield* document(StateDocument, "state", json)),
      graph: parseGraph(dot),
      configuration: undefined
    }
    const [task] = tasksOf(attached.instances)
    const {
      app_id,
      sidebar_app: [app]
    } = task === undefined ? { app_id: "", sidebar_app: [] } : yield* read(TaskValues, task)
    return {
      resources: yield* readResources(attached, token),
      task_app_id: Option.getOrUndefined(Schema.decodeUnknownOption(Uuid.Uuid)(app_id || app?.id))
    }
  })
