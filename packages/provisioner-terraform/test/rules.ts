/** Templates of one rule each, and what Terraform 1.11.4 with the provider 2.19.0 and the recorded service made of them. */
import { Schema } from "effect"
import { readFileSync } from "node:fs"

const texts = Schema.Record({ key: Schema.String, value: Schema.String })

export class Rule extends Schema.Class<Rule>("Rule")({
  name: Schema.String,
  template: Schema.String,
  /** The values of its parameters. */
  inputs: Schema.optionalWith(texts, { default: () => ({}) }),
  /** Those of the build before. */
  previous: Schema.optional(texts),
  /** The command of Terraform that failed with these values. */
  refused_by: Schema.optional(Schema.Literal("validate", "plan", "apply")),
  /** What the provider reports; an empty text reads back as null. */
  value: Schema.optional(Schema.NullOr(Schema.String)),
  form_type: Schema.optional(Schema.NullOr(Schema.String)),
  /** What became of the import, which has no values; a version that was `refused` has none. */
  import: Schema.Literal("succeeded", "failed", "refused"),
  /** The first lines of the errors in its log. */
  errors: Schema.optionalWith(Schema.Array(Schema.String), { default: () => [] }),
  /** The parameters that it found, without what has its usual value. */
  parameters: Schema.optionalWith(Schema.Array(Schema.Record({ key: Schema.String, value: Schema.Unknown })), { default: () => [] }),
  /** Why a form says something else than Terraform. */
  differs: Schema.optional(Schema.String),
  /** Why an import or a build ends otherwise than recorded, which is what is expected here. */
  decided: Schema.optional(Schema.String),
  /** What becomes of a build with the values, if it is not what Terraform made of them; none can be made if the former values are refused. */
  build: Schema.optional(Schema.Literal("succeeded", "failed", "refused", "none"))
}) {}

export const rules: ReadonlyArray<Rule> = Schema.decodeUnknownSync(Schema.parseJson(Schema.Array(Rule)))(
  readFileSync(new URL("recordings/rules.json", import.meta.url), "utf8")
)
