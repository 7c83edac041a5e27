import type { GroupWithNames } from "@atelier/core/groups"
import { TemplateSharing } from "@atelier/core/templates"
import { WorkspaceSharing } from "@atelier/core/workspaces"
import { Effect, Stream } from "effect"
import * as contract from "../../contract/access/sharing.js"
import { TemplateAcl, TemplateGroup } from "../../contract/access/sharing.js"
import { jsonObjectsIn } from "../../server/codec/streams.js"
import { groupView, reducedUserView } from "../groups/groups.js"
import * as Handlers from "../Handlers.js"
import { userView } from "../identity/users.js"

const withoutMembers = (group: GroupWithNames) => groupView({ ...group, members: [] })

export const templateSharing = Handlers.group(contract.templateSharing, (handlers) =>
  Effect.map(TemplateSharing, (sharing) =>
    handlers
      .handle("listAvailableForTemplate", ({ path, urlParams: { q, ...page } }) =>
        Effect.map(sharing.available(path.template, q, page), ({ groups, users }) => ({
          users: users.map(reducedUserView),
          groups: groups.map(withoutMembers)
        }))
      )
      .handle("getTemplateAcl", ({ path }) =>
        Effect.flatMap(sharing.get(path.template), ({ groups, users }) =>
          jsonObjectsIn(
            {
              schema: TemplateAcl.omit("group"),
              value: { users: users.map(({ role, user }) => ({ ...userView(user), role })) },
              list: "group"
            },
            {
              schema: TemplateGroup,
              list: "members",
              parts: Stream.map(groups, ({ group, role }) => ({ ...groupView(group), role }))
            }
          )
        )
      )
      .handle("updateTemplateAcl", ({ path, payload }) =>
        Effect.as(sharing.change(path.template, payload), { message: "Successfully updated template ACL list." })
      )
  )
)

export const workspaceSharing = Handlers.group(contract.workspaceSharing, (handlers) =>
  Effect.map(WorkspaceSharing, (sharing) =>
    handlers
      .handle("getWorkspaceAcl", ({ path }) =>
        Effect.map(sharing.get(path.workspace), ({ groups, users }) => ({
          users: users.map(({ role, user }) => ({ ...userView(user), role })),
          group: groups.map(({ group, role }) => ({ ...withoutMembers(group), role }))
        }))
      )
      .handle("updateWorkspaceAcl", ({ path, payload }) => sharing.change(path.workspace, payload))
      .handle("clearWorkspaceAcl", ({ path }) => sharing.clear(path.workspace))
  )
)
