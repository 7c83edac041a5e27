import { Effect, Option } from "effect"
import type { Organizations } from "../../organizations/Organizations.js"
import { Invalid } from "../../platform/Errors.js"
import type { Page } from "../../platform/lists/Pagination.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { TemplateRepository } from "../TemplateRepository.js"
import type { TemplateVersionId } from "./TemplateVersion.js"
import type { TemplateVersionRepository } from "./TemplateVersionRepository.js"
import { visibleTemplate } from "../VisibleTemplate.js"
import type { visibleVersions } from "./VisibleVersion.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { VersionAccess } from "./VersionAccess.js"

interface Needs
  extends
    Pick<Effect.Effect.Success<typeof visibleVersions>, "readable" | "load">,
    Pick<VersionAccess, "viewOf" | "liveTemplate" | "viewsOf"> {
  readonly organizations: Organizations["Type"]
  readonly templates: TemplateRepository["Type"]
  readonly repository: TemplateVersionRepository["Type"]
}

/** Versions by id, by name, and in a page of their template. */
export const versionReads = ({ organizations, templates, readable, repository, viewOf, load, liveTemplate, viewsOf }: Needs) => {
  /** A version that the actor may read, by the names of its template and of itself. */
  const named = (organization: string, templateName: string, name: string) =>
    Effect.gen(function* () {
      const { id } = yield* organizations.get(organization)
      const template = yield* Effect.flatMap(templates.byName(id, templateName), visibleTemplate)
      return yield* readable(yield* repository.byName(template.id, name))
    })

  return {
    get: Traced.fn("TemplateVersions.get")(function* (id: TemplateVersionId) {
      return yield* viewOf(yield* load(id))
    }),

    getByName: Traced.fn("TemplateVersions.getByName")(function* (templateId: Uuid, name: string) {
      const template = yield* liveTemplate(templateId)
      return yield* viewOf(yield* readable(yield* repository.byName(template.id, name)))
    }),

    getByNames: Traced.fn("TemplateVersions.getByNames")(function* (organization: string, templateName: string, name: string) {
      return yield* viewOf(yield* named(organization, templateName, name))
    }),

    previous: Traced.fn("TemplateVersions.previous")(function* (organization: string, templateName: string, name: string) {
      const version = yield* named(organization, templateName, name)
      const previous = yield* repository.previous(version)
      return yield* Effect.transposeMapOption(previous, viewOf)
    }),

    list: Traced.fn("TemplateVersions.list")(function* (
      templateId: Uuid,
      { include_archived, ...page }: Page & { readonly include_archived: boolean }
    ) {
      const template = yield* liveTemplate(templateId)
      const versions = yield* repository.list(template.id, page, include_archived)
      if (Option.isNone(versions)) return yield* Invalid.field("after_id", "names no template version")
      return yield* viewsOf(versions.value)
    })
  }
}
