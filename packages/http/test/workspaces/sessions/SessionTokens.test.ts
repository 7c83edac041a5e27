import { type Engine, type PlanInput, ProvisionerEngines } from "@atelier/core/provisioning"
import { Effect, Layer, Redacted, Schema } from "effect"
import { expect, it } from "vitest"
import { testEngine } from "../../../../../test/outside/engine.js"
import { aResource } from "../../../../../test/records/resources.js"
import { describeServer, type Person } from "../../../../../test/http/server.js"
import { aTemplate } from "../../../../../test/http/templates.js"
import { aBuild, aWorkspace } from "../../../../../test/http/workspaceCalls.js"

/** The token that the engine was given for each build it applied, by workspace. */
const given = new Map<string, Array<string | undefined>>()

const noted = ({ metadata }: PlanInput): void => {
  const { owner_session_token: token, workspace_id } = metadata
  given.set(workspace_id, [...(given.get(workspace_id) ?? []), token === undefined ? undefined : Redacted.value(token)])
}

const noting: Engine = {
  ...testEngine,
  open: (source, log) =>
    Effect.map(testEngine.open(source, log), (session) => ({
      ...session,
      apply: (input) =>
        Effect.zipRight(
          Effect.sync(() => noted(input)),
          session.apply(input)
        )
    }))
}

describeServer(
  "the owner's session in a workspace",
  (server) => {
    const tokensOf = ({ id }: { readonly id: string }) => given.get(id) ?? []
    const works = async (token: string | undefined): Promise<boolean> =>
      (await server().call("GET", "/users/me", { token: token ?? "" })).status === 200
    const keyName = async (token: string, { token: own }: Person) => {
      const answer = await server().call("GET", `/users/me/keys/${token.split("-")[0]}`, { token: own })
      return answer.as(Schema.Struct({ token_name: Schema.String })).token_name
    }

    it("begins with a start and ends with the next stop", async () => {
      const ann = await server().aMember()
      const workspace = await aWorkspace(server(), await aTemplate(server(), { resources: [aResource()] }), ann)
      const [first = ""] = tokensOf(workspace)
      expect(await keyName(first, ann)).toBe(`${ann.user.username}_${workspace.name}_session_token`)
      const me = await server().call("GET", "/users/me", { token: first })
      expect(me.body).toMatchObject({ id: ann.user.id })

      await aBuild(server(), workspace, ann, { transition: "stop" })
      expect(tokensOf(workspace)).toStrictEqual([first, undefined])
      expect(await works(first)).toBe(false)
    })

    it("is replaced by another start, and by no workspace of another name", async () => {
      const ann = await server().aMember()
      const template = await aTemplate(server(), { resources: [aResource()] })
      const [one, other] = [await aWorkspace(server(), template, ann), await aWorkspace(server(), template, ann)]
      await aBuild(server(), one, ann, { transition: "start" })
      const [first, second] = tokensOf(one)
      expect([await works(first), await works(second), await works(tokensOf(other)[0])]).toStrictEqual([false, true, true])
    })

    it("ends with the deletion of the workspace, also without a daemon", async () => {
      const ann = await server().aMember()
      const template = await aTemplate(server(), { resources: [aResource()] })
      const [one, other] = [await aWorkspace(server(), template, ann), await aWorkspace(server(), template, ann)]
      await server().call("PATCH", `/workspaces/${one.id}`, { token: ann.token, body: { name: `${one.name}-x` } })
      await aBuild(server(), one, ann, { transition: "delete" })
      expect(await works(tokensOf(one)[0])).toBe(false)
      await aBuild(server(), other, server().owner(), { transition: "delete", orphan: true })
      expect(await works(tokensOf(other)[0])).toBe(false)
    })
  },
  { provisioner: Layer.succeed(ProvisionerEngines, [noting]), options: { allowWorkspaceRenames: true } }
)
