import { ProvisionerJobs } from "@atelier/core/provisioning"
import { PresetView } from "@atelier/core/templates"
import { Effect, Schema } from "effect"
import { expect, it } from "vitest"
import { aTar } from "../../../../../test/records/archives.js"
import { testEngines } from "../../../../../test/outside/engine.js"
import { describeInterface } from "../../../../../test/http/server.js"
import {
  anImportedVersion,
  aSource,
  aTemplate,
  aVersion,
  ended,
  fileIdOf,
  getVersion,
  requestVersion,
  upload
} from "../../../../../test/http/templates.js"

describeInterface(
  "imports",
  (server) => {
    const get = (path: string) => server().call("GET", path, { token: server().owner().token })

    it("store the source's readme, variables, ordered parameters, presets and resources", async () => {
      const { id, job, readme } = await anImportedVersion(server(), {
        readme: "# Hello",
        variables: [
          { name: "size", default_value: "10" },
          { name: "secret", default_value: "hush", sensitive: true }
        ],
        parameters: [
          { name: "zone", default_value: "b", order: 2, description: "See **the** [docs](https://example.com)" },
          { name: "Alpha", default_value: "1", type: "number", order: 1, validation_min: 0, validation_max: 9 }
        ],
        presets: [
          {
            name: "small",
            description: "few",
            icon: "/s.svg",
            default: true,
            parameters: [{ name: "zone", value: "b" }],
            desired_prebuild_instances: null
          }
        ],
        resources: [
          {
            name: "main",
            type: "thing",
            icon: "",
            hide: false,
            daily_cost: 0,
            instance_type: "",
            module_path: "",
            metadata: [],
            agents: []
          }
        ]
      })
      expect([job.status, readme]).toStrictEqual(["succeeded", "# Hello"])
      expect((await get(`/templateversions/${id}/variables`)).body).toMatchObject([
        { name: "secret", value: "*redacted*", default_value: "*redacted*", sensitive: true },
        { name: "size", value: "10", default_value: "10", required: false }
      ])
      expect((await get(`/templateversions/${id}/rich-parameters`)).body).toMatchObject([
        { name: "Alpha", type: "number", validation_min: 0, validation_max: 9 },
        { name: "zone", description_plaintext: "See the docs", options: [] }
      ])
      const [preset] = (await get(`/templateversions/${id}/presets`)).as(Schema.Array(PresetView))
      expect(preset).toStrictEqual({
        ID: preset?.ID,
        Name: "small",
        Default: true,
        Parameters: [{ Name: "zone", Value: "b" }],
        DesiredPrebuildInstances: 0,
        Description: "few",
        Icon: "/s.svg"
      })
      const parameters = [{ Name: "zone", Value: "b", name: "zone", value: "b" }]
      expect((await get(`/templateversions/${id}/presets`)).body).toStrictEqual([
        {
          ...preset,
          Parameters: parameters,
          id: preset?.ID,
          name: "small",
          default: true,
          parameters,
          desiredPrebuildInstances: 0,
          description: "few",
          icon: "/s.svg"
        }
      ])
      const resources = (await get(`/templateversions/${id}/resources`)).body
      expect(resources).toMatchObject([
        { name: "main", workspace_transition: "start" },
        { name: "main", workspace_transition: "stop" }
      ])
    })

    it("return null for missing presets", async () => {
      const { id } = await anImportedVersion(server())
      expect((await get(`/templateversions/${id}/presets`)).body).toBeNull()
    })

    it("require no external provider", async () => {
      const { active_version_id: id } = await aTemplate(server())
      const member = await server().aMember()
      const ask = (token: string, query: string) => server().call("GET", `/templateversions/${id}/external-auth${query}`, { token })
      const owner = server().owner()
      const answers = await Promise.all([
        ask(owner.token, ""),
        ask(owner.token, "?user_id=me"),
        ask(owner.token, `?user_id=${member.user.id}`),
        ask(owner.token, "?user_id=x"),
        ask(member.token, `?user_id=${member.user.id}`),
        ask(member.token, `?user_id=${owner.user.id}`)
      ])
      expect(answers.map(({ body, status }) => (status === 200 ? body : status))).toStrictEqual([[], [], [], 400, [], 403])
    })

    it("fail without the value of a required variable", async () => {
      const source = { variables: [{ name: "region" }, { name: "zone", default_value: "one" }] }
      const failed = await anImportedVersion(server(), source, { user_variable_values: [{ name: "zone", value: "two" }] })
      expect(failed.job).toMatchObject({ status: "failed", error_code: "REQUIRED_TEMPLATE_VARIABLES" })
      expect(failed.job.error).toContain("required template variables")
      expect((await get(`/templateversions/${failed.id}/variables`)).body).toMatchObject([
        { name: "region", value: "" },
        { name: "zone", value: "two" }
      ])
      const given = { user_variable_values: [{ name: "region", value: "mars" }] }
      const succeeded = await anImportedVersion(server(), source, given)
      expect(succeeded.job.status).toBe("succeeded")
      const template = await server().call("POST", "/organizations/default/templates", {
        token: server().owner().token,
        body: { name: "with-region", template_version_id: succeeded.id }
      })
      const { id: template_id } = template.as(Schema.Struct({ id: Schema.String }))
      const inherited = await anImportedVersion(server(), source, { template_id })
      expect((await get(`/templateversions/${inherited.id}/variables`)).body).toMatchObject([
        { name: "region", value: "mars" },
        { name: "zone", value: "one" }
      ])
    })

    it("fail with the engine's reason", async () => {
      const broken = await anImportedVersion(server(), { fails: "plan" })
      expect(broken.job).toMatchObject({ status: "failed", error: "plan failed as it was told" })
      const file_id = fileIdOf(await upload(server(), await aTar({ "main.tf": "", "docs/README.md": "" })))
      const foreign = await anImportedVersion(server(), {}, { file_id, provisioner: "terraform" })
      expect(foreign.job.status).toBe("failed")
      expect(foreign.job.error).toContain("main.tf")
    })

    it("refuse parameters that are defined twice, and patterns that cannot be matched", async () => {
      const twice = await anImportedVersion(server(), { parameters: [{ name: "a" }, { name: "a" }] })
      expect(twice.job.error).toContain('"a" is defined more than once')
      const backtracking = await anImportedVersion(server(), { parameters: [{ name: "a", validation_regex: "(a)\\1" }] })
      expect(backtracking.job.error).toContain("pattern")
    })

    it("have nothing to show before they end, and are canceled once", async () => {
      const { id, job } = await aVersion(server(), { hangs: "plan" })
      expect((await get(`/templateversions/${id}/rich-parameters`)).status).toBe(425)
      expect((await get(`/templateversions/${id}/variables`)).status).toBe(403)
      expect((await get(`/templateversions/${id}/resources`)).status).toBe(400)
      const cancel = () => server().call("PATCH", `/templateversions/${id}/cancel`, { token: server().owner().token })
      expect((await cancel()).status).toBe(200)
      expect((await cancel()).status).toBe(400)
      await ended(server(), job)
      expect((await getVersion(server(), id)).job.status).toBe("canceled")
      expect((await cancel()).status).toBe(400)
    })

    it("have the tags of the source and of the request", async () => {
      const tagged = await aVersion(server(), { workspace_tags: { foo: "x" } }, { tags: { foo: "", bar: "y" } })
      expect(tagged.job.tags).toStrictEqual({ foo: "x", bar: "y", scope: "organization", owner: "" })
      const own = await aVersion(server(), {}, { tags: { scope: "user", owner: "someone" } })
      expect(own.job.tags).toStrictEqual({ scope: "user", owner: server().owner().user.id })
    })

    it("replace half a surrogate pair by the replacement character everywhere", async () => {
      const answer = await server().call("POST", "/organizations/default/templateversions", {
        token: server().owner().token,
        body: JSON.stringify({
          storage_method: "file",
          provisioner: "echo",
          file_id: await aSource(server(), { variables: [{ name: "v" }] }),
          message: "m",
          user_variable_values: [{ name: "v", value: "HALF" }],
          tags: { KEY: "HALF" }
        })
          .replace(/HALF/g, "a\\ud83d")
          .replace("KEY", "\\udc00k")
      })
      expect(answer.status).toBe(201)
      expect(answer.body).toMatchObject({ job: { tags: { "\ufffdk": "a\ufffd" } } })
    })

    it("wait where no daemon has their tags", async () => {
      const { id, job, matched_provisioners } = await aVersion(server(), {}, { tags: { gpu: "yes" } })
      expect(job).toMatchObject({ status: "pending", queue_position: 0, queue_size: 0 })
      expect(matched_provisioners).toStrictEqual({ count: 0, available: 0, most_recently_seen: null })
      const waiting = await getVersion(server(), id)
      expect(waiting.matched_provisioners).toStrictEqual({ count: 0, available: 0, most_recently_seen: null })
      expect(waiting.job.status).toBe("pending")
    })

    it("write a log that is read from any row on, as JSON and as text", async () => {
      const { job, id } = await anImportedVersion(server(), { logs: ["first", "second"] })
      const Rows = Schema.Array(Schema.Struct({ id: Schema.Number, stage: Schema.String, output: Schema.String, log_level: Schema.String }))
      const rows = (await get(`/templateversions/${id}/logs`)).as(Rows)
      expect(rows.map(({ output, stage }) => `${stage}: ${output}`)).toStrictEqual([
        "Setting up: ",
        "Parsing template parameters: ",
        "Detecting persistent resources: ",
        "Planning Infrastructure: ",
        "Planning Infrastructure: first",
        "Planning Infrastructure: second",
        "Detecting ephemeral resources: ",
        "Planning Infrastructure: ",
        "Planning Infrastructure: first",
        "Planning Infrastructure: second",
        "Cleaning Up: "
      ])
      const later = (await get(`/templateversions/${id}/logs?after=${rows[8]?.id}`)).as(Rows)
      expect(later.map(({ output }) => output)).toStrictEqual(["second", ""])
      const text = await get(`/templateversions/${id}/logs?format=text`)
      expect(text.headers.get("content-type")).toContain("text/plain")
      expect(text.text).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z \[info\] \[provisioner\|Setting up\] \n/)
      expect((await get(`/templateversions/${id}/logs?after=x`)).body).toMatchObject({ validations: [{ field: "after" }] })
      expect((await get(`/templateversions/${id}/logs?format=xml`)).status).toBe(400)
      expect((await get(`/templateversions/${id}/logs?follow&format=text`)).status).toBe(400)
      const stored = await server().run(Effect.flatMap(ProvisionerJobs, ({ get }) => get(job.id)))
      expect(stored.logs_length).toBe(Buffer.byteLength("firstsecondfirstsecond"))
    })

    it("need one source, a name of the right form, and a file the caller may read", async () => {
      const fields = async (body: Readonly<Record<string, unknown>>) => {
        const answer = await requestVersion(server(), {}, body)
        const { validations = [] } = answer.as(
          Schema.Struct({ validations: Schema.optional(Schema.Array(Schema.Struct({ field: Schema.String }))) })
        )
        return [answer.status, ...validations.map(({ field }) => field)]
      }
      expect(await fields({ file_id: undefined })).toStrictEqual([400, "file_id", "example_id"])
      expect(await fields({ example_id: "docker" })).toStrictEqual([400, "file_id", "example_id"])
      expect(await fields({ name: "a b" })).toStrictEqual([400, "name"])
      expect(await fields({ provisioner: "pulumi" })).toStrictEqual([400, "provisioner"])
      expect(await fields({ file_id: "7b5e8a5e-65b0-4d4e-9d9c-8a2a8a6a5f4e" })).toStrictEqual([404])
      expect(await fields({ tags: { big: "x".repeat(5_000) } })).toStrictEqual([400, "tags"])
      const broken = fileIdOf(await upload(server(), Buffer.from("no tar at all ".repeat(100))))
      expect(await fields({ file_id: broken })).toStrictEqual([400, "file_id"])
    })

    it("are refused to members, whose templates others make", async () => {
      const member = await server().aMember()
      const template = await aTemplate(server())
      const theirs = fileIdOf(await upload(server(), await aTar({ "mine.txt": "x" }), { token: member.token }))
      const attempt = async (body: Readonly<Record<string, unknown>>) => (await requestVersion(server(), {}, body, member.token)).status
      expect(await attempt({ file_id: theirs })).toBe(403)
      expect(await attempt({ file_id: theirs, template_id: template.id })).toBe(403)
      // The files of others are not there for them
      expect(await attempt({})).toBe(404)
      expect(await attempt({ template_id: template.id })).toBe(404)
    })
  },
  { provisioner: testEngines, logLevel: "error" }
)
