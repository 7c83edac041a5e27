import { errorDiagnostic, FormParameter } from "@atelier/core/provisioning"
import { Uuid } from "@atelier/core/platform"
import { LocalProvisioner } from "@atelier/provisioner"
import { BuildView } from "@atelier/core/workspaces"
import { Effect, Layer, Schema } from "effect"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it } from "vitest"
import { WebSocket } from "ws"
import { aTar } from "../../../../../test/records/archives.js"
import { describeInterface } from "../../../../../test/http/server.js"
import { anImportedVersion, aVersion, ended, fileIdOf, upload } from "../../../../../test/http/templates.js"

/** A folder for each server: two processes do not work in one. */
const provisioner = Layer.unwrapEffect(
  Effect.sync(() => LocalProvisioner.layer({ directory: mkdtempSync(join(tmpdir(), "forms-")), agent: { command: [process.execPath] } }))
)

const template = `
parameters:
  - name: kind
    default: none
    options: [{ name: None, value: none }, { name: Some, value: some }]
  - name: count
    type: number
    when: parameter.kind == "some"
    validation: { min: 1, max: 4 }
  - name: owner
    default: \${owner.username}
`

const Form = Schema.Struct({ id: Schema.Number, diagnostics: Schema.Array(Schema.Unknown), parameters: Schema.Array(FormParameter) })
type Form = typeof Form.Type

const readForm = Schema.decodeUnknownSync(Form)

/** Each parameter's value, or the codes and summaries of its diagnostics. */
const outline = ({ parameters }: Form) =>
  Object.fromEntries(
    parameters.map(({ diagnostics, name, value }) => [
      name,
      diagnostics.length === 0 ? value.value : diagnostics.map(({ extra, summary }) => extra.code || summary)
    ])
  )

const noOwner = errorDiagnostic(
  "Failed to fetch workspace owner",
  "Please check your permissions or the user may not exist.",
  "owner_not_found"
)

describeInterface(
  "a version's form",
  (server) => {
    const imported = async (yaml: string, files: Readonly<Record<string, string>> = {}) =>
      anImportedVersion(server(), {}, { file_id: fileIdOf(await upload(server(), await aTar({ "template.yaml": yaml, ...files }))) })

    const evaluate = (version: string, body: unknown, token = server().owner().token) =>
      server().call("POST", `/templateversions/${version}/dynamic-parameters/evaluate`, { token, body })

    const formOf = async (version: string, inputs: Readonly<Record<string, string>>) =>
      (await evaluate(version, { inputs, owner_id: server().owner().user.id })).as(Form)

    /** A form's WebSocket, with what it has sent. */
    const open = (version: string, { query = "", token = server().owner().token } = {}) => {
      const url = `${server().url.replace("http", "ws")}/api/v2/templateversions/${version}/dynamic-parameters${query}`
      const socket = new WebSocket(url, { headers: { "Service-Session-Token": token } })
      const arrived: Array<Form> = []
      const waiting: Array<() => void> = []
      socket.on("message", (data) => {
        arrived.push(readForm(JSON.parse(String(data))))
        for (const look of waiting.splice(0)) look()
      })
      const next = async (): Promise<Form> => {
        const form = arrived.shift()
        if (form !== undefined) return form
        await new Promise<void>((resolve) => waiting.push(resolve))
        return next()
      }
      return {
        next,
        send: (message: unknown) => socket.send(typeof message === "string" ? message : JSON.stringify(message)),
        refusal: new Promise<number | undefined>((resolve) => {
          socket.on("unexpected-response", (_, { statusCode }) => {
            resolve(statusCode)
            socket.terminate()
          })
          socket.on("error", () => {})
        }),
        closed: new Promise<number>((resolve) => socket.on("close", resolve)),
        close: () => socket.close()
      }
    }

    it("shows the parameters that the values lead to, and what is wrong with them", async () => {
      const { id } = await imported(template)
      expect(outline(await formOf(id, {}))).toStrictEqual({ kind: "none", owner: "owner" })
      expect(outline(await formOf(id, { kind: "some" }))).toStrictEqual({ kind: "some", count: ["required"], owner: "owner" })
      expect(outline(await formOf(id, { kind: "some", count: "9" }))).toMatchObject({
        count: ["Invalid parameter value according to 'validation' block"]
      })
      expect(await formOf(id, { kind: "other", unknown: "x" })).toMatchObject({
        id: 0,
        diagnostics: [],
        parameters: [
          {
            name: "kind",
            value: { value: "other", valid: true },
            diagnostics: [{ severity: "error", summary: "Value must be a valid option", extra: { code: "" } }]
          },
          { name: "owner" }
        ]
      })
    })

    it("is for an owner that the caller may read", async () => {
      const { id } = await imported(template)
      const member = await server().aMember()
      const stranger = await server().aMember({ username: "stranger" })
      const shownTo = async (token: string, owner_id?: string) => {
        const { body } = await evaluate(id, { inputs: {}, ...(owner_id === undefined ? {} : { owner_id }) }, token)
        const form = readForm(body)
        return form.parameters.length === 0 ? form.diagnostics : outline(form)["owner"]
      }
      const { token } = server().owner()
      expect(await shownTo(token, stranger.user.id)).toBe("stranger")
      expect(await shownTo(token)).toStrictEqual([noOwner])
      expect(await shownTo(token, Uuid.nil)).toStrictEqual([noOwner])
      expect(await shownTo(token, "44444444-4444-4444-8444-444444444444")).toStrictEqual([noOwner])
      expect((await evaluate(id, { owner_id: member.user.id }, member.token)).status).toBe(404)
    })

    it("needs a body of the right form", async () => {
      const { id } = await imported(template)
      const owner_id = server().owner().user.id
      const statuses = await Promise.all(
        ["{", "[]", { owner_id: "me" }, { owner_id, inputs: { a: 1 } }, { owner_id, inputs: null }, { owner_id, id: 7, more: true }].map(
          async (body) => (await evaluate(id, body)).status
        )
      )
      expect(statuses).toStrictEqual([400, 400, 400, 400, 200, 200])
    })

    it("is refused until the import has ended", async () => {
      const waiting = await aVersion(server(), {}, { tags: { gpu: "yes" } })
      const body = { owner_id: server().owner().user.id }
      expect((await evaluate(waiting.id, body)).status).toBe(425)
      expect(await open(waiting.id).refusal).toBe(425)
      const failed = await imported("parameters: [{ nam: x }]")
      expect(failed.job.status).toBe("failed")
      expect((await evaluate(failed.id, body)).as(Form)).toMatchObject({ diagnostics: [{ severity: "warning" }], parameters: [] })
    })

    it("answers over a WebSocket with the id of each request, and remembers the owner", async () => {
      const { id } = await imported(template)
      const other = await server().aMember({ username: "other" })
      const form = open(id)
      const said = async (message?: unknown) => {
        if (message !== undefined) form.send(message)
        const shown = await form.next()
        return [shown.id, shown.parameters.length === 0 ? shown.diagnostics : outline(shown)]
      }
      expect(await said()).toStrictEqual([-1, { kind: "none", owner: "owner" }])
      expect(await said({ id: 7, inputs: { kind: "some" } })).toStrictEqual([7, { kind: "some", count: ["required"], owner: "owner" }])
      expect(await said({ id: 8, owner_id: other.user.id })).toStrictEqual([8, { kind: "none", owner: "other" }])
      expect(await said({ id: -5 })).toStrictEqual([-5, { kind: "none", owner: "other" }])
      expect(await said({ id: 9, owner_id: "44444444-4444-4444-8444-444444444444" })).toStrictEqual([9, [noOwner]])
      expect(await said({ owner_id: other.user.id })).toStrictEqual([0, { kind: "none", owner: "other" }])
      form.close()
    })

    it("begins with the owner of the query", async () => {
      const { id } = await imported(template)
      const other = await server().aMember({ username: "another" })
      const form = open(id, { query: `?user_id=${other.user.id}` })
      expect(outline(await form.next())).toMatchObject({ owner: "another" })
      form.close()
      expect(await open(id, { query: "?user_id=x" }).refusal).toBe(400)
    })

    it("answers the last of many requests, in their order, and may pass over others", async () => {
      const { id } = await imported(template)
      const form = open(id)
      await form.next()
      for (let request = 1; request <= 50; request++) form.send({ id: request, inputs: { owner: String(request) } })
      const answered: Array<number> = []
      while (answered.at(-1) !== 50) {
        const shown = await form.next()
        expect(outline(shown)["owner"]).toBe(String(shown.id))
        answered.push(shown.id)
      }
      expect(answered).toStrictEqual(answered.toSorted((left, right) => left - right))
      form.close()
    })

    it.each([
      ["no JSON", "not json", 1001],
      ["an id that is no number", { id: "x", inputs: {} }, 1001],
      [
        "more than a MiB",
        { inputs: { a: "x".repeat(64_000), ...Object.fromEntries(Array.from({ length: 20 }, (_, n) => [n, "y".repeat(60_000)])) } },
        1009
      ]
    ])("is closed for a message of %s", async (_, message, code) => {
      const { id } = await imported(template)
      const form = open(id)
      await form.next()
      form.send(message)
      expect(await form.closed).toBe(code)
    })

    it("is closed when the right to the version ends", async () => {
      const { id } = await imported(template)
      const admin = await server().aMember({ rbac_roles: ["template-admin"] })
      const form = open(id, { token: admin.token })
      await form.next()
      await server().call("PUT", `/users/${admin.user.id}/roles`, { token: server().owner().token, body: { roles: [] } })
      expect(await form.closed).toBe(1008)
    })

    it("decides the parameters of builds, which keep the values of conditional ones", async () => {
      const { id: template_version_id } = await imported(template)
      const { token } = server().owner()
      const call = (method: "GET" | "POST", path: string, body?: unknown) => server().call(method, path, { token, body })
      const made = await call("POST", "/organizations/default/templates", {
        name: `form-${template_version_id.slice(-8)}`,
        template_version_id
      })
      const { id: template_id } = made.as(Schema.Struct({ id: Schema.String }))
      const create = (name: string, values: Readonly<Record<string, string>>) =>
        call("POST", "/users/me/workspaces", {
          name,
          template_id,
          rich_parameter_values: Object.entries(values).map(([name, value]) => ({ name, value }))
        })
      const valuesOf = async (build: Pick<BuildView, "id" | "job">) => {
        await ended(server(), build.job)
        const { body } = await call("GET", `/workspacebuilds/${build.id}/parameters`)
        const stored = Schema.decodeUnknownSync(Schema.Array(Schema.Struct({ name: Schema.String, value: Schema.String })))(body)
        return Object.fromEntries(stored.map(({ name, value }) => [name, value]))
      }
      const build = async (workspace: string, transition: "start" | "stop") =>
        (await call("POST", `/workspaces/${workspace}/builds`, { transition })).as(BuildView)

      const refused = await create("without", { kind: "some" })
      expect([refused.status, refused.body]).toMatchObject([400, { validations: [{ field: "count" }] }])
      const created = await create("with", { kind: "some", count: "3" })
      const { id, latest_build } = created.as(Schema.Struct({ id: Schema.String, latest_build: BuildView }))
      const values = { kind: "some", count: "3", owner: "owner" }
      expect(await valuesOf(latest_build)).toStrictEqual(values)
      expect(await valuesOf(await build(id, "stop"))).toStrictEqual(values)
      expect(await valuesOf(await build(id, "start"))).toStrictEqual(values)
      const plain = (await create("plain", { count: "3" })).as(Schema.Struct({ latest_build: BuildView }))
      expect(await valuesOf(plain.latest_build)).toStrictEqual({ kind: "none", owner: "owner" })
    })

    it("is a WebSocket's alone to open, of a version that exists", async () => {
      const { id } = await imported(template)
      const get = await server().call("GET", `/templateversions/${id}/dynamic-parameters`, { token: server().owner().token })
      expect(get.status).toBe(426)
      expect(await open("44444444-4444-4444-8444-444444444444").refusal).toBe(404)
    })
  },
  { provisioner, logLevel: "error" }
)
