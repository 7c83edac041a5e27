import { idOfDocument, isDocumentUrl, readClientDocument } from "@atelier/core/oauth2"
import { Either } from "effect"
import { describe, expect, it } from "vitest"

const url = "https://app.example.com/client.json"
const document = { client_id: url, client_name: "Editor", redirect_uris: ["http://127.0.0.1/callback"] }

const refusal = (fields: object) =>
  Either.match(readClientDocument(url, JSON.stringify({ ...document, ...fields })), { onLeft: ({ message }) => message, onRight: () => "" })

describe("the document of a client", () => {
  it.each([
    [url, true],
    ["https://app.example.com/a?b", true],
    ["http://app.example.com/client.json", false],
    ["https://app.example.com", false],
    ["https://app.example.com/", false],
    ["https://app.example.com/a/../client.json", false],
    ["https://APP.example.com/client.json", false],
    ["https://app.example.com:443/client.json", false],
    ["https://app.example.com/client.json#", false],
    ["https://app.example.com/client.json#a", false],
    ["https://ann@app.example.com/client.json", false],
    [`https://app.example.com/${"a".repeat(2048)}`, false]
  ])("has the address %s: %s", (text, isOne) => expect(isDocumentUrl(text)).toBe(isOne))

  it("makes a public client whose name has the host", () => {
    const more = { grant_types: ["authorization_code", "urn:example:other"], scope: "coder:all", unknown: 1 }
    expect(Either.getOrThrow(readClientDocument(url, JSON.stringify({ ...document, ...more })))).toMatchObject({
      client_name: "app.example.com: Editor",
      client_type: "public",
      token_endpoint_auth_method: "none",
      grant_types: ["authorization_code"],
      redirect_uris: document.redirect_uris,
      metadata: { client_id: url }
    })
  })

  it("is refused for what it must not say", () => {
    expect(Either.isLeft(readClientDocument(url, "[]"))).toBe(true)
    expect(Either.isLeft(readClientDocument(url, "{"))).toBe(true)
    expect(refusal({ client_id: `${url}?` })).toBe("client_id: must be the URL of the document")
    expect(refusal({ client_secret: "s" })).toContain("client_secret")
    expect(refusal({ token_endpoint_auth_method: "client_secret_basic" })).toContain("token_endpoint_auth_method")
    expect(refusal({ token_endpoint_auth_method: "private_key_jwt" })).toContain("needs jwks")
    expect(refusal({ redirect_uris: ["http://example.com/"] })).toContain("redirect_uris")
    expect(refusal({ redirect_uris: undefined })).toContain("redirect_uris")
  })

  it("has an id that follows from its hash", () => {
    expect(idOfDocument(new Uint8Array(32).fill(0xff))).toBe("ffffffff-ffff-8fff-bfff-ffffffffffff")
  })
})
