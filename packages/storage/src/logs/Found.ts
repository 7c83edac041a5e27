/** What rows of logs are joined with: users without their memberships, and organizations. */
import type { MinimalOrganization } from "@atelier/core/logs"
import type { UserWithOrganizations } from "@atelier/core/identity"
import { row, text, uuid } from "../platform/Row.js"
import { userColumns } from "../identity/users/UserRepository.js"

const listOf = (alias: string, columns: object): string =>
  Object.keys(columns)
    .map((name) => `${alias}.${name} AS ${alias}_${name}`)
    .join(", ")

const readUser = row(userColumns, "u_")

const organizationColumns = { id: uuid, name: text(), display_name: text(), icon: text() }
const readOrganization = row(organizationColumns, "o_")

const has = (from: object, key: string): boolean => key in from && (from as Readonly<Record<string, unknown>>)[key] !== null

/** The columns of a user `u` and an organization `o` that an outer join may not find. */
export const foundColumns = `${listOf("u", userColumns)}, ${listOf("o", organizationColumns)}`

/** Null where the join found none. */
export const foundUser = (from: object): UserWithOrganizations | null =>
  has(from, "u_id") ? { ...readUser(from), organization_ids: [] } : null

/** Null where the join found none. */
export const foundOrganization = (from: object): MinimalOrganization | null => (has(from, "o_id") ? readOrganization(from) : null)
