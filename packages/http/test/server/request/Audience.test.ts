import { describe, expect, it } from "vitest"
import { isForUser, takesHtml } from "../../../src/server/request/audience.js"

const browser = { headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8" } } as never
const program = { headers: { accept: "*/*" } } as never

describe("an answer", () => {
  it("may be HTML where the header Accept names it", () => {
    const accepted = ["text/html", "application/json, TEXT/HTML;q=0.1", "*/*", "text/html5", undefined]
    expect(accepted.map((accept) => takesHtml({ headers: { accept } } as never))).toStrictEqual([true, true, false, false, false])
  })

  it.each([
    "/login",
    "/apiary",
    "/oauth2/authorize",
    "/oauth2/device",
    "/api/v2/oauth2/authorize",
    "/api/v2/users/oidc/callback",
    "/api/v2/users/oauth2/github/callback"
  ])("is for a user at %s, if the caller takes HTML", (path) => {
    expect([isForUser(browser, path), isForUser(program, path)]).toStrictEqual([true, false])
  })

  it.each([
    "/api",
    "/api/v2/users/me",
    "/api/v2/users/oauth2/github/device",
    "/oauth2/tokens",
    "/oauth2/introspect",
    "/oauth2/par",
    "/oauth2/revoke",
    "/oauth2/device_authorization",
    "/oauth2/clients/1",
    "/scim/v2/Users",
    "/.well-known/oauth-authorization-server"
  ])("is for a program at %s", (path) => {
    expect(isForUser(browser, path)).toBe(false)
  })
})
