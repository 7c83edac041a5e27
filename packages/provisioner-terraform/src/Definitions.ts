/** The parameters, presets, tags and external providers of a planned template. templates-and-provisioning.md §4.2, §5.1, §10.2. */
import type { ExternalAuthRequirement, ParameterValue, Preset, RichParameter } from "@atelier/core/provisioning"
import { Either, Schema } from "effect"
import { blocks, Count, Flag, type Instance, read, type ReadFailure, Text, Texts, withoutNulls } from "./Document.js"

type Reading<A> = Either.Either<A, ReadFailure>

const Presence = Schema.optionalWith(Schema.Boolean, { nullable: true, default: () => true })

const ParameterValues = Schema.Struct({
  name: Text,
  display_name: Text,
  description: Text,
  type: Schema.optionalWith(Schema.Literal("string", "number", "bool", "list(string)"), {
    nullable: true,
    default: () => "string" as const
  }),
  form_type: Schema.optionalWith(
    Schema.Literal("radio", "dropdown", "input", "textarea", "slider", "checkbox", "switch", "tag-select", "multi-select", "error"),
    { nullable: true, default: () => "input" as const }
  ),
  mutable: Flag,
  ephemeral: Flag,
  /** The only sign of a default: an empty default reads back as null. */
  optional: Flag,
  default: Text,
  icon: Text,
  order: Count,
  option: blocks(Schema.Struct({ name: Text, description: Text, value: Text, icon: Text })),
  validation: blocks(
    Schema.Struct({
      regex: Text,
      error: Text,
      min: Count,
      min_disabled: Presence,
      max: Count,
      max_disabled: Presence,
      monotonic: Schema.optionalWith(Schema.Literal("", "increasing", "decreasing"), { nullable: true, default: () => "" as const })
    })
  )
})

const parameterOf = (instance: Instance): Reading<RichParameter> =>
  Either.map(read(ParameterValues, instance), ({ default: default_value, option, optional, validation: [rule], ...parameter }) => ({
    ...parameter,
    required: !optional,
    default_value,
    options: option,
    validation_regex: rule?.regex ?? "",
    validation_error: rule?.error ?? "",
    validation_min: rule === undefined || rule.min_disabled ? null : rule.min,
    validation_max: rule === undefined || rule.max_disabled ? null : rule.max,
    validation_monotonic: rule?.monotonic ?? ""
  }))

const PresetValues = Schema.Struct({
  name: Text,
  description: Text,
  icon: Text,
  default: Flag,
  parameters: Texts,
  prebuilds: blocks(
    Schema.Struct({
      instances: Count,
      expiration_policy: blocks(Schema.Struct({ ttl: Count })),
      scheduling: blocks(Schema.Struct({ timezone: Text, schedule: blocks(Schema.Struct({ cron: Text, instances: Count })) }))
    })
  )
})

const presetOf = (instance: Instance): Reading<Preset> =>
  Either.map(read(PresetValues, instance), ({ parameters, prebuilds: [prebuilds], ...preset }) => {
    const {
      expiration_policy: [expiration],
      scheduling: [scheduling]
    } = prebuilds ?? { expiration_policy: [], scheduling: [] }
    return {
      ...preset,
      parameters: Object.entries(withoutNulls(parameters)).map(([name, value]): ParameterValue => ({ name, value })),
      desired_prebuild_instances: prebuilds?.instances ?? null,
      prebuild_policy: {
        ttl_seconds: expiration?.ttl ?? 0,
        timezone: scheduling?.timezone ?? "",
        schedule: scheduling?.schedule ?? []
      }
    }
  })

const externalAuthOf = (instance: Instance): Reading<ExternalAuthRequirement> => read(Schema.Struct({ id: Text, optional: Flag }), instance)

const tagsOf = (instance: Instance): Reading<Readonly<Record<string, string>>> =>
  Either.map(read(Schema.Struct({ tags: Texts }), instance), ({ tags }) => withoutNulls(tags))

/** What the data sources of a plan define. */
export interface Definitions {
  readonly parameters: ReadonlyArray<RichParameter>
  readonly presets: ReadonlyArray<Preset>
  readonly external_auth_providers: ReadonlyArray<ExternalAuthRequirement>
  readonly workspace_tags: Readonly<Record<string, string>>
}

/** Returns the definitions in the order of their addresses. */
export const readDefinitions = (instances: ReadonlyArray<Instance>): Reading<Definitions> => {
  const all = <A>(type: string, reader: (instance: Instance) => Reading<A>) =>
    Either.all(instances.filter((instance) => instance.mode === "data" && instance.type === type).map(reader))
  return Either.all({
    parameters: all("coder_parameter", parameterOf),
    presets: all("coder_workspace_preset", presetOf),
    external_auth_providers: all("coder_external_auth", externalAuthOf),
    workspace_tags: Either.map(all("coder_workspace_tags", tagsOf), (tags) => Object.assign({}, ...tags) as Record<string, string>)
  })
}
