/** The routes of the authorization server in OpenAPI 3.1: they are no endpoints of the contract, since their forms are the protocol's. */
import { authMethods, grantTypes, responseModes, responseTypes } from "@atelier/core/oauth2"

const text = (maxLength: number) => ({ type: "string", maxLength })

/** A text that must not be empty. */
const named = { type: "string", minLength: 1, maxLength: 1024 }
const uri = text(2048)
const oneOf = (values: ReadonlyArray<string>) => ({ type: "string", enum: values })
const listOf = (items: object, maxItems: number) => ({ type: "array", items, maxItems })
const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const object = (properties: Readonly<Record<string, object>>, required: ReadonlyArray<string>) => ({ type: "object", properties, required })

/** What a client proves with who it is; one of the two. */
const clientProof = { client_secret: text(1024), client_assertion_type: uri, client_assertion: text(8192) }

/** Members that describe a client to users (RFC 7591 §2). */
const descriptive = {
  client_uri: uri,
  logo_uri: text(256),
  scope: uri,
  contacts: listOf(uri, 20),
  tos_uri: uri,
  policy_uri: uri,
  jwks_uri: uri,
  jwks: { type: "object" },
  software_id: uri,
  software_version: uri,
  require_pushed_authorization_requests: { type: "boolean" },
  dpop_bound_access_tokens: { type: "boolean" }
}

const registered = {
  client_id: { type: "string", format: "uuid" },
  client_id_issued_at: { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
  client_secret_expires_at: { type: "integer", minimum: 0, maximum: 0 },
  client_name: { type: "string" },
  redirect_uris: { type: "array", items: { type: "string" } },
  grant_types: { type: "array", items: oneOf(grantTypes) },
  response_types: { type: "array", items: oneOf(responseTypes) },
  token_endpoint_auth_method: oneOf(authMethods),
  registration_client_uri: { type: "string" },
  ...descriptive
}

const alwaysRegistered = [
  "client_id",
  "client_id_issued_at",
  "client_name",
  "redirect_uris",
  "grant_types",
  "response_types",
  "token_endpoint_auth_method",
  "registration_client_uri"
]

const schemas = {
  OAuth2Error: object({ error: { type: "string" }, error_description: { type: "string" } }, ["error"]),
  OAuth2AuthorizationServerMetadata: object(
    {
      issuer: { type: "string" },
      authorization_endpoint: { type: "string" },
      token_endpoint: { type: "string" },
      device_authorization_endpoint: { type: "string" },
      pushed_authorization_request_endpoint: { type: "string" },
      require_pushed_authorization_requests: { type: "boolean" },
      revocation_endpoint: { type: "string" },
      introspection_endpoint: { type: "string" },
      registration_endpoint: { type: "string" },
      client_id_metadata_document_supported: { type: "boolean" },
      response_types_supported: { type: "array", items: { type: "string" } },
      response_modes_supported: { type: "array", items: { type: "string" } },
      prompt_values_supported: { type: "array", items: { type: "string" } },
      grant_types_supported: { type: "array", items: { type: "string" } },
      code_challenge_methods_supported: { type: "array", items: { type: "string" } },
      token_endpoint_auth_methods_supported: { type: "array", items: { type: "string" } },
      revocation_endpoint_auth_methods_supported: { type: "array", items: { type: "string" } },
      introspection_endpoint_auth_methods_supported: { type: "array", items: { type: "string" } },
      token_endpoint_auth_signing_alg_values_supported: { type: "array", items: { type: "string" } },
      revocation_endpoint_auth_signing_alg_values_supported: { type: "array", items: { type: "string" } },
      introspection_endpoint_auth_signing_alg_values_supported: { type: "array", items: { type: "string" } },
      dpop_signing_alg_values_supported: { type: "array", items: { type: "string" } },
      scopes_supported: { type: "array", items: { type: "string" } },
      authorization_response_iss_parameter_supported: { type: "boolean" }
    },
    ["issuer", "authorization_endpoint", "token_endpoint", "response_types_supported"]
  ),
  OAuth2ProtectedResourceMetadata: object(
    {
      resource: { type: "string" },
      authorization_servers: { type: "array", items: { type: "string" } },
      scopes_supported: { type: "array", items: { type: "string" } },
      bearer_methods_supported: { type: "array", items: { type: "string" } },
      dpop_signing_alg_values_supported: { type: "array", items: { type: "string" } },
      dpop_bound_access_tokens_required: { type: "boolean" }
    },
    ["resource", "authorization_servers"]
  ),
  OAuth2ClientRegistrationRequest: object(
    {
      client_name: uri,
      redirect_uris: listOf(uri, 20),
      grant_types: listOf(oneOf(grantTypes), 3),
      response_types: listOf(oneOf(responseTypes), 1),
      token_endpoint_auth_method: oneOf(authMethods),
      ...descriptive,
      software_statement: { ...text(65_536), description: "Ignored: the deployment trusts no signer of statements (RFC 7591 §3.1.1)." }
    },
    []
  ),
  OAuth2ClientConfiguration: object(
    {
      ...registered,
      registration_access_token: { type: "string", description: "The token of the request. Services with `compatibility` leave it out." }
    },
    alwaysRegistered
  ),
  OAuth2ClientRegistrationResponse: object(
    { ...registered, client_secret: { type: "string" }, registration_access_token: { type: "string" } },
    [...alwaysRegistered, "registration_access_token"]
  ),
  OAuth2Introspection: object(
    {
      active: { type: "boolean" },
      scope: { type: "string" },
      client_id: { type: "string", format: "uuid" },
      username: { type: "string" },
      token_type: { type: "string" },
      cnf: object({ jkt: { type: "string" } }, ["jkt"]),
      exp: { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
      iat: { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
      sub: { type: "string", format: "uuid" },
      aud: { type: "array", items: { type: "string" } },
      iss: { type: "string" }
    },
    ["active"]
  ),
  OAuth2DeviceAuthorization: object(
    {
      device_code: { type: "string" },
      user_code: { type: "string" },
      verification_uri: { type: "string" },
      verification_uri_complete: { type: "string" },
      expires_in: { type: "integer", minimum: 1, maximum: 600 },
      interval: { type: "integer", minimum: 1, maximum: 60 }
    },
    ["device_code", "user_code", "verification_uri", "verification_uri_complete", "expires_in", "interval"]
  ),
  OAuth2PushedRequest: object({ request_uri: { type: "string" }, expires_in: { type: "integer", minimum: 1, maximum: 600 } }, [
    "request_uri",
    "expires_in"
  ]),
  Token: object(
    {
      access_token: { type: "string" },
      token_type: oneOf(["Bearer", "DPoP"]),
      expires_in: { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
      refresh_token: { type: "string" },
      expiry: { type: "string", format: "date-time" },
      scope: { type: "string" }
    },
    ["access_token", "token_type", "expires_in", "refresh_token", "expiry"]
  )
}

const html = { "text/html": { schema: { type: "string" } } }
const json = (schema: string) => ({ "application/json": { schema: reference(schema) } })
const form = (schema: object) => ({ required: true, content: { "application/x-www-form-urlencoded": { schema } } })

const refusals: ReadonlyArray<readonly [status: string, name: string, description: string]> = [
  ["400", "OAuth2Invalid", "A parameter is missing, repeated or wrong. A browser that must not go back to the client gets a page."],
  ["401", "OAuth2Unauthenticated", "The client or the user is not authenticated."],
  ["403", "OAuth2Forbidden", "The caller may not do this."],
  ["404", "OAuth2NotFound", "The deployment has no such document."],
  ["408", "OAuth2Timeout", "The request's body did not arrive in time."],
  ["413", "OAuth2TooLarge", "The request's body is too large."],
  ["429", "OAuth2TooManyRequests", "The caller sends too many requests. `Retry-After` says when the next one is welcome."],
  ["500", "OAuth2Failure", "The service has failed. Its log has the reason under the request's id."],
  ["503", "OAuth2Unavailable", "The store cannot answer now. `Retry-After` says when another try is welcome."]
]

const responses = {
  OAuth2Disconnected: {
    description: "The client is unknown, the request may be forged, or the user is not signed in.",
    content: { "application/json": { schema: { anyOf: [reference("OAuth2Error"), reference("Message")] } } }
  },
  ...Object.fromEntries(
    refusals.map(([status, name, description]) => [
      name,
      {
        description,
        content: status === "404" ? json("Message") : { ...json("OAuth2Error"), ...html, "text/plain": { schema: { type: "string" } } }
      }
    ])
  )
}

const refused = (...statuses: ReadonlyArray<string>) =>
  Object.fromEntries([
    ...refusals
      .filter(([status]) => statuses.includes(status) || ["400", "429", "500", "503"].includes(status))
      .map(([status, name]) => [status, { $ref: `#/components/responses/${name}` }]),
    ["414", { $ref: "#/components/responses/UrlTooLong" }],
    ["431", { $ref: "#/components/responses/HeadTooLarge" }]
  ])

const query = (name: string, schema: object, required = false) => ({ name, in: "query", required, schema })
const moved = (description: string) => ({ description, headers: { Location: { required: true, schema: { type: "string" } } } })
const clientId = { name: "client_id", in: "path", required: true, schema: { type: "string", format: "uuid" } }

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly responses: Readonly<Record<string, object>>
  readonly security?: ReadonlyArray<object>
  readonly parameters?: ReadonlyArray<object>
  readonly requestBody?: object
}

const operation = ({ parameters = [], security = [], ...rest }: Operation) => ({ tags: ["oauth2Protocol"], security, parameters, ...rest })

/** Parameters of an authorization request, which are optional where the request was sent ahead. */
const authorization = [
  query("client_id", named, true),
  query("request_uri", uri),
  query("response_type", oneOf(responseTypes)),
  query("response_mode", oneOf(responseModes)),
  query("prompt", text(64)),
  query("redirect_uri", uri),
  query("state", text(8192)),
  query("scope", text(8192)),
  query("resource", uri),
  query("code_challenge", { type: "string", minLength: 43, maxLength: 128 }),
  query("code_challenge_method", oneOf(["S256"])),
  query("dpop_jkt", { type: "string", minLength: 43, maxLength: 43 })
]

const clientManagement = [{ registration: [] }]

const registration = { required: true, content: json("OAuth2ClientRegistrationRequest") }

const paths = {
  "/oauth2/authorize": {
    get: operation({
      operationId: "oauth2.authorize",
      summary: "Ask for consent",
      description: "Shows the user what an app asks for (RFC 6749 §4.1.1). A browser that is not signed in goes to the login first.",
      security: [{ session: [] }, {}],
      parameters: authorization,
      responses: {
        "200": { description: "A page that asks the user for consent.", content: html },
        "302": moved("The browser goes back to the app, with an error."),
        "303": moved("The browser goes to the login."),
        ...refused("401", "403")
      }
    }),
    post: operation({
      operationId: "oauth2.consent",
      summary: "Consent",
      description: "Consents to what an app asks for, and sends the browser back to it with a code (RFC 6749 §4.1.2).",
      security: [{ session: [] }, {}],
      parameters: authorization,
      requestBody: {
        required: false,
        content: { "application/x-www-form-urlencoded": { schema: object({ csrf_token: text(1024) }, []) } }
      },
      responses: {
        "302": moved("The browser goes back to the app, with a code or an error."),
        "303": moved("The browser goes to the login."),
        ...refused("401", "403", "408", "413")
      }
    })
  },
  "/oauth2/tokens": {
    post: operation({
      operationId: "oauth2.exchange",
      summary: "Redeem a code or a refresh token",
      description:
        "Issues an access token and a refresh token (RFC 6749 §4.1.3, §6). The client authenticates in the form, by `Basic`, or, if it is public, by its code verifier.",
      requestBody: form(
        object(
          {
            grant_type: oneOf(grantTypes),
            client_id: named,
            ...clientProof,
            code: text(1024),
            redirect_uri: uri,
            code_verifier: { type: "string", minLength: 43, maxLength: 128 },
            refresh_token: text(1024),
            device_code: text(1024),
            resource: uri,
            scope: text(8192)
          },
          ["grant_type"]
        )
      ),
      responses: { "200": { description: "The tokens.", content: json("Token") }, ...refused("401", "408", "413") }
    }),
    delete: operation({
      operationId: "oauth2.disconnect",
      summary: "End the tokens of an app",
      description: "Revokes everything that the user has allowed an app.",
      security: [{ session: [] }],
      parameters: [query("client_id", named, true)],
      responses: {
        "204": { description: "The app acts for the user no more." },
        ...refused(),
        "400": { $ref: "#/components/responses/OAuth2Disconnected" },
        "401": { $ref: "#/components/responses/OAuth2Disconnected" },
        "403": { $ref: "#/components/responses/Forbidden" }
      }
    })
  },
  "/oauth2/revoke": {
    post: operation({
      operationId: "oauth2.revoke",
      summary: "Revoke a token",
      description: "Revokes an access token or a refresh token, and the grant that it belongs to (RFC 7009). An unknown token is no error.",
      requestBody: form(
        object({ client_id: named, ...clientProof, token: text(1024), token_type_hint: text(1024) }, ["client_id", "token"])
      ),
      responses: { "200": { description: "The token is good for nothing." }, ...refused("401", "408", "413") }
    })
  },
  "/oauth2/device_authorization": {
    post: operation({
      operationId: "oauth2.beginDevice",
      summary: "Ask for a permission from a device without a browser",
      description:
        "Returns a code for the device, and one that its user types at the verification address (RFC 8628). The device asks for its tokens at the token endpoint.",
      requestBody: form(object({ client_id: named, ...clientProof, scope: text(8192), resource: uri }, [])),
      responses: { "200": { description: "The codes.", content: json("OAuth2DeviceAuthorization") }, ...refused("401", "408", "413") }
    })
  },
  "/oauth2/device": {
    get: operation({
      operationId: "oauth2.showDevice",
      summary: "Ask for the code of a device",
      description:
        "Shows the page on which a user types the code that a device shows. A browser that is not signed in goes to the login first.",
      security: [{ session: [] }, {}],
      parameters: [query("user_code", text(64))],
      responses: {
        "200": { description: "A page that asks for the code.", content: html },
        "303": moved("The browser goes to the login."),
        ...refused("401")
      }
    }),
    post: operation({
      operationId: "oauth2.answerDevice",
      summary: "Answer a device",
      description: "Shows what the device with a code asks for, or allows or denies it, as the form says.",
      security: [{ session: [] }, {}],
      requestBody: {
        required: false,
        content: {
          "application/x-www-form-urlencoded": {
            schema: object({ csrf_token: text(1024), user_code: text(64), decision: oneOf(["allow", "deny"]) }, [])
          }
        }
      },
      responses: {
        "200": { description: "A page that asks for consent, or says what has been answered.", content: html },
        "303": moved("The browser goes to the login."),
        ...refused("401", "403")
      }
    })
  },
  "/oauth2/par": {
    post: operation({
      operationId: "oauth2.push",
      summary: "Send an authorization request ahead",
      description:
        "Keeps an authorization request for ten minutes, and returns the reference that the browser brings to the authorization endpoint once (RFC 9126).",
      requestBody: form(
        object(
          {
            ...clientProof,
            ...Object.fromEntries(authorization.filter(({ name }) => name !== "request_uri").map(({ name, schema }) => [name, schema]))
          },
          ["response_type", "code_challenge"]
        )
      ),
      responses: { "201": { description: "The reference.", content: json("OAuth2PushedRequest") }, ...refused("401", "408", "413") }
    })
  },
  "/oauth2/introspect": {
    post: operation({
      operationId: "oauth2.introspect",
      summary: "Ask about a token",
      description:
        "Tells a confidential client about one of its own tokens (RFC 7662). Of any other token, and of one that has ended, it says only that it is not active.",
      requestBody: form(object({ client_id: named, ...clientProof, token: text(1024), token_type_hint: text(1024) }, ["token"])),
      responses: {
        "200": { description: "The state of the token.", content: json("OAuth2Introspection") },
        ...refused("401", "408", "413")
      }
    })
  },
  "/oauth2/register": {
    post: operation({
      operationId: "oauth2.register",
      summary: "Register a client",
      description: "Registers a client (RFC 7591). The answer shows its secret and the token that it manages itself with, this once.",
      requestBody: registration,
      responses: {
        "201": { description: "The client.", content: json("OAuth2ClientRegistrationResponse") },
        ...refused("403", "408", "413")
      }
    })
  },
  "/oauth2/clients/{client_id}": {
    get: operation({
      operationId: "oauth2.readClient",
      summary: "Read a registered client",
      description: "Shows a client what is known of it (RFC 7592 §2.1).",
      security: clientManagement,
      parameters: [clientId],
      responses: { "200": { description: "The client.", content: json("OAuth2ClientConfiguration") }, ...refused("401", "403", "404") }
    }),
    put: operation({
      operationId: "oauth2.replaceClient",
      summary: "Change a registered client",
      description: "Replaces what a client has registered (RFC 7592 §2.2).",
      security: clientManagement,
      parameters: [clientId],
      requestBody: registration,
      responses: {
        "200": { description: "The client.", content: json("OAuth2ClientConfiguration") },
        ...refused("401", "403", "404", "408", "413")
      }
    }),
    delete: operation({
      operationId: "oauth2.deleteClient",
      summary: "Delete a registered client",
      description: "Deletes a client, with everything that users have allowed it (RFC 7592 §2.3).",
      security: clientManagement,
      parameters: [clientId],
      responses: { "204": { description: "The client is deleted." }, ...refused("401", "403", "404") }
    })
  },
  "/.well-known/oauth-authorization-server": {
    get: operation({
      operationId: "oauth2.serverMetadata",
      summary: "Discover the authorization server",
      description: "The metadata of the authorization server (RFC 8414).",
      responses: {
        "200": { description: "The metadata.", content: json("OAuth2AuthorizationServerMetadata") },
        ...refused("404")
      }
    })
  },
  "/.well-known/oauth-protected-resource": {
    get: operation({
      operationId: "oauth2.resourceMetadata",
      summary: "Discover the protected resource",
      description: "The metadata of the deployment as a protected resource (RFC 9728).",
      responses: {
        "200": { description: "The metadata.", content: json("OAuth2ProtectedResourceMetadata") },
        ...refused()
      }
    })
  }
}

/** What the description of the interface says about the protocol. Each path is served below `/api/v2` too. */
export const protocolDescription = {
  tags: [{ name: "oauth2Protocol", description: "The OAuth2 authorization server, as clients use it." }],
  paths,
  schemas,
  responses,
  securitySchemes: {
    registration: { type: "http", scheme: "bearer", description: "The token that a client got when it registered." }
  }
} as const
