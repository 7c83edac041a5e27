/** Organizations and their members, as the tests of this folder make them. */
import { OrganizationRepository } from "@atelier/core/organizations"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { Effect, Schema } from "effect"
import type { Answer, Person, TestServer } from "../../../../test/http/server.js"

export const Organization = Schema.Struct({
  id: Uuid.Uuid,
  name: Schema.String,
  default_org_member_roles: Schema.Array(Schema.String)
})

/** Options of a server on which everything is licensed. */
export const licensed = { entitlements: { has: () => true } }

let sequence = 0
/** A name that no other organization of the run has. */
export const aName = (): string => `team-${++sequence}`

/** An organization whose only member is the first user. */
export const anOrganization = async (server: TestServer, fields: object = {}) =>
  (await server.call("POST", "/organizations", { token: server.owner().token, body: { name: aName(), ...fields } })).as(Organization)

/** Makes a person a member with these roles, without permission checks. */
export const join = (server: TestServer, organization_id: Uuid.Uuid, { user }: Pick<Person, "user">, roles: ReadonlyArray<string> = []) =>
  server.run(
    Effect.gen(function* () {
      const { addMember } = yield* OrganizationRepository
      yield* addMember({ organization_id, user_id: user.id, roles, created_at: yield* Timestamp.now })
    })
  )

/** A new user who is a member of the organization and of the default one. */
export const aMemberOf = async (server: TestServer, organization_id: Uuid.Uuid, roles: ReadonlyArray<string> = [], username?: string) => {
  const person = await server.aMember(username === undefined ? {} : { username })
  await join(server, organization_id, person, roles)
  return person
}

const Refusal = Schema.Struct({ validations: Schema.optional(Schema.Array(Schema.Struct({ field: Schema.String }))) })

/** The status of an answer, and the fields it finds fault with. */
export const fieldsOf = (answer: Answer): ReadonlyArray<unknown> => [
  answer.status,
  ...(answer.as(Refusal).validations ?? []).map(({ field }) => field)
]
