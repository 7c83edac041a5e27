/** Workspace proxies, as administrators and as the proxies themselves use them. agents-and-apps.md §21. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiMiddleware from "@effect/platform/HttpApiMiddleware"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { CryptoKeyFeature, WorkspaceProxyView } from "@atelier/core/deployment"
import { RelayMap } from "@atelier/core/network"
import { Numbers, Timestamp, Uuid } from "@atelier/core/platform"
import { Context, type Redacted, Schema } from "effect"
import { dialectal } from "../../wire/dialect.js"
import { refusals, Response } from "../../wire/errors.js"
import { Body, firstText, list, needed, Path, Query, text } from "../../wire/input.js"
import { AlsoAnswers, operation, Streaming, TrailingSlash } from "../annotations.js"
import { Authenticated } from "../authentication.js"
import { SignedRequest } from "../signedRequest.js"
import { Replica } from "./regions.js"

/** The token of the proxy that calls. */
export class ProxyToken extends Context.Tag("@atelier/http/ProxyToken")<ProxyToken, Redacted.Redacted<string>>() {}

/** Lets proxies in that have a token. */
export class ProxyAuthenticated extends HttpApiMiddleware.Tag<ProxyAuthenticated>()("@atelier/http/ProxyAuthenticated", {
  provides: ProxyToken,
  failure: refusals("Unauthenticated", "Forbidden")
}) {}

/** A token is shown once; empty otherwise. */
const WithToken = Schema.Struct({ proxy: WorkspaceProxyView, proxy_token: Schema.String }).annotations({
  identifier: "UpdateWorkspaceProxyResponse"
})

/** The standard form is a proxy, with the token beside its fields. agents-and-apps.md §22 no. 6. */
const Updated = dialectal({
  standard: Schema.transform(
    Schema.Struct({ ...WorkspaceProxyView.fields, ...WithToken.fields }).annotations({ identifier: "WorkspaceProxyWithToken" }),
    Schema.typeSchema(WithToken),
    {
      strict: true,
      decode: ({ proxy, proxy_token }) => ({ proxy, proxy_token }),
      encode: ({ proxy, proxy_token }) => ({ ...proxy, proxy, proxy_token })
    }
  ),
  reference: WithToken
})

const one = Path({ workspaceproxy: Schema.String })

export const workspaceProxies = HttpApiGroup.make("workspaceProxies")
  .annotate(OpenApi.Description, "Other places from which apps and terminals of workspaces are served.")
  .add(
    HttpApiEndpoint.get("listWorkspaceProxies", "/api/v2/workspaceproxies")
      .annotateContext(
        operation("List workspace proxies", "Returns the deployment itself as the primary proxy, and then the others by name.")
      )
      .addSuccess(Schema.Struct({ regions: Schema.Array(WorkspaceProxyView) }).annotations({ identifier: "WorkspaceProxies" }))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.post("createWorkspaceProxy", "/api/v2/workspaceproxies")
      .annotateContext(operation("Create a workspace proxy", "Creates a proxy, and returns the token that its processes present."))
      .setPayload(Body({ name: needed(text), display_name: text, icon: text }))
      .addSuccess(Updated, { status: 201 })
      .addError(refusals("Conflict", "Invalid"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("getWorkspaceProxy", "/api/v2/workspaceproxies/:workspaceproxy")
      .annotateContext(operation("Get a workspace proxy", "Returns a proxy by its id or exact name; by id also a deleted one."))
      .setPath(one)
      .addSuccess(WorkspaceProxyView)
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.patch("updateWorkspaceProxy", "/api/v2/workspaceproxies/:workspaceproxy")
      .annotateContext(
        operation("Change a workspace proxy", "Changes the name, the display name and the icon, and makes a new token on request.")
      )
      .setPath(one)
      .setPayload(
        Body({
          id: needed(text),
          name: needed(text),
          display_name: needed(text),
          icon: needed(text),
          regenerate_token: Schema.optionalWith(Schema.Boolean, { default: () => false })
        })
      )
      .addSuccess(Updated)
      .addError(refusals("Conflict", "Invalid", "NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.del("deleteWorkspaceProxy", "/api/v2/workspaceproxies/:workspaceproxy")
      .annotateContext(operation("Delete a workspace proxy", "Deletes a proxy. Its token ends at once, and its name becomes free."))
      .setPath(one)
      .addSuccess(Response)
      .addError(refusals("Invalid", "NotFound"))
      .annotate(TrailingSlash, true)
  )
  .middlewareEndpoints(Authenticated)

const page = { "text/html": { schema: { type: "string" } } }

export const IssueTokenRequest = Body({
  app_request: SignedRequest,
  /** The proxy's own address. */
  path_app_base_url: text,
  app_hostname: text,
  app_path: text,
  app_query: text,
  /** Empty for a visitor who is signed out. */
  session_token: text
})

/** Visits in one report. */
const maximumVisits = 10_000

const flag = Schema.optionalWith(Schema.Boolean, { default: () => false })

export const ownWorkspaceProxy = HttpApiGroup.make("ownWorkspaceProxy")
  .annotate(OpenApi.Description, "What the processes of workspace proxies call.")
  .add(
    HttpApiEndpoint.post("registerWorkspaceProxy", "/api/v2/workspaceproxies/me/register")
      .annotateContext(
        operation(
          "Register a workspace proxy",
          "Stores where the proxy and the calling process are reached. Processes repeat it every few seconds."
        )
      )
      .setPayload(
        Body({
          access_url: needed(text),
          wildcard_hostname: text,
          derp_enabled: flag,
          derp_only: flag,
          replica_id: Schema.optionalWith(Uuid.Uuid, { default: () => Uuid.nil }),
          hostname: text,
          replica_error: text,
          replica_relay_address: text,
          version: text
        })
      )
      .addSuccess(
        Schema.Struct({
          derp_mesh_key: Schema.String,
          derp_region_id: Numbers.Integer,
          derp_map: RelayMap,
          derp_force_websockets: Schema.Boolean,
          sibling_replicas: Schema.Array(Replica)
        }).annotations({ identifier: "RegisterWorkspaceProxyResponse" }),
        { status: 201 }
      )
      .addError(refusals("Conflict", "Invalid"))
  )
  .add(
    HttpApiEndpoint.post("deregisterWorkspaceProxy", "/api/v2/workspaceproxies/me/deregister")
      .annotateContext(operation("Deregister a workspace proxy", "Notes that a process of the proxy stops."))
      .setPayload(Body({ replica_id: Schema.optionalWith(Uuid.Uuid, { default: () => Uuid.nil }) }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.post("reportAppStats", "/api/v2/workspaceproxies/me/app-stats")
      .annotateContext(operation("Report visits of apps", "Stores visits of apps and terminals that the proxy has served."))
      .setPayload(
        Body({
          stats: list(
            Schema.Struct({
              user_id: Uuid.Uuid,
              workspace_id: Uuid.Uuid,
              agent_id: Uuid.Uuid,
              access_method: Schema.Literal("path", "subdomain", "terminal"),
              slug_or_port: text,
              session_id: Uuid.Uuid,
              session_started_at: Timestamp.Timestamp,
              session_ended_at: Timestamp.Timestamp,
              requests: Numbers.Count
            }),
            maximumVisits
          )
        })
      )
      .addSuccess(HttpApiSchema.NoContent)
  )
  .add(
    HttpApiEndpoint.post("issueSignedAppToken", "/api/v2/workspaceproxies/me/issue-signed-app-token")
      .annotateContext(
        operation(
          "Issue a signed token of an app",
          "Returns a token that opens an app or a terminal for a minute, if the user of the given session may open it. Answers the page or the redirection for the user's browser otherwise."
        )
      )
      .setPayload(IssueTokenRequest)
      .addSuccess(Schema.Struct({ signed_token_str: Schema.String }).annotations({ identifier: "IssueSignedAppTokenResponse" }), {
        status: 201
      })
      .addError(refusals("Invalid", "NotFound"))
      .annotate(AlsoAnswers, { "303": {}, "400": page, "403": page, "404": page })
  )
  .add(
    HttpApiEndpoint.get("listCryptoKeys", "/api/v2/workspaceproxies/me/crypto-keys")
      .annotateContext(
        operation("List signing keys", "Returns the keys that verify what the deployment signs or encrypts for a feature, newest first.")
      )
      .setUrlParams(Query({ feature: text }))
      .addSuccess(
        Schema.Struct({
          crypto_keys: Schema.Array(
            Schema.Struct({
              feature: CryptoKeyFeature,
              /** In hexadecimal. */
              secret: Schema.String,
              sequence: Numbers.Integer,
              starts_at: Timestamp.Timestamp,
              deletes_at: Schema.NullOr(Timestamp.Timestamp)
            }).annotations({ identifier: "CryptoKey" })
          )
        }).annotations({ identifier: "CryptoKeysResponse" })
      )
      .addError(refusals("Invalid"))
  )
  .add(
    HttpApiEndpoint.get("coordinateWorkspaceProxy", "/api/v2/workspaceproxies/me/coordinate")
      .annotateContext(
        operation("Connect a workspace proxy to the network", "Upgrades to the WebSocket over which a proxy asks for tunnels.")
      )
      .setUrlParams(Query({ version: firstText }))
      .addSuccess(HttpApiSchema.Empty(101))
      .addError(refusals("Invalid", "UpgradeRequired"))
      .annotate(Streaming, true)
  )
  .middlewareEndpoints(ProxyAuthenticated)
