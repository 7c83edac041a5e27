import { builderParts, starterTemplates } from "@atelier/templates"
import { Schema } from "effect"
import { expect, it } from "vitest"
import { describeInterface } from "../../../test/http/server.js"

const Version = Schema.Struct({ id: Schema.String, job: Schema.Struct({ file_id: Schema.String }) })

describeInterface(
  "an embedded server with the starter templates",
  (server) => {
    const get = (path: string) => server().call("GET", path, { token: server().owner().token })

    it("lists them, each with a readme and where the list is", async () => {
      const listed = (await get("/templates/examples")).as(
        Schema.Array(Schema.Struct({ id: Schema.String, url: Schema.String, markdown: Schema.NonEmptyString }))
      )
      expect(listed.map(({ id }) => id)).toStrictEqual(
        "shell node-app playground task web-editor scratch docker-node docker-python docker-compose-like kubernetes-pod".split(" ")
      )
      expect(new Set(listed.map(({ url }) => url))).toStrictEqual(new Set(["http://atelier.test/api/v2/templates/examples"]))
    })

    it.each(["shell", "scratch"])("makes a version of %s, always of the same archive", async (example_id) => {
      const files = []
      for (const _ of [1, 2]) {
        const { as, status } = await server().call("POST", "/organizations/default/templateversions", {
          token: server().owner().token,
          body: { storage_method: "file", provisioner: "terraform", example_id }
        })
        expect(status).toBe(201)
        files.push(as(Version).job.file_id)
      }
      expect(files[0]).toBe(files[1])
      expect((await get(`/files/${files[0]}`)).text).toContain("README.md")
    })

    it("composes templates of the builder's parts", async () => {
      const bases = (await get("/templatebuilder/bases")).text
      expect(bases).toContain('"scratch"')
    })
  },
  { starterTemplates: starterTemplates(), templateBuilder: builderParts() }
)
