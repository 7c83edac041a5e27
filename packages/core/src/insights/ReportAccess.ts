import { Effect, Option } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import type { DeploymentOptions } from "../deployment/options/DeploymentOptions.js"
import { NotFound } from "../platform/Errors.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import type { TemplateRepository } from "../templates/TemplateRepository.js"

const off = new NotFound({ resource: "insights", message: "Usage statistics are turned off, so there are no insights." })

interface Needs {
  readonly options: DeploymentOptions["Type"]
  readonly templates: TemplateRepository["Type"]
}

/** The right to see reports, and whether statistics are collected for them. */
export const reportAccess = ({ options, templates }: Needs) => {
  const requireStatistics = options.statsCollectionUsageStatsEnable ? Effect.void : off

  /** Fails with `NotFound` unless the actor may see insights of all templates, or of each that is named. §C3. */
  const authorizeTemplates = (ids: ReadonlyArray<Uuid>) =>
    Effect.gen(function* () {
      if (yield* Access.can("view_insights", AccessObjects.bare("template"))) return
      if (ids.length === 0) return yield* new NotFound({ resource: "template" })
      for (const id of ids) {
        const template = Option.getOrUndefined(yield* templates.byId(id))
        if (template === undefined) return yield* new NotFound({ resource: "template" })
        yield* Access.authorizeOrHide("view_insights", AccessObjects.template(template))
      }
    })

  return { requireStatistics, authorizeTemplates }
}

/** The result of {@link reportAccess}. */
export type ReportAccess = ReturnType<typeof reportAccess>
