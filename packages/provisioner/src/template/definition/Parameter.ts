/** The values of a template: its variables, its parameters, and presets of parameters. templates-and-provisioning.md §4.1–4.3, §5. */
import { compilePattern } from "@atelier/core/platform"
import { scheduleViolation } from "@atelier/core/provisioning"
import { Schema } from "effect"
import {
  flag,
  Identifier,
  integer,
  list,
  maximumInteger,
  must,
  oneOf,
  optional,
  order,
  orElse,
  plain,
  Text,
  text,
  Value,
  when
} from "./Field.js"

const ValueType = oneOf("string", "number", "bool", "list(string)")

export const Variable = Schema.Struct({
  name: Identifier,
  description: optional(plain(4096)),
  type: orElse(ValueType, "string"),
  /** Absent makes the variable required. */
  default: optional(Value),
  sensitive: flag(false)
})

const ParameterOption = Schema.Struct({ name: Text, value: Value, description: text, icon: text, when })

/** How a client shows the control of a parameter. */
const Styling = Schema.Struct({
  placeholder: text,
  label: text,
  disabled: optional(Schema.Boolean.annotations(must("true or false"))),
  mask_input: optional(Schema.Boolean.annotations(must("true or false")))
})

const Pattern = plain(4096).pipe(
  Schema.filter((source) => {
    const pattern = compilePattern(source)
    return typeof pattern === "string" ? `cannot be used: ${pattern}` : undefined
  })
)

const Validation = Schema.Struct({
  regex: optional(Pattern),
  min: optional(integer(-maximumInteger - 1)),
  max: optional(integer(-maximumInteger - 1)),
  monotonic: optional(oneOf("increasing", "decreasing")),
  error: optional(plain(4096))
}).pipe(
  Schema.filter(({ error, max, min, monotonic, regex }) => {
    if (regex !== undefined && (min ?? max ?? monotonic) !== undefined)
      return { path: ["regex"], message: "excludes min, max and monotonic" }
    if (regex !== undefined && error === undefined) return { path: ["regex"], message: 'needs an "error" that says what is expected' }
    if (min !== undefined && max !== undefined && min > max) return { path: ["min"], message: `must not be above max, ${max}` }
    return undefined
  })
)

export const Parameter = Schema.Struct({
  name: Identifier,
  display_name: text,
  description: text,
  type: orElse(ValueType, "string"),
  /** Absent takes the first of the type's. */
  form_type: optional(oneOf("radio", "dropdown", "input", "textarea", "slider", "checkbox", "switch", "tag-select", "multi-select")),
  mutable: flag(false),
  ephemeral: flag(false),
  /** Absent makes the parameter required. */
  default: optional(Value),
  icon: text,
  options: list(ParameterOption, 256),
  validation: optional(Validation),
  styling: optional(Styling),
  order,
  when
}).pipe(
  Schema.filter(({ default: value, ephemeral, mutable }) => {
    if (ephemeral && !mutable) return { path: ["ephemeral"], message: "needs mutable: true" }
    if (ephemeral && value === undefined) return { path: ["ephemeral"], message: "needs a default" }
    return undefined
  })
)
export type Parameter = typeof Parameter.Type

const Prebuilds = Schema.Struct({
  instances: integer(0, 1000),
  expiration_policy: optional(
    Schema.Struct({
      ttl: Schema.Number.pipe(
        Schema.filter((ttl) =>
          ttl === 0 || (Number.isInteger(ttl) && ttl >= 3_600 && ttl <= 31_536_000)
            ? undefined
            : "must be 0, or seconds from an hour to a year"
        )
      )
    })
  ),
  scheduling: optional(
    Schema.Struct({
      timezone: plain(64),
      schedule: list(Schema.Struct({ cron: plain(256), instances: integer(0, 1000) }), 100)
    })
  )
}).pipe(
  Schema.filter(({ scheduling }) => {
    const violation = scheduling === undefined ? undefined : scheduleViolation({ ttl_seconds: 0, ...scheduling })
    return violation === undefined ? undefined : { path: ["scheduling"], message: violation }
  })
)

export const Preset = Schema.Struct({
  name: plain(256),
  description: optional(plain(128)),
  icon: optional(plain(256)),
  default: flag(false),
  parameters: orElse(Schema.Record({ key: Schema.String, value: Value }), {}),
  prebuilds: optional(Prebuilds)
})
