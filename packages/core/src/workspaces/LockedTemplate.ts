import { Effect, Option } from "effect"
import type { TemplateWithNames } from "../templates/Template.js"
import type { TemplateRepository } from "../templates/TemplateRepository.js"
import type { Workspace } from "./Workspace.js"

/**
 * Returns the stored template of a workspace, and keeps it from changes until the transaction ends. Call it before the workspace is locked: a
 * change of the template's schedule locks them in this order. A deleted workspace may outlive its template, which is not locked then.
 */
export const lockedTemplate = (
  templates: TemplateRepository["Type"],
  { template_id }: Pick<Workspace, "template_id">
): Effect.Effect<TemplateWithNames> =>
  Effect.gen(function* () {
    const locked = yield* templates.lockShared(template_id)
    return yield* Effect.orDie(Option.isSome(locked) ? locked : yield* templates.byId(template_id))
  })
