import { Schema } from "effect"
import { externalScopes } from "@atelier/core/access"
import { describe, expect, it } from "vitest"
import { describeInterface } from "../../../../test/http/server.js"

const algorithms = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"]

const metadata = (base: string) => ({
  issuer: base,
  authorization_endpoint: `${base}/oauth2/authorize`,
  token_endpoint: `${base}/oauth2/tokens`,
  device_authorization_endpoint: `${base}/oauth2/device_authorization`,
  pushed_authorization_request_endpoint: `${base}/oauth2/par`,
  require_pushed_authorization_requests: false,
  revocation_endpoint: `${base}/oauth2/revoke`,
  introspection_endpoint: `${base}/oauth2/introspect`,
  registration_endpoint: `${base}/oauth2/register`,
  client_id_metadata_document_supported: true,
  response_types_supported: ["code"],
  response_modes_supported: ["query", "fragment"],
  prompt_values_supported: ["none", "login", "consent", "select_account"],
  grant_types_supported: ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
  code_challenge_methods_supported: ["S256"],
  token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post", "private_key_jwt", "none"],
  revocation_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post", "private_key_jwt", "none"],
  introspection_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post", "private_key_jwt"],
  token_endpoint_auth_signing_alg_values_supported: algorithms,
  revocation_endpoint_auth_signing_alg_values_supported: algorithms,
  introspection_endpoint_auth_signing_alg_values_supported: algorithms,
  dpop_signing_alg_values_supported: algorithms,
  scopes_supported: externalScopes,
  authorization_response_iss_parameter_supported: true
})

const resource = (base: string, suffix = "") => ({
  resource: `${base}${suffix}`,
  authorization_servers: [base],
  scopes_supported: externalScopes,
  bearer_methods_supported: ["header"],
  dpop_signing_alg_values_supported: algorithms,
  dpop_bound_access_tokens_required: false
})

describeInterface("the discovery documents", (server) => {
  it("name the endpoints, at the root and below the API", async () => {
    for (const prefix of ["", "/api/v2"]) {
      const answers = [
        await server().call("GET", `/${prefix}/.well-known/oauth-authorization-server`),
        await server().call("GET", `/${prefix}/.well-known/oauth-protected-resource`),
        await server().call("GET", `/${prefix}/.well-known/oauth-protected-resource/api/v2/mcp`)
      ]
      expect(answers.map(({ body }) => body)).toStrictEqual([
        metadata("http://atelier.test"),
        resource("http://atelier.test"),
        resource("http://atelier.test", "/api/v2/mcp")
      ])
      for (const { headers, status } of answers) {
        expect([status, headers.get("cache-control"), headers.get("content-type")]).toStrictEqual([
          200,
          null,
          "application/json; charset=utf-8"
        ])
      }
      expect((await server().call("GET", `/${prefix}/.well-known/oauth-authorization-server/other`)).status).toBe(404)
    }
  })

  it("name a registration endpoint only while clients may register", async () => {
    const { token } = server().owner()
    const set = (enabled: boolean) =>
      server().call("PUT", "/oauth2-provider/settings", { token, body: { dynamic_client_registration_enabled: enabled } })
    await set(false)
    const { body } = await server().call("GET", "//.well-known/oauth-authorization-server")
    expect(body).not.toHaveProperty("registration_endpoint")
    expect(body).toMatchObject({ client_id_metadata_document_supported: false })
    await set(true)
  })

  it("may be read by pages of any origin, without credentials", async () => {
    const { port } = new URL(server().url)
    for (const path of ["/oauth2/tokens", "/.well-known/oauth-authorization-server", "/api/v2/oauth2/register"]) {
      const preflight = await fetch(`http://127.0.0.1:${port}${path}`, {
        method: "OPTIONS",
        headers: { origin: "https://client.example", "access-control-request-method": "POST" }
      })
      const allowed = ["origin", "methods", "headers", "credentials"].map((name) => preflight.headers.get(`access-control-allow-${name}`))
      expect(allowed).toStrictEqual([
        "*",
        "GET, POST, PUT, DELETE, OPTIONS",
        "Content-Type, Accept, Authorization, DPoP, x-api-key, Mcp-Session-Id, MCP-Protocol-Version, Last-Event-ID",
        null
      ])
    }
  })

  it("are named by the challenge to callers without a valid token", async () => {
    const challenge = async (headers: Record<string, string>) =>
      (await server().call("GET", "/users/me", { headers })).headers.get("www-authenticate")
    const ending = 'resource_metadata="http://atelier.test/.well-known/oauth-protected-resource"'
    expect(await challenge({})).toBe(`Bearer realm="service", ${ending}`)
    expect(await challenge({ authorization: "Bearer unknown" })).toMatch(
      new RegExp(`^Bearer realm="service", error="invalid_token", error_description="[^"]+", ${ending}$`)
    )
  })
})

describe("below a prefix", () => {
  const base = "http://atelier.test/dev/atelier"
  describeInterface(
    "the discovery documents",
    (server) => {
      it("are found by both ways to put the prefix in", async () => {
        const inside = "//dev/atelier/.well-known/oauth-authorization-server"
        for (const path of [inside, "//.well-known/oauth-authorization-server/dev/atelier"]) {
          const answer = await server().call("GET", path)
          expect([answer.status, answer.body]).toStrictEqual([200, metadata(base)])
        }
        for (const path of [
          "//dev/atelier/.well-known/oauth-protected-resource/mcp",
          "//.well-known/oauth-protected-resource/dev/atelier/mcp"
        ]) {
          expect((await server().call("GET", path)).body).toStrictEqual(resource(base, "/mcp"))
        }
      })

      it("lead to a login below the prefix", async () => {
        const client_id = await server()
          .call("POST", "//dev/atelier/api/v2/oauth2-provider/apps", {
            token: server().owner().token,
            body: { name: "app", callback_url: "https://client.example/" }
          })
          .then((answer) => answer.as(Schema.Struct({ id: Schema.String })).id)
        const path = `/dev/atelier/oauth2/authorize?client_id=${client_id}`
        const answer = await server().call("GET", `/${path}`)
        const login = new URL(answer.headers.get("location") ?? "", base)
        expect([answer.status, login.pathname, login.searchParams.get("redirect")]).toStrictEqual([303, "/dev/atelier/login", path])
      })
    },
    { accessUrl: base }
  )
})
