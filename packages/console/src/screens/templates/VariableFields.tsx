/** The variables that a source asks for, as fields of a form. */
import type { TemplateVersionVariable } from "@atelier/client"
import * as templateVersions from "@atelier/client/templateVersions"
import { queryOptions } from "@tanstack/react-query"
import { client } from "../../app/client.js"
import { settingsText } from "../../texts/templates.js"
import { Field, Input, SecretInput, Select } from "../../ui/forms/Field.js"

export const variablesQuery = (version: string) =>
  queryOptions({
    queryKey: ["template-versions", version, "variables"],
    queryFn: ({ signal }) => templateVersions.getTemplateVersionVariables(client, { templateversion: version }, { signal })
  })

const fieldOf = (name: string): string => `variable.${name}`

/** The values of a form. A secret that was left empty keeps its value on the server. */
export const givenValues = (variables: ReadonlyArray<TemplateVersionVariable>, form: FormData) =>
  variables.flatMap(({ name, sensitive }) => {
    const value = String(form.get(fieldOf(name)) ?? "")
    return sensitive && value === "" ? [] : [{ name, value }]
  })

const truth = ["true", "false"].map((value) => ({ value, label: value }))

export const VariableFields = ({ variables }: { readonly variables: ReadonlyArray<TemplateVersionVariable> }) =>
  variables.map(({ default_value, description, name, required, sensitive, type, value }) => (
    <Field
      key={name}
      name={fieldOf(name)}
      label={<span className="mono">{name}</span>}
      isOptional={!required}
      hint={
        <>
          {description === "" ? null : <span className="tpl-hint">{description}</span>}
          {sensitive ? (
            <span className="tpl-hint">{settingsText.secretKept}</span>
          ) : default_value === "" ? null : (
            <span className="tpl-hint">{settingsText.variableDefault(default_value)}</span>
          )}
        </>
      }
    >
      {sensitive ? (
        <SecretInput autoComplete="new-password" />
      ) : type === "bool" ? (
        <Select defaultValue={value || default_value || "false"} choices={truth} />
      ) : (
        <Input type={type === "number" ? "number" : "text"} step="any" defaultValue={value} spellCheck={false} />
      )}
    </Field>
  ))
