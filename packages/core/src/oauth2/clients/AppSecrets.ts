import { Effect, Option, type Redacted } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import * as Audit from "../../audit/Audit.js"
import { auditedResource, ignored } from "../../audit/AuditedResource.js"
import { Invalid, NotFound } from "../../platform/Errors.js"
import type { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { Ids } from "../../platform/Ids.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { hasSecrets, type OAuth2AppSecret } from "./OAuth2App.js"
import type { OAuth2AppRepository } from "./OAuth2AppRepository.js"
import { newSecret } from "../tokens/OAuthSecret.js"
import * as Traced from "../../platform/wiring/Traced.js"
import { type AppLookup, missing } from "./AppLookup.js"

const missingSecret = new NotFound({ resource: "oauth2_app_secret" })

/** Entries about secrets show that they come and go. */
const secretAudit = auditedResource<OAuth2AppSecret>({
  type: "oauth2_provider_app_secret",
  endsRightsOf: "everyone",
  fields: { id: ignored, app_id: ignored, created_at: ignored, truncated: ignored, last_used_at: ignored }
})

const secretSubject = (action: "create" | "delete", { id, truncated }: OAuth2AppSecret): Audit.Subject<OAuth2AppSecret> => ({
  action,
  resource: secretAudit,
  id,
  target: truncated
})

interface Needs extends Pick<AppLookup, "get">, Pick<DeploymentOptions["Type"], "brand"> {
  readonly repository: OAuth2AppRepository["Type"]
}

/** The secrets of an app, which are shown once. */
export const appSecrets = ({ get, repository, brand }: Needs) => ({
  secrets: Traced.fn("OAuth2Apps.secrets")(function* (appId: Uuid) {
    yield* get(appId)
    yield* Access.authorize("read", AccessObjects.bare("oauth2_app_secret"))
    return yield* repository.secrets(appId)
  }),

  createSecret: Traced.fn("OAuth2Apps.createSecret")(function* (appId: Uuid) {
    const app = yield* get(appId)
    yield* Access.authorize("create", AccessObjects.bare("oauth2_app_secret"))
    if (!hasSecrets(app)) return yield* new Invalid({ message: "The client authenticates without secrets." })
    const { hashedSecret, prefix, text, truncated } = yield* newSecret(brand)
    const secret: OAuth2AppSecret = {
      id: yield* (yield* Ids).next,
      app_id: appId,
      created_at: yield* Timestamp.now,
      truncated,
      last_used_at: null
    }
    const value: { readonly id: Uuid; readonly text: Redacted.Redacted<string> } = { id: secret.id, text }
    return yield* Audit.audited(
      secretSubject("create", secret),
      Effect.gen(function* () {
        if (Option.isNone(yield* repository.lock(appId))) return yield* missing
        yield* repository.insertSecret({ ...secret, hashed_secret: hashedSecret }, prefix)
        return { value }
      })
    )
  }),

  deleteSecret: Traced.fn("OAuth2Apps.deleteSecret")(function* (appId: Uuid, secretId: Uuid) {
    yield* get(appId)
    yield* Access.readable(AccessObjects.bare("oauth2_app_secret"), missingSecret)
    const secret = yield* Effect.flatMap(repository.secret(secretId), (found) =>
      Option.isSome(found) ? Effect.succeed(found.value) : missingSecret
    )
    if (secret.app_id !== appId) return yield* new Invalid({ message: "The secret belongs to another app." })
    yield* Access.authorize("delete", AccessObjects.bare("oauth2_app_secret"))
    yield* Audit.audited(
      secretSubject("delete", secret),
      Effect.flatMap(repository.deleteSecret(secretId), (found) => (found ? Effect.succeed({ value: undefined }) : missingSecret))
    )
  })
})
