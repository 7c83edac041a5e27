import { Effect, Option } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import type { AccessObject } from "../../access/Resource.js"
import { NotFound } from "../../platform/Errors.js"
import { TemplateRepository } from "../TemplateRepository.js"
import type { AuthoredVersion, TemplateVersion, TemplateVersionId } from "./TemplateVersion.js"
import { TemplateVersionRepository } from "./TemplateVersionRepository.js"

export const missingVersion = new NotFound({ resource: "template_version" })

/** Reads versions with the permission check of the actor. Versions of deleted templates are found too. */
export const visibleVersions = Effect.gen(function* () {
  const versions = yield* TemplateVersionRepository
  const templates = yield* TemplateRepository

  /** The object that permissions on a version are checked on: its template, or templates of its organization where it has none. */
  const objectOf = ({ organization_id, template_id }: TemplateVersion): Effect.Effect<AccessObject> =>
    template_id === null
      ? Effect.succeed(AccessObjects.inOrganization("template", organization_id))
      : Effect.map(Effect.flatMap(templates.byId(template_id), Effect.orDie), AccessObjects.template)

  /** Returns the version that was found. Fails with `NotFound` if no version was found, or the actor may not read it. */
  const readable = (found: Option.Option<AuthoredVersion>) =>
    Effect.gen(function* () {
      if (Option.isNone(found)) return yield* missingVersion
      yield* Access.readable(yield* objectOf(found.value), missingVersion)
      return found.value
    })

  return {
    objectOf,
    readable,
    /** As `readable`, by id. */
    load: (id: TemplateVersionId) => Effect.flatMap(versions.byId(id), readable)
  }
})
