import { validGrants } from "@atelier/core/access"
import { CustomRoleRepository } from "@atelier/core/organizations"
import { Effect, Schema } from "effect"
import { json, number, row, text, timestamp, uuid } from "../platform/Row.js"
import { all, first, one, run, runUnique } from "../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { Statements } from "../platform/Statements.js"

const permissions = json(Schema.Record({ key: Schema.String, value: Schema.Array(Schema.String) }))

const columns = {
  id: uuid,
  organization_id: uuid,
  name: text(),
  display_name: text(),
  // A later version may know more
  permissions: { read: (value: unknown) => validGrants(permissions.read(value)) },
  created_at: timestamp,
  updated_at: timestamp
}

const role = row(columns)
const counted = row({ count: number })

export const layer = service(
  CustomRoleRepository,
  Effect.map(Statements, (sql) => {
    const selected = sql`SELECT ${sql.literal(Object.keys(columns).join(", "))} FROM custom_roles`

    /** One parameter, for any number of members' roles. */
    const isOneOf = (names: ReadonlyArray<string>) =>
      sql.dialect({
        postgres: () => sql`name IN (SELECT jsonb_array_elements_text(CAST(${JSON.stringify(names)} AS jsonb)))`,
        sqlite: () => sql`name IN (SELECT value FROM json_each(${JSON.stringify(names)}))`
      })

    return CustomRoleRepository.of({
      ofOrganization: (id) => all(role, sql`${selected} WHERE organization_id = ${id} ORDER BY name`),
      named: (id, names) =>
        names.length === 0 ? Effect.succeed([]) : all(role, sql`${selected} WHERE organization_id = ${id} AND ${isOneOf(names)}`),
      byName: (id, name) => first(role, sql`${selected} WHERE organization_id = ${id} AND name = ${name}`),
      count: (id) =>
        Effect.map(one(counted, sql`SELECT count(*) AS count FROM custom_roles WHERE organization_id = ${id}`), ({ count }) => count),
      insert: (value) =>
        runUnique(Effect.asVoid(sql`INSERT INTO custom_roles ${sql.insert({ ...value, permissions: JSON.stringify(value.permissions) })}`)),
      update: ({ display_name, id, permissions, updated_at }) =>
        run(
          sql`UPDATE custom_roles SET display_name = ${display_name}, permissions = ${JSON.stringify(permissions)}, updated_at = ${updated_at}
            WHERE id = ${id}`
        ),
      delete: (id) => run(sql`DELETE FROM custom_roles WHERE id = ${id}`)
    })
  })
)
