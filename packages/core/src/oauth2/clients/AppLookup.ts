import { Effect, Option } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { NotFound } from "../../platform/Errors.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { OAuth2AppRepository } from "./OAuth2AppRepository.js"

export const missing = new NotFound({ resource: "oauth2_app" })

interface Needs {
  readonly repository: OAuth2AppRepository["Type"]
}

/** How an actor finds an app. */
export const appLookup = ({ repository }: Needs) => {
  const get = (id: Uuid) =>
    Effect.flatMap(repository.byId(id), (found) => Access.visible(Option.getOrNull(found), () => AccessObjects.bare("oauth2_app"), missing))

  return { get }
}

/** The result of {@link appLookup}. */
export type AppLookup = ReturnType<typeof appLookup>
