/** The values that a parameter's type allows. templates-and-provisioning.md §4.2, §4.3. */
import type { FormType, ParameterType } from "@atelier/core/provisioning"
import { parameterValueViolation } from "@atelier/core/templates"

/** Without options, with options; the first is the default. */
const formTypes: Readonly<Record<ParameterType, readonly [plain: readonly [FormType, FormType], options: readonly [FormType, FormType]]>> =
  {
    string: [
      ["input", "textarea"],
      ["radio", "dropdown"]
    ],
    number: [
      ["input", "slider"],
      ["radio", "dropdown"]
    ],
    bool: [
      ["checkbox", "switch"],
      ["radio", "dropdown"]
    ],
    "list(string)": [
      ["tag-select", "tag-select"],
      ["radio", "multi-select"]
    ]
  }

/** The form types a parameter may have; the first is the one it has when it names none. */
export const allowedFormTypes = (type: ParameterType, hasOptions: boolean): readonly [FormType, FormType] =>
  formTypes[type][hasOptions ? 1 : 0]

/** Why the text is not a value of the type. */
export const typeProblem = (type: ParameterType, value: string): string | undefined =>
  parameterValueViolation(
    {
      type,
      form_type: "input",
      options: [],
      validation_regex: "",
      validation_error: "",
      validation_min: null,
      validation_max: null,
      validation_monotonic: ""
    },
    value,
    undefined
  )
