/** The routes that OAuth2 clients use, at the root and below the API: their answers are the protocol's. oauth2-provider.md §1. */
import { OAuth2Apps } from "@atelier/core/oauth2"
import { NotFound } from "@atelier/core/platform"
import { Effect } from "effect"
import type { Options } from "../Options.js"
import type { HostPages } from "../pages/PageOptions.js"
import type { RequestInfo } from "../server/request/CurrentRequest.js"
import type { Page } from "../server/pipeline/HttpApplication.js"
import { json, refuse } from "../server/codec/respond.js"
import { protocolAnswers } from "./answering.js"
import { authorizeRoutes } from "./authorizeRoutes.js"
import { devicePages } from "./devicePages.js"
import { isIssuerSuffix, resourceMetadata, serverMetadata } from "./discovery.js"
import { registrationRoutes } from "./registrationRoutes.js"
import { tokenRoutes } from "./tokenRoutes.js"

const noDocument = new NotFound({ message: "Route not found." })

/** Both forms of a route. */
const both = (method: Page["method"], path: `/${string}`, handler: Page["handler"]): ReadonlyArray<Page> => [
  { method, path, handler },
  { method, path: `/api/v2${path}`, handler }
]

/** The routes of the authorization server. */
export const oauthRoutes = (options: HostPages & Pick<Options, "mcp">) =>
  Effect.gen(function* () {
    const answers = yield* protocolAnswers
    const { answering, settings } = answers
    const { accessUrl } = settings
    const apps = yield* OAuth2Apps
    const { ask, consent } = yield* authorizeRoutes(answers, options)
    const { beginDevice, disconnect, exchange, introspect, push, revoke } = yield* tokenRoutes(answers)
    const { deleteClient, readClient, register, replaceClient } = yield* registrationRoutes(answers)

    const suffixOf = ({ path }: RequestInfo, name: string): string => path.slice(path.indexOf(name) + name.length)

    const authorizationServer = answering((_, info) =>
      isIssuerSuffix(accessUrl, suffixOf(info, "/oauth-authorization-server"))
        ? Effect.map(apps.registrationEnabled, (enabled) => json(200, serverMetadata(accessUrl, enabled)))
        : Effect.succeed(refuse(noDocument))
    )

    const protectedResource = answering((_, info) =>
      Effect.succeed(json(200, resourceMetadata(settings, suffixOf(info, "/oauth-protected-resource"), options.mcp?.scopes)))
    )

    return [
      ...both("GET", "/oauth2/authorize", ask),
      ...both("POST", "/oauth2/authorize", consent),
      ...both("POST", "/oauth2/tokens", exchange),
      ...both("DELETE", "/oauth2/tokens", disconnect),
      ...both("POST", "/oauth2/revoke", revoke),
      ...both("POST", "/oauth2/par", push),
      ...both("POST", "/oauth2/device_authorization", beginDevice),
      ...(yield* devicePages(answers)),
      ...both("POST", "/oauth2/introspect", introspect),
      ...both("POST", "/oauth2/register", register),
      ...both("GET", "/oauth2/clients/:client_id", readClient),
      ...both("PUT", "/oauth2/clients/:client_id", replaceClient),
      ...both("DELETE", "/oauth2/clients/:client_id", deleteClient),
      ...both("GET", "/.well-known/oauth-authorization-server", authorizationServer),
      ...both("GET", "/.well-known/oauth-authorization-server/*", authorizationServer),
      ...both("GET", "/.well-known/oauth-protected-resource", protectedResource),
      ...both("GET", "/.well-known/oauth-protected-resource/*", protectedResource)
    ]
  })
