/**
 * The form that asks a user for the values of a template's parameters, as it stands for the values given so far.
 * templates-and-provisioning.md §4.6.
 */
import { Schema } from "effect"
import * as Numbers from "../../platform/Numbers.js"

/** Codes that clients act on; most diagnostics have none. */
export const DiagnosticCode = Schema.Literal("", "required", "owner_not_found", "module_not_loaded")
export type DiagnosticCode = typeof DiagnosticCode.Type

/** What is wrong with a value, a parameter or the whole form. An error keeps a workspace from being built with these values. */
export const Diagnostic = Schema.Struct({
  severity: Schema.Literal("error", "warning"),
  summary: Schema.String,
  detail: Schema.String,
  extra: Schema.Struct({ code: DiagnosticCode })
})
export interface Diagnostic extends Schema.Schema.Type<typeof Diagnostic> {}

/** A text, and whether it is one: a value that is missing or unknown is not valid. */
export const FormValue = Schema.Struct({ value: Schema.String, valid: Schema.Boolean })
export interface FormValue extends Schema.Schema.Type<typeof FormValue> {}

export const FormOption = Schema.Struct({
  name: Schema.String,
  description: Schema.String,
  value: FormValue,
  icon: Schema.String
})
export interface FormOption extends Schema.Schema.Type<typeof FormOption> {}

/** A rule for values; null where it says nothing. */
export const FormValidation = Schema.Struct({
  validation_error: Schema.String,
  validation_regex: Schema.NullOr(Schema.String),
  validation_min: Schema.NullOr(Numbers.Integer),
  validation_max: Schema.NullOr(Numbers.Integer),
  validation_monotonic: Schema.NullOr(Schema.String)
})
export interface FormValidation extends Schema.Schema.Type<typeof FormValidation> {}

/** How the control of a parameter looks; absent keys leave it to the client. */
export const FormStyling = Schema.Struct({
  placeholder: Schema.optional(Schema.String),
  disabled: Schema.optional(Schema.Boolean),
  label: Schema.optional(Schema.String),
  /** Hides what is typed. */
  mask_input: Schema.optional(Schema.Boolean)
})
export interface FormStyling extends Schema.Schema.Type<typeof FormStyling> {}

export const FormParameter = Schema.Struct({
  name: Schema.String,
  display_name: Schema.String,
  description: Schema.String,
  type: Schema.Literal("string", "number", "bool", "list(string)"),
  form_type: Schema.Literal(
    "",
    "radio",
    "slider",
    "input",
    "dropdown",
    "checkbox",
    "switch",
    "multi-select",
    "tag-select",
    "textarea",
    "error"
  ),
  styling: FormStyling,
  mutable: Schema.Boolean,
  default_value: FormValue,
  icon: Schema.String,
  options: Schema.Array(FormOption),
  validations: Schema.Array(FormValidation),
  required: Schema.Boolean,
  order: Numbers.Integer,
  ephemeral: Schema.Boolean,
  /** What was given, else the default. */
  value: FormValue,
  diagnostics: Schema.Array(Diagnostic)
})
export interface FormParameter extends Schema.Schema.Type<typeof FormParameter> {}

export interface ParameterForm {
  /** What concerns the form as a whole. */
  readonly diagnostics: ReadonlyArray<Diagnostic>
  /** In the order they are shown. */
  readonly parameters: ReadonlyArray<FormParameter>
}

export const errorDiagnostic = (summary: string, detail: string, code: DiagnosticCode = ""): Diagnostic => ({
  severity: "error",
  summary,
  detail,
  extra: { code }
})
