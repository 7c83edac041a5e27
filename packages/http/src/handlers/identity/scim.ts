import { isAdmitted, ScimAccess, scimUserSchema, ScimUsers, type User } from "@atelier/core/identity"
import { NotFound } from "@atelier/core/platform"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Effect, Redacted } from "effect"
import * as contract from "../../contract/identity/scim.js"
import { ScimAuthorized, type ScimUser } from "../../contract/identity/scim.js"
import { scimContentType } from "../../wire/scim.js"
import { callInfo } from "../../server/request/CurrentRequest.js"
import { json } from "../../server/codec/respond.js"
import { Settings } from "../../server/request/Settings.js"
import * as Handlers from "../Handlers.js"
import { discovery } from "./scimDiscovery.js"

const listResponse = "urn:ietf:params:scim:api:messages:2.0:ListResponse"

const listView = <A>(Resources: ReadonlyArray<A>, startIndex = 1, totalResults = Resources.length) => ({
  schemas: [listResponse],
  totalResults,
  startIndex,
  itemsPerPage: Resources.length,
  Resources
})

/** A user as providers see it. */
const userViewAt =
  (base: string) =>
  (user: User): ScimUser => ({
    schemas: [scimUserSchema],
    id: user.id,
    userName: user.username,
    name: { formatted: user.name },
    displayName: user.name || user.username,
    emails: user.email === "" ? [] : [{ value: user.email, type: "work", primary: true }],
    active: isAdmitted(user),
    meta: { resourceType: "User", location: `${base}/Users/${user.id}`, created: user.created_at, lastModified: user.updated_at }
  })

const authorized = Effect.map(ScimAccess, ({ admit }) =>
  Effect.flatMap(callInfo, (info) =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) => admit(Redacted.make(headers["authorization"] ?? ""), info))
  )
)

export const scim = Handlers.group(contract.scimUsers, (handlers) =>
  Effect.gen(function* () {
    const users = yield* ScimUsers
    const base = `${(yield* Settings).accessUrl}/scim/v2`
    const { config, resourceTypes, schemas } = discovery(base)
    const view = userViewAt(base)
    const named = <A extends { readonly id: string }>(all: ReadonlyArray<A>, name: string) => {
      const found = all.find(({ id }) => id.toLowerCase() === name.toLowerCase())
      return found === undefined ? new NotFound({ message: "There is no such resource." }) : Effect.succeed(found)
    }
    return handlers
      .handle("getScimServiceProviderConfig", () => Effect.succeed(config))
      .handle("listScimResourceTypes", () => Effect.succeed(listView(resourceTypes)))
      .handle("getScimResourceType", ({ path }) => named(resourceTypes, path.name))
      .handle("listScimSchemas", () => Effect.succeed(listView(schemas)))
      .handle("getScimSchema", ({ path }) => named(schemas, path.name))
      .handle("listScimUsers", ({ urlParams }) =>
        Effect.map(users.list(urlParams), (page) => listView(page.users.map(view), page.startIndex, page.totalResults))
      )
      .handle("createScimUser", ({ payload }) =>
        Effect.map(users.create(payload), (user) => {
          const created = view(user)
          // RFC 7644 §3.3
          return HttpServerResponse.setHeader(json(201, created, scimContentType), "location", created.meta.location)
        })
      )
      .handle("getScimUser", ({ path }) => Effect.map(users.get(path.id), view))
      .handle("replaceScimUser", ({ path, payload }) => Effect.map(users.replace(path.id, payload), view))
      .handle("updateScimUser", ({ path, payload }) => Effect.map(users.patch(path.id, payload.Operations), view))
      .handle("suspendScimUser", ({ path }) => users.delete(path.id))
  })
).pipe(Effect.provideServiceEffect(ScimAuthorized, authorized))
