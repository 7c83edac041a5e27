/** What a parameter's type allows: form types, and texts that are values of it. templates-and-provisioning.md §4.2, §4.3. */
import type { FormType, ParameterType } from "@atelier/core/provisioning"
import { Either } from "effect"

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

/** The elements of a list's JSON text, or undefined when it is none. */
export const listElements = (value: string): ReadonlyArray<string> | undefined => {
  const parsed = Either.try((): unknown => JSON.parse(value))
  if (Either.isLeft(parsed) || !Array.isArray(parsed.right)) return undefined
  const elements: ReadonlyArray<unknown> = parsed.right
  return elements.every((element) => typeof element === "string") ? elements : undefined
}

/** Why the text is no value of the type. */
export const typeProblem = (type: ParameterType, value: string): string | undefined => {
  switch (type) {
    case "string":
      return undefined
    case "number":
      return /^-?\d{1,15}$/.test(value) ? undefined : `${JSON.stringify(value)} is no whole number`
    case "bool":
      return value === "true" || value === "false" ? undefined : `${JSON.stringify(value)} is neither true nor false`
    case "list(string)":
      return listElements(value) === undefined ? `${JSON.stringify(value)} is no list of texts` : undefined
  }
}
