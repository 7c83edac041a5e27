/** The JSON of `terraform show`: plans and states. terraform.md §2, §4 nos. 3, 4. */
import type { ResourceReplacement } from "@atelier/core/provisioning"
import { Data, Either, Schema } from "effect"
import { type Place, placeOf } from "./Address.js"

const Values = Schema.Record({ key: Schema.String, value: Schema.Unknown })

const Resource = Schema.Struct({
  address: Schema.String,
  mode: Schema.Literal("managed", "data"),
  type: Schema.String,
  name: Schema.String,
  /** Absent if nothing is known of the instance; values that are not known are absent in it. */
  values: Schema.optional(Values)
})

interface Module {
  readonly resources?: ReadonlyArray<typeof Resource.Type> | undefined
  readonly child_modules?: ReadonlyArray<Module> | undefined
}
const Module: Schema.Schema<Module> = Schema.Struct({
  resources: Schema.optional(Schema.Array(Resource)),
  child_modules: Schema.optional(Schema.Array(Schema.suspend(() => Module)))
})

const StateValues = Schema.Struct({ root_module: Schema.optional(Module) })

/** What an expression refers to: `{references: […]}`, or the same for each block of a list. */
const Expressions = Schema.Record({ key: Schema.String, value: Schema.Unknown })

export interface ConfiguredModule {
  readonly resources?: ReadonlyArray<typeof ConfiguredResource.Type> | undefined
  readonly outputs?: Readonly<Record<string, { readonly expression?: unknown }>> | undefined
  readonly module_calls?: Readonly<Record<string, typeof ModuleCall.Type>> | undefined
}
const ConfiguredResource = Schema.Struct({
  /** Relative to its module. */
  address: Schema.String,
  expressions: Schema.optional(Expressions),
  for_each_expression: Schema.optional(Schema.Unknown)
})
const ConfiguredModule: Schema.Schema<ConfiguredModule> = Schema.Struct({
  resources: Schema.optional(Schema.Array(ConfiguredResource)),
  outputs: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.Struct({ expression: Schema.optional(Schema.Unknown) }) })),
  module_calls: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.suspend(() => ModuleCall) }))
})
interface ModuleCall {
  readonly expressions?: typeof Expressions.Type | undefined
  readonly for_each_expression?: unknown
  readonly module?: ConfiguredModule | undefined
}
const ModuleCall: Schema.Schema<ModuleCall> = Schema.Struct({
  expressions: Schema.optional(Expressions),
  for_each_expression: Schema.optional(Schema.Unknown),
  module: Schema.optional(ConfiguredModule)
})

/** What becomes of a resource; two actions replace it. Paths are absent where another resource is the reason. */
const ResourceChange = Schema.Struct({
  address: Schema.String,
  type: Schema.String,
  change: Schema.Struct({
    actions: Schema.Array(Schema.String),
    replace_paths: Schema.optional(Schema.Array(Schema.Array(Schema.Union(Schema.String, Schema.Number))))
  })
})

/** A plan as far as it is read. Empty parts are absent. */
export const PlanDocument = Schema.Struct({
  planned_values: Schema.optional(StateValues),
  prior_state: Schema.optional(Schema.Struct({ values: Schema.optional(StateValues) })),
  configuration: Schema.optional(Schema.Struct({ root_module: Schema.optional(ConfiguredModule) })),
  resource_changes: Schema.optional(Schema.Array(ResourceChange))
})
export interface PlanDocument extends Schema.Schema.Type<typeof PlanDocument> {}

/** The resources that the plan makes anew. Those of the Coder provider describe the workspace: nothing is lost with them. */
export const planReplacements = ({ resource_changes = [] }: PlanDocument): ReadonlyArray<ResourceReplacement> =>
  resource_changes.flatMap(({ address, change: { actions, replace_paths = [] }, type }) =>
    actions.length > 1 && !type.startsWith("coder_") ? [{ resource: address, paths: replace_paths.map((path) => path.join(".")) }] : []
  )

/** A state as far as it is read; one without resources has no `values`. */
export const StateDocument = Schema.Struct({ values: Schema.optional(StateValues) })
export interface StateDocument extends Schema.Schema.Type<typeof StateDocument> {}

/** An instance of a resource or data source. */
export interface Instance extends Place {
  readonly address: string
  readonly mode: "managed" | "data"
  readonly type: string
  /** Of its block. */
  readonly name: string
  /** Values that are not known yet are absent. */
  readonly values: Readonly<Record<string, unknown>>
}

const instancesOf = (module: Module | undefined): ReadonlyArray<Instance> => {
  if (module === undefined) return []
  const own = (module.resources ?? []).map(({ address, mode, name, type, values = {} }): Instance => ({
    ...placeOf(address),
    address,
    mode,
    type,
    name,
    values
  }))
  return [...own, ...(module.child_modules ?? []).flatMap(instancesOf)]
}

/** The planned instances, and the data sources that were read while planning. */
export const planInstances = ({ planned_values, prior_state }: PlanDocument): ReadonlyArray<Instance> => {
  const planned = instancesOf(planned_values?.root_module)
  const read = instancesOf(prior_state?.values?.root_module).filter(({ mode }) => mode === "data")
  const addresses = new Set(read.map(({ address }) => address))
  // Data sources that are read during the apply are planned, with few of their values
  return [...read, ...planned.filter(({ address }) => !addresses.has(address))]
}

export const stateInstances = ({ values }: StateDocument): ReadonlyArray<Instance> => instancesOf(values?.root_module)

/** The output of Terraform is not as expected, or describes what no workspace can be made of. `message` is for the author of the template. */
export class ReadFailure extends Data.TaggedError("ReadFailure")<{ readonly message: string }> {}

/** A text; empty where it is null or not known. */
export const Text = Schema.optionalWith(Schema.String, { nullable: true, default: () => "" })
export const Flag = Schema.optionalWith(Schema.Boolean, { nullable: true, default: () => false })
export const Count = Schema.optionalWith(Schema.Number, { nullable: true, default: () => 0 })
/** Blocks of one kind: null without any. */
export const blocks = <A, I>(block: Schema.Schema<A, I>) =>
  Schema.optionalWith(Schema.Array(block), { nullable: true, default: (): ReadonlyArray<A> => [] })
/** A map of texts; those that are null or not known are left out. */
export const Texts = Schema.optionalWith(Schema.Record({ key: Schema.String, value: Schema.NullOr(Schema.String) }), {
  nullable: true,
  default: () => ({})
})

export const withoutNulls = (texts: Readonly<Record<string, string | null>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(texts).flatMap(([key, text]) => (text === null ? [] : [[key, text]])))

/** Reads an instance's values. Fails where the provider's schema is another than the one known here. */
export const read = <A, I>(schema: Schema.Schema<A, I>, { address, values }: Instance): Either.Either<A, ReadFailure> =>
  Either.mapLeft(
    Schema.decodeUnknownEither(schema)(values),
    ({ message }) => new ReadFailure({ message: `${address} has values that this server cannot read: ${message}` })
  )
