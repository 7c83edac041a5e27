import { Context, Effect, Option, type Redacted } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import * as Audit from "../../audit/Audit.js"
import { audited, auditedResource } from "../../audit/AuditedResource.js"
import { appAudit, auditedApp } from "./OAuth2AppAudit.js"
import { pictureViolation } from "../../platform/texts/Address.js"
import { type Invalid, type NotFound, refuseViolations, validationsOf, type Forbidden } from "../../platform/Errors.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { Ids } from "../../platform/Ids.js"
import * as Name from "../../platform/texts/Name.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { nil, type Uuid } from "../../platform/texts/Uuid.js"
import { grantTypes, type OAuth2App, type OAuth2AppSecret, responseTypes } from "./OAuth2App.js"
import { OAuth2AppRepository } from "./OAuth2AppRepository.js"
import { redirectUriViolation } from "./RedirectUri.js"
import * as Traced from "../../platform/wiring/Traced.js"
import { service } from "../../platform/wiring/Standing.js"
import type { CurrentActor } from "../../access/actors/Actor.js"
import type { Auditing } from "../../audit/Audit.js"
import type { Cryptography } from "../../platform/secrets/Cryptography.js"
import { missing, appLookup } from "./AppLookup.js"
import { appSecrets } from "./AppSecrets.js"

/** An app as an administrator writes it. */
export interface AppRequest {
  readonly name: string
  readonly callback_url: string
  readonly icon: string
}

const maximumIcon = 256

const refuseViolating = ({ callback_url, icon, name }: AppRequest) =>
  refuseViolations(
    validationsOf({
      name: Name.violation(name),
      callback_url: callback_url === "" ? "is required" : redirectUriViolation(callback_url, "confidential", true),
      icon: pictureViolation(icon, maximumIcon)
    })
  )

const settingsAudit = auditedResource<{ readonly dynamic_client_registration_enabled: boolean }>({
  type: "oauth2_provider_settings",
  endsRightsOf: "none",
  fields: { dynamic_client_registration_enabled: audited }
})

/** The methods of {@link OAuth2Apps}. */
export interface OAuth2AppsService {
  /** All apps, or those that have an access token of the user, by name. Fails with `Forbidden` for the tokens of another user. */
  readonly list: (userId: Uuid | undefined) => Effect.Effect<ReadonlyArray<OAuth2App>, Forbidden, CurrentActor>

  /** An app. Fails with `NotFound` if the actor may not read apps. */
  readonly get: (...args: [id: Uuid]) => Effect.Effect<OAuth2App, NotFound, CurrentActor>

  /** Creates an app without a secret. Fails with `Invalid` for a name, a callback URL or an icon that is not allowed. */
  readonly create: (request: AppRequest) => Effect.Effect<OAuth2App, Invalid | Forbidden, CurrentActor | Auditing>

  /** Replaces an app's name, callback URL and icon. A client that registered further redirect URIs keeps them. */
  readonly update: (id: Uuid, request: AppRequest) => Effect.Effect<OAuth2App, Invalid | Forbidden | NotFound, CurrentActor | Auditing>

  /** Deletes an app with its secrets, codes and tokens. */
  readonly delete: (id: Uuid) => Effect.Effect<void, Forbidden | NotFound, CurrentActor | Auditing>

  /** An app's client secrets, oldest first, without what is secret about them. */
  readonly secrets: (appId: Uuid) => Effect.Effect<ReadonlyArray<OAuth2AppSecret>, Forbidden | NotFound, CurrentActor>

  /** Creates a client secret. Returns its text, which is shown only once. Fails with `Forbidden` for a token of an app. */
  readonly createSecret: (
    appId: Uuid
  ) => Effect.Effect<
    { readonly id: Uuid; readonly text: Redacted.Redacted<string> },
    Invalid | Forbidden | NotFound,
    CurrentActor | Cryptography | Auditing
  >

  /** Deletes a client secret. Tokens that were issued with it end. Fails with `Invalid` for a secret of another app. */
  readonly deleteSecret: (appId: Uuid, secretId: Uuid) => Effect.Effect<undefined, Invalid | Forbidden | NotFound, CurrentActor | Auditing>

  /** Whether clients may register themselves. Needs no permission: it is advertised. */
  readonly registrationEnabled: Effect.Effect<boolean>

  /** The settings. Fails with `Forbidden` if the actor may not read the deployment's configuration. */
  readonly settings: () => Effect.Effect<{ readonly dynamic_client_registration_enabled: boolean }, Forbidden, CurrentActor>

  /** Changes the settings that are given and returns all of them. They hold from the next request on. */
  readonly updateSettings: (change: {
    readonly dynamic_client_registration_enabled?: boolean | undefined
  }) => Effect.Effect<{ readonly dynamic_client_registration_enabled: boolean }, Forbidden, CurrentActor | Auditing>
}

const make = Effect.gen(function* () {
  const repository = yield* OAuth2AppRepository
  const { brand } = yield* DeploymentOptions

  const subject = (action: "create" | "write" | "delete", app: Pick<OAuth2App, "id" | "name">) => ({
    action,
    resource: appAudit,
    id: app.id,
    target: app.name
  })

  const registrationEnabled = Effect.map(
    repository.registrationEnabled,
    Option.getOrElse(() => true)
  )

  const { get } = appLookup({ repository })

  return {
    list: Traced.fn("OAuth2Apps.list")(function* (userId: Uuid | undefined) {
      yield* Access.authorize("read", AccessObjects.bare("oauth2_app"))
      if (userId === undefined) return yield* repository.list
      yield* Access.authorize("read", AccessObjects.ownedBy("oauth2_app_code_token", userId))
      return yield* repository.ofUser(userId)
    }),

    get: Traced.fn("OAuth2Apps.get")(get),

    create: Traced.fn("OAuth2Apps.create")(function* (request: AppRequest) {
      yield* Access.authorize("create", AccessObjects.bare("oauth2_app"))
      yield* refuseViolating(request)
      const now = yield* Timestamp.now
      const app: OAuth2App = {
        id: yield* (yield* Ids).next,
        created_at: now,
        updated_at: now,
        name: request.name,
        icon: request.icon,
        redirect_uris: [request.callback_url],
        client_type: "confidential",
        dynamically_registered: false,
        token_endpoint_auth_method: "client_secret_post",
        grant_types: grantTypes,
        response_types: responseTypes,
        metadata: {},
        last_used_at: null
      }
      return yield* Audit.audited(subject("create", app), Effect.as(repository.insert(app, null), { value: app, after: auditedApp(app) }))
    }),

    update: Traced.fn("OAuth2Apps.update")(function* (id: Uuid, request: AppRequest) {
      const app = yield* get(id)
      yield* Access.authorizeWrite("update", AccessObjects.bare("oauth2_app"), missing)
      yield* refuseViolating(request)
      return yield* Audit.audited(
        subject("write", app),
        Effect.gen(function* () {
          const before = yield* Effect.mapError(Effect.flatten(repository.lock(id)), () => missing)
          const updated: OAuth2App = {
            ...before,
            name: request.name,
            icon: request.icon,
            redirect_uris: [...new Set([request.callback_url, ...before.redirect_uris.slice(1)])],
            updated_at: yield* Timestamp.now
          }
          yield* repository.update(updated)
          return { value: updated, before: auditedApp(before), after: auditedApp(updated) }
        })
      )
    }),

    delete: Traced.fn("OAuth2Apps.delete")(function* (id: Uuid) {
      const app = yield* get(id)
      yield* Access.authorizeWrite("delete", AccessObjects.bare("oauth2_app"), missing)
      yield* Audit.audited(
        subject("delete", app),
        Effect.flatMap(repository.delete(id), (found) => (found ? Effect.succeed({ value: undefined, before: auditedApp(app) }) : missing))
      )
    }),

    ...appSecrets({ get, repository, brand }),

    registrationEnabled,

    settings: Traced.fn("OAuth2Apps.settings")(function* () {
      yield* Access.authorize("read", AccessObjects.bare("deployment_config"))
      return { dynamic_client_registration_enabled: yield* registrationEnabled }
    }),

    updateSettings: Traced.fn("OAuth2Apps.updateSettings")(function* (change: {
      readonly dynamic_client_registration_enabled?: boolean | undefined
    }) {
      yield* Access.authorize("update", AccessObjects.bare("deployment_config"))
      return yield* Audit.audited(
        { action: "write", resource: settingsAudit, id: nil, target: "" },
        Effect.gen(function* () {
          const before = { dynamic_client_registration_enabled: yield* registrationEnabled }
          const { dynamic_client_registration_enabled = before.dynamic_client_registration_enabled } = change
          // What the caller leaves out may be changed by another at the same time
          if (change.dynamic_client_registration_enabled !== undefined)
            yield* repository.setRegistrationEnabled(dynamic_client_registration_enabled)
          const after = { dynamic_client_registration_enabled }
          return { value: after, before, after }
        })
      )
    })
  }
})

/** The clients of the authorization server as administrators keep them. oauth2-provider.md §11. */
export class OAuth2Apps extends Context.Tag("@atelier/core/OAuth2Apps")<OAuth2Apps, OAuth2AppsService>() {
  static readonly layer = service(OAuth2Apps, make)
}
