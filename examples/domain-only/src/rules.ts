/** The rules by themselves: no server, no store, no Effect runtime. */
import { AccessObjects, decide, sessionActor } from "@atelier/core/access"
import { Uuid } from "@atelier/core/platform"

const ada = Uuid.Uuid.make("11111111-1111-4111-8111-111111111111")
const grace = Uuid.Uuid.make("22222222-2222-4222-8222-222222222222")
const engineering = Uuid.Uuid.make("33333333-3333-4333-8333-333333333333")

/** Ada, a plain member of one organization. */
const { subject } = sessionActor({
  userId: ada,
  siteRoles: [],
  memberships: [
    {
      organizationId: engineering,
      roles: [],
      defaultMemberRoles: ["organization-workspace-access"],
      shareMode: "everyone",
      isServiceAccount: false
    }
  ],
  groupIds: []
})

const workspaceOf = (owner_id: Uuid.Uuid) =>
  AccessObjects.workspace({ id: "44444444-4444-4444-8444-444444444444", organization_id: engineering, owner_id, dormant_at: null })

/** The rights of Ada: she may delete her own workspace, but not even see Grace's. */
export const answers = {
  deleteOwn: decide(subject, "delete", workspaceOf(ada)),
  readForeign: decide(subject, "read", workspaceOf(grace))
}
