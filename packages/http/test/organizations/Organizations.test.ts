import { OrganizationRepository } from "@atelier/core/organizations"
import { Uuid } from "@atelier/core/platform"
import { Effect, Schema } from "effect"
import { expect, it } from "vitest"
import { anOrganization } from "../../../../test/records/builders.js"
import { describeInterface, type Person } from "../../../../test/http/server.js"

const Named = Schema.Array(Schema.Struct({ name: Schema.String }))

describeInterface("organizations", (server) => {
  const get = (path: string, { token }: Person) => server().call("GET", path, { token })

  const store = (fields: Parameters<typeof anOrganization>[0]) =>
    server().run(
      Effect.gen(function* () {
        const organization = yield* anOrganization(fields)
        yield* (yield* OrganizationRepository).insert(organization)
        return organization
      })
    )

  it("are found by id and name; the default one also by alias and nil UUID", async () => {
    const owner = server().owner()
    const { id } = await store({ name: "Research" })
    for (const reference of [id, id.toUpperCase(), "research", "RESEARCH", "research/"]) {
      expect((await get(`/organizations/${reference}`, owner)).body).toMatchObject({ id, name: "Research", is_default: false })
    }
    for (const reference of ["default", Uuid.nil]) {
      expect((await get(`/organizations/${reference}`, owner)).body).toMatchObject({ name: "default", is_default: true })
    }
    expect((await get("/organizations/%00", owner)).status).toBe(400)
  })

  it("are seen by their members and by those who see all", async () => {
    const owner = server().owner()
    const member = await server().aMember()
    await store({ name: "hidden" })
    const deleted = await store({ name: "gone", deleted: true })
    const names = async (person: Person) => (await get("/organizations", person)).as(Named).map(({ name }) => name)
    expect(await names(member)).toStrictEqual(["default"])
    expect(await names(owner)).toEqual(expect.arrayContaining(["default", "hidden"]))
    expect(await names(owner)).not.toContain("gone")
    const hidden = await get("/organizations/hidden", member)
    expect([hidden.status, hidden.text]).toStrictEqual([404, (await get("/organizations/nowhere", member)).text])
    expect((await get(`/organizations/${deleted.id}`, owner)).status).toBe(404)
  })
})
