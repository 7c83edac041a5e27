import { Atelier } from "@atelier/http"
import * as Client from "@atelier/http/client"
import { Effect, Schema } from "effect"
import { createRequire } from "node:module"
import { describe, expect, it } from "vitest"
import { oneDatabase, sqlite } from "../../../../test/store/databases.js"
import { testEngines } from "../../../../test/outside/engine.js"
import { describeInterface, startServer } from "../../../../test/http/server.js"

const { version }: { readonly version: string } = createRequire(import.meta.url)("@atelier/http/package.json")

describeInterface(
  "a service for the clients of an existing ecosystem",
  (server) => {
    const token = () => ({ "coder-session-token": server().owner().token })

    it("tells them a version of their own line, with its own behind it", async () => {
      const { body, headers } = await server().call("GET", "/buildinfo")
      expect(body).toMatchObject({ version: `v2.36.0+atelier.${version}` })
      expect(headers.get("x-coder-build-version")).toBe(`v2.36.0+atelier.${version}`)
    })

    it("takes their session header and answers in their form", async () => {
      const answer = await server().call("GET", "/users/me", { headers: token() })
      expect(answer.status).toBe(200)
      const compatible = await Effect.runPromise(
        Client.makeFetch({ baseUrl: server().url, sessionToken: server().owner().token, compatibility: "coder" })
      )
      expect(await Effect.runPromise(compatible.users.getUser({ path: { user: "me" } }))).toMatchObject({ username: "owner" })
    })

    it.each(["coder", "default"])("has the default organization under the name %s", async (name) => {
      const { body } = await server().call("GET", `/organizations/${name}`, { headers: token() })
      expect(body).toMatchObject({ name: "coder", display_name: "Coder", is_default: true })
    })

    it("reports that version of its provisioner daemons", async () => {
      const answer = await server().call("GET", "/organizations/default/provisionerdaemons", { headers: token() })
      const daemons = answer.as(Schema.Array(Schema.Struct({ version: Schema.String })))
      expect(new Set(daemons.map((daemon) => daemon.version))).toStrictEqual(new Set([`v2.36.0+atelier.${version}`]))
    })
  },
  { compatibility: "coder", provisioner: testEngines }
)

describe.each(oneDatabase)("the name of the first organization on %s", (_, storage) => {
  it("is the one that the host gives", async () => {
    const server = await startServer(storage, { options: { defaultOrganizationName: "acme" } })
    try {
      const { body } = await server.call("GET", "/organizations/default", { token: server.owner().token })
      expect(body).toMatchObject({ name: "acme", display_name: "Acme" })
    } finally {
      await server.close()
    }
  })
})

it("a host's brand replaces the one that the ecosystem would have", async () => {
  const server = await startServer(sqlite, { compatibility: "coder", brand: "Acme" })
  try {
    const { headers, status } = await server.call("GET", "/users/me", { headers: { "acme-session-token": server.owner().token } })
    expect([status, headers.get("x-acme-build-version")]).toStrictEqual([200, `v2.36.0+atelier.${version}`])
  } finally {
    await server.close()
  }
})

it("an unknown ecosystem and a name that no organization can have stop the start", async () => {
  const options = { accessUrl: "http://atelier.test", storage: sqlite, logLevel: "none" } as const
  const untyped = JSON.parse(`{ "compatibility": "other" }`)
  await expect(Atelier.make({ ...options, ...untyped })).rejects.toThrow(/compatibility "other": must be "coder"/)
  await expect(Atelier.make({ ...options, options: { defaultOrganizationName: "two words" } })).rejects.toThrow(
    /defaultOrganizationName "two words": must consist of/
  )
})
