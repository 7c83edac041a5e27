import { type Engine, type PlanInput, ProvisionerEngines } from "@atelier/core/provisioning"
import { Effect, Layer, Redacted } from "effect"
import { expect, it } from "vitest"
import { testEngine } from "../../../../../test/outside/engine.js"
import { anExternalProvider, linked } from "../../../../../test/records/externalAuth.js"
import { aHostProvider, browserOf, type DescribedIdentity, logInAs, sessionOf } from "../../../../../test/outside/hostLogins.js"
import { aResource } from "../../../../../test/records/resources.js"
import { describeInterface, type Person, type TestServer } from "../../../../../test/http/server.js"
import { aTemplate } from "../../../../../test/http/templates.js"
import { aBuild, aWorkspace } from "../../../../../test/http/workspaceCalls.js"

/** What the engine was given for each build, by workspace. */
const given = new Map<string, Array<PlanInput>>()

const noting: Engine = {
  ...testEngine,
  open: (source, log) =>
    Effect.map(testEngine.open(source, log), (session) => ({
      ...session,
      plan: (input) => {
        const { workspace_id } = input.metadata
        given.set(workspace_id, [...(given.get(workspace_id) ?? []), input])
        return session.plan(input)
      }
    }))
}

const provider = aHostProvider()

const shown = ({ external_auth, metadata }: PlanInput) => ({
  oidc: metadata.owner_oidc_access_token === undefined ? undefined : Redacted.value(metadata.owner_oidc_access_token),
  ssh: metadata.owner_ssh_private_key === undefined ? undefined : Redacted.value(metadata.owner_ssh_private_key).split("\n")[0],
  session: metadata.owner_session_token !== undefined,
  external: (external_auth ?? []).map(({ access_token, id }) => [id, Redacted.value(access_token)])
})

/** A user whom the provider of logins has let in. */
const signedIn = async (server: TestServer, identity: Partial<DescribedIdentity>): Promise<Person> => {
  const name = `u-${crypto.randomUUID().slice(0, 8)}`
  const browser = browserOf(server)
  await logInAs(browser, { linked_id: name, email: `${name}@example.com`, username: name, ...identity })
  const token = sessionOf(browser) ?? ""
  const { body } = await server.call("GET", "/users/me", { token })
  return { token, user: body as Person["user"] }
}

describeInterface(
  "the credentials of a build",
  (server) => {
    const inputsOf = ({ id }: { readonly id: string }) => (given.get(id) ?? []).map(shown)
    const template = () =>
      aTemplate(server(), {
        resources: [aResource()],
        external_auth: [
          { id: "git", optional: false },
          { id: "other", optional: true }
        ]
      })

    it("are those of the owner, of each build", async () => {
      const ann = await signedIn(server(), {})
      await linked(server(), ann.user.id, "git", "token of git")
      const workspace = await aWorkspace(server(), await template(), ann)
      await aBuild(server(), workspace, ann, { transition: "stop" })
      const all = { oidc: "the provider's access token", ssh: "-----BEGIN OPENSSH PRIVATE KEY-----", external: [["git", "token of git"]] }
      expect(inputsOf(workspace)).toStrictEqual([
        { ...all, session: true },
        { ...all, session: false }
      ])
    })

    it("hold a login provider's token that has not ended, renewed in time", async () => {
      const ann = await signedIn(server(), { seconds: 300, refresh_token: "first" })
      await linked(server(), ann.user.id, "git", "x")
      const workspace = await aWorkspace(server(), await template(), ann)
      expect(inputsOf(workspace).at(-1)?.oidc).toBe("another access token")
      provider.renewal = "unreachable"
      server().advance("51 minutes")
      await aBuild(server(), workspace, server().owner(), { transition: "stop" })
      expect(inputsOf(workspace).at(-1)?.oidc).toBe("another access token")
      server().advance("1 hour")
      await aBuild(server(), workspace, server().owner(), { transition: "stop" })
      expect(inputsOf(workspace).at(-1)?.oidc).toBeUndefined()
      provider.renewal = "granted"
    })

    it("hold nothing of a provider that the owner has not signed in to", async () => {
      const ann = await server().aMember()
      const workspace = await aWorkspace(server(), await aTemplate(server(), { external_auth: [{ id: "git", optional: true }] }), ann)
      expect(inputsOf(workspace)).toMatchObject([{ oidc: undefined, external: [] }])
    })

    it("fail a start whose provider cannot be asked, and no stop", async () => {
      const ann = await server().aMember()
      await linked(server(), ann.user.id, "away", "x")
      const workspace = await aWorkspace(server(), await aTemplate(server(), { external_auth: [{ id: "away", optional: true }] }), ann)
      expect(workspace.latest_build.job).toMatchObject({ status: "failed", error: expect.stringContaining("provider") })
      expect(inputsOf(workspace)).toStrictEqual([])
      const stopped = await aBuild(server(), workspace, ann, { transition: "stop" })
      expect(stopped.job.status).toBe("succeeded")
      expect(inputsOf(workspace)).toMatchObject([{ external: [] }])
    })
  },
  {
    loginProviders: [provider],
    provisioner: Layer.succeed(ProvisionerEngines, [noting]),
    options: {
      externalAuthProviders: [
        anExternalProvider("git"),
        anExternalProvider("other"),
        // Nothing listens there
        { ...anExternalProvider("away"), validate_url: "http://127.0.0.1:1/" }
      ]
    }
  }
)
