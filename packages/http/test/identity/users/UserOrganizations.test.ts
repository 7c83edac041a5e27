import { OrganizationRepository } from "@atelier/core/organizations"
import { Timestamp } from "@atelier/core/platform"
import { Effect, Schema } from "effect"
import { expect, it } from "vitest"
import { anOrganization } from "../../../../../test/records/builders.js"
import { describeInterface, type Person } from "../../../../../test/http/server.js"

const Shown = Schema.Struct({ organization_ids: Schema.Array(Schema.String) })
const Named = Schema.Array(Schema.Struct({ name: Schema.String }))

describeInterface("a user's organizations", (server) => {
  const get = (path: string, { token }: Person) => server().call("GET", path, { token })
  const names = async (path: string, person: Person) => (await get(path, person)).as(Named).map(({ name }) => name)

  /** An organization with members. */
  const store = (fields: Parameters<typeof anOrganization>[0], ...members: ReadonlyArray<Person>) =>
    server().run(
      Effect.gen(function* () {
        const organizations = yield* OrganizationRepository
        const organization = yield* anOrganization(fields)
        const created_at = yield* Timestamp.now
        yield* organizations.insert(organization)
        yield* Effect.forEach(members, ({ user }) =>
          organizations.addMember({ organization_id: organization.id, user_id: user.id, roles: [], created_at })
        )
        return organization
      })
    )

  it("are those that the caller may read, by name", async () => {
    const member = await server().aMember()
    const auditor = await server().aMember({ rbac_roles: ["auditor"] })
    const narrow = await server().aMember({}, ["organization-admin"])
    await store({ name: "Zoology" }, member)
    await store({ name: "astronomy" }, member)
    await store({ name: "gone", deleted: true }, member)
    await store({ name: "elsewhere" })
    const path = `/users/${member.user.username}/organizations`
    const all = ["astronomy", "default", "Zoology"]
    expect(await names("/users/me/organizations/", member)).toStrictEqual(all)
    expect(await names(path, server().owner())).toStrictEqual(all)
    expect(await names(path, auditor)).toStrictEqual(all)
    // Reads every user, but only its own organization
    expect(await names(path, narrow)).toStrictEqual(["default"])
    expect((await get(path, await server().aMember())).status).toBe(404)
    const [first] = (await get(path, member)).as(Schema.Array(Schema.Unknown))
    expect(first).toStrictEqual({
      id: expect.any(String),
      name: "astronomy",
      display_name: "",
      description: "",
      icon: "",
      created_at: expect.any(String),
      updated_at: expect.any(String),
      is_default: false,
      default_org_member_roles: ["organization-workspace-access"]
    })
  })

  it("are shown as far as the caller may read them, without deleted ones", async () => {
    const member = await server().aMember()
    const narrow = await server().aMember({}, ["organization-admin"])
    const kept = await store({ name: "Geology" }, member)
    await store({ name: "closed", deleted: true }, member)
    const all = await server().run(Effect.flatMap(OrganizationRepository, (organizations) => Effect.flatten(organizations.default)))
    const shown = async (person: Person) => {
      const one = (await get(`/users/${member.user.id}`, person)).as(Shown).organization_ids.toSorted()
      const listed = (await get(`/users?q=username:${member.user.username}`, person)).as(Schema.Struct({ users: Schema.Array(Shown) }))
      expect(listed.users.map(({ organization_ids }) => organization_ids.toSorted())).toStrictEqual([one])
      return one
    }
    expect(await shown(member)).toStrictEqual([all.id, kept.id].toSorted())
    expect(await shown(server().owner())).toStrictEqual([all.id, kept.id].toSorted())
    expect(await shown(narrow)).toStrictEqual([all.id])
  })

  it("are found by name alone, whether the user is a member or not", async () => {
    const member = await server().aMember()
    const organization = await store({ name: "Botany" })
    const one = (name: string, person: Person, user = member.user.username) => get(`/users/${user}/organizations/${name}`, person)
    expect((await one("botany", server().owner())).body).toMatchObject({ id: organization.id, name: "Botany" })
    expect((await one("default", member, "me")).body).toMatchObject({ is_default: true })
    const unknown = await one("nowhere", server().owner())
    expect(unknown.status).toBe(404)
    expect((await one(organization.id, server().owner())).status).toBe(404)
    const hidden = await one("botany", member)
    expect([hidden.status, hidden.text]).toStrictEqual([404, unknown.text])
    expect((await one("default", await server().aMember())).status).toBe(404)
    await store({ name: "extinct", deleted: true })
    expect((await one("extinct", server().owner())).status).toBe(404)
  })
})
