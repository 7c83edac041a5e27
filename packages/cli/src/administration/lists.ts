/** `organizations`, `groups`, `audit` and `notifications`. */
import type { AuditLog, Organization } from "@atelier/client"
import * as audit from "@atelier/client/audit"
import * as groups from "@atelier/client/groups"
import * as inbox from "@atelier/client/inbox"
import * as organizationGroups from "@atelier/client/organizationGroups"
import * as organizations from "@atelier/client/organizations"
import * as users from "@atelier/client/users"
import type { Session } from "../Session.js"
import { ago } from "../terminal/text.js"
import { existing, findOrganization, ofUser } from "../workspaces/find.js"

export const listOrganizations = async (_: object, session: Session): Promise<void> => {
  const found: ReadonlyArray<Organization> = await organizations.listOrganizations(await session.client(), { signal: session.signal })
  session.out.list(found, [
    { title: "NAME", of: ({ name }) => name, isKey: true },
    { title: "TITLE", of: ({ display_name }) => display_name },
    { title: "DEFAULT", of: ({ is_default }) => (is_default ? "yes" : "") },
    { title: "DESCRIPTION", of: ({ description }) => description }
  ])
}

export const listGroups = async ({ organization }: { readonly organization: string | undefined }, session: Session): Promise<void> => {
  const client = await session.client()
  const { signal } = session
  const found =
    organization === undefined
      ? await groups.listGroups(client, {}, { signal })
      : await organizationGroups.listOrganizationGroups(
          client,
          { organization: (await findOrganization(client, organization, session)).id },
          { signal }
        )
  session.out.list(found, [
    { title: "NAME", of: ({ name }) => name, isKey: true },
    { title: "ORGANIZATION", of: ({ organization_name }) => organization_name },
    { title: "MEMBERS", of: ({ total_member_count }) => String(total_member_count) },
    { title: "QUOTA", of: ({ quota_allowance }) => String(quota_allowance) },
    { title: "TITLE", of: ({ display_name }) => display_name }
  ])
}

interface GroupInput {
  readonly group: string
  readonly organization: string | undefined
}

export const createGroup = async ({ group: name, organization = "default" }: GroupInput, session: Session): Promise<void> => {
  const client = await session.client()
  const { id } = await findOrganization(client, organization, session)
  const made = await organizationGroups.createGroup(client, { organization: id, body: { name } }, { signal: session.signal })
  if (session.out.format !== "table") session.out.one(made, [])
  session.out.say(`Created the group ${name}.`)
}

interface MembersInput extends GroupInput {
  readonly users: ReadonlyArray<string>
  readonly remove: boolean
}

export const changeMembers = async (input: MembersInput, session: Session): Promise<void> => {
  const client = await session.client()
  const { signal } = session
  const { organization = "default" } = input
  const of = await findOrganization(client, organization, session)
  const { id, members } = await existing(
    organizationGroups.getGroupByName(client, { organization: of.id, groupName: input.group }, { signal }),
    `There is no group "${input.group}" in the organization "${organization}".`,
    `"${session.program} groups list" lists them.`
  )
  const found = await Promise.all(input.users.map(async (user) => (await ofUser(user, users.getUser(client, { user }, { signal }))).id))
  const ids = [...new Set(found)]
  // The service refuses to add members again
  const added = ids.filter((each) => !members.some((member) => member.id === each))
  await groups.updateGroup(client, { group: id, body: input.remove ? { remove_users: ids } : { add_users: added } }, { signal })
  session.out.say(`${input.remove ? "Removed from" : "Added to"} ${input.group}: ${input.users.join(", ")}.`)
}

const what = ({ description, user }: AuditLog): string =>
  description.replaceAll("{user}", user?.username ?? "the service").replaceAll("{target}", "")

export const listAudit = async (
  { limit, search }: { readonly limit: number | undefined; readonly search: string | undefined },
  session: Session
): Promise<void> => {
  const client = await session.client()
  const { audit_logs } = await audit.listAuditLogs(client, { q: search, limit: limit ?? 50 }, { signal: session.signal })
  session.out.list(audit_logs, [
    { title: "TIME", of: ({ time }) => time.slice(0, 19).replace("T", " "), isKey: true },
    { title: "USER", of: ({ user }) => user?.username ?? "" },
    { title: "ACTION", of: ({ action }) => action },
    { title: "ON", of: ({ resource_target, resource_type }) => `${resource_type} ${resource_target}`.trim() },
    { title: "WHAT", of: what },
    { title: "STATUS", of: ({ status_code }) => String(status_code) }
  ])
}

export const listNotifications = async ({ unread }: { readonly unread: boolean }, session: Session): Promise<void> => {
  const client = await session.client()
  const input = unread ? ({ read_status: "unread" } as const) : {}
  const { notifications } = await inbox.listInboxNotifications(client, input, { signal: session.signal })
  session.out.list(
    notifications,
    [
      { title: "TIME", of: ({ created_at }) => ago(created_at), isKey: true },
      { title: "READ", of: ({ read_at }) => (read_at === null ? "" : "yes") },
      { title: "TITLE", of: ({ title }) => title },
      { title: "CONTENT", of: ({ content }) => content }
    ],
    "There is no notification."
  )
}

export const readNotifications = async (_: object, session: Session): Promise<void> => {
  await inbox.markAllInboxNotificationsAsRead(await session.client(), { signal: session.signal })
  session.out.say("All notifications are read.")
}
