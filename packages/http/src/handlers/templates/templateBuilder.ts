import { TemplateBuilder, type BuilderVariable } from "@atelier/core/templates"
import { Effect } from "effect"
import * as contract from "../../contract/templates/templateBuilder.js"
import * as Handlers from "../Handlers.js"

/** Variables that callers can set or are asked for. */
const shown = (variables: ReadonlyArray<BuilderVariable>) =>
  variables
    .filter(({ computed }) => computed === undefined)
    .map(({ default: value, description, name, sensitive = false, type }) => ({
      name,
      type,
      description,
      ...(value === undefined ? {} : { default: value }),
      required: value === undefined,
      sensitive
    }))

export const templateBuilder = Handlers.group(contract.templateBuilder, (handlers) =>
  Effect.map(TemplateBuilder, (builder) =>
    handlers
      .handle("listTemplateBuilderBases", () =>
        Effect.map(builder.bases(), (bases) => ({ bases: bases.map((base) => ({ ...base, variables: shown(base.variables) })) }))
      )
      .handle("listTemplateBuilderModules", ({ urlParams }) =>
        Effect.map(builder.modules(urlParams.base), (modules) => ({
          modules: modules.map((module) => ({ ...module, variables: shown(module.variables) }))
        }))
      )
      .handle("composeTemplate", ({ payload }) => builder.compose(payload))
      .handle("createComposedTemplate", ({ payload }) => Effect.map(builder.create(payload), (template) => ({ template })))
      .handle("recordTemplateBuilderSession", ({ payload }) => builder.record(payload))
  )
)
