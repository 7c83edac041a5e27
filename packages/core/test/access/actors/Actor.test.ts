import { describe, expect, it } from "vitest"
import {
  agentActor,
  decide,
  type MembershipInput,
  permits,
  prebuildsUserId,
  sessionActor,
  SystemActor,
  testActor,
  testUserId,
  userActor
} from "../../../src/access/index.js"
import { requireAction } from "../../../src/access/Resource.js"
import { Uuid } from "../../../src/platform/texts/Uuid.js"

const id = (last: string) => Uuid.make(`00000000-0000-4000-8000-${last.padStart(12, "0")}`)
const owner = {
  userId: id("1"),
  siteRoles: [],
  memberships: [
    {
      organizationId: id("2"),
      roles: [],
      defaultMemberRoles: ["organization-workspace-access"],
      shareMode: "everyone",
      isServiceAccount: false
    }
  ]
} as const
const own = { owner: owner.userId, org: owner.memberships[0].organizationId }
const agent = (apiKeyScope: "all" | "no_user_data", taskId?: Uuid) =>
  agentActor({ agentId: id("3"), owner, workspaceId: id("4"), templateId: id("5"), templateVersionId: id("6"), taskId, apiKeyScope })

describe("a session", () => {
  it("has nothing of a membership but what is given", () => {
    const { subject } = sessionActor({ userId: id("1"), memberships: [{ organizationId: id("2") }] })
    const whole = sessionActor({
      ...owner,
      memberships: [{ organizationId: id("2"), roles: [], defaultMemberRoles: [], shareMode: "none", isServiceAccount: false }]
    })
    expect(subject).toStrictEqual(whole.subject)
    expect(decide(subject, "read", { type: "organization", id: id("2"), org: id("2") })).toBe(true)
    expect(decide(subject, "create", { type: "workspace", ...own })).toBe(false)
  })

  it("is refused for a membership of no organization", () => {
    // As JavaScript may give it
    const nowhere: MembershipInput = JSON.parse(`{"roles":["organization-admin"]}`)
    expect(() => sessionActor({ userId: id("1"), memberships: [nowhere] })).toThrow(
      "memberships: each needs the organizationId of its organization"
    )
  })
})

describe("the service's own actors", () => {
  it("are granted no action that a decision would refuse as misspelt", () => {
    const grants = Object.values(SystemActor).flatMap((actor) =>
      typeof actor === "function"
        ? []
        : actor.subject.roles.flatMap(({ role }) => Object.values(role.allow).flatMap((level) => Object.entries(level ?? {})))
    )
    const pairs = grants.flatMap(([type, actions]) => actions.map((action) => [type, action] as const))
    const named = pairs.filter(([type, action]) => type !== "*" && action !== "*")
    expect(named.length).toBeGreaterThan(50)
    for (const [type, action] of named) expect(() => requireAction(action, type)).not.toThrow()
  })
})

describe("an actor of a test", () => {
  it("may do what its roles allow, and without roles nothing to others", () => {
    const others = { type: "user", id: id("9"), owner: id("9") } as const
    expect(decide(testActor({ siteRoles: ["owner"] }).subject, "delete", others)).toBe(true)
    expect(decide(testActor().subject, "read", others)).toBe(false)
    expect(decide(testActor().subject, "read_personal", { ...others, owner: testUserId, id: testUserId })).toBe(true)
  })
})

describe("an agent", () => {
  it("reaches its own workspace and no other of its owner", () => {
    const { subject, userId, agentId, workspaceId } = agent("all")
    expect({ kind: subject.kind, userId, agentId, workspaceId }).toEqual({
      kind: "agent",
      userId: id("1"),
      agentId: id("3"),
      workspaceId: id("4")
    })
    expect(decide(subject, "update", { type: "workspace", id: id("4"), ...own })).toBe(true)
    expect(decide(subject, "read", { type: "workspace", id: id("9"), ...own })).toBe(false)
    expect(decide(subject, "create", { type: "workspace", ...own })).toBe(false)
  })

  it("reads its template and its owner", () => {
    const { subject } = agent("all")
    const shared = { org: own.org, aclGroup: { [own.org]: ["read", "use"] } }
    expect(decide(subject, "read", { type: "template", id: id("5"), ...shared })).toBe(true)
    expect(decide(subject, "read", { type: "template", id: id("9"), ...shared })).toBe(false)
    expect(decide(subject, "read_personal", { type: "user", id: owner.userId, owner: owner.userId })).toBe(true)
  })

  it("writes boundary logs, which have no id yet", () => {
    expect(decide(agent("all").subject, "create", { type: "boundary_log", owner: owner.userId })).toBe(true)
  })

  it("reaches the workspace's task only where there is one", () => {
    const task = { type: "task", id: id("7"), ...own } as const
    expect(decide(agent("all", id("7")).subject, "update", task)).toBe(true)
    expect(decide(agent("all").subject, "update", task)).toBe(false)
  })

  it("without user data does not reach its owner's", () => {
    const { subject } = agent("no_user_data")
    expect(decide(subject, "read_personal", { type: "user", id: owner.userId, owner: owner.userId })).toBe(false)
    expect(decide(subject, "update", { type: "workspace", id: id("4"), ...own })).toBe(true)
  })
})

describe("a user", () => {
  it("acts with the details of the call", () => {
    const actor = userActor(
      { ...owner, scopes: ["workspace:read"], allowList: [{ type: "workspace", id: "*" }] },
      { username: "ada", ip: "192.0.2.1", apiKeyId: "abcdefghij" }
    )
    expect(actor).toMatchObject({ userId: id("1"), username: "ada", ip: "192.0.2.1", apiKeyId: "abcdefghij" })
    expect(decide(actor.subject, "read", { type: "workspace", id: id("4"), ...own })).toBe(true)
    expect(decide(actor.subject, "update", { type: "workspace", id: id("4"), ...own })).toBe(false)
  })

  it("in a session is limited by nothing but its roles", () => {
    expect(decide(sessionActor(owner).subject, "update", { type: "workspace", id: id("4"), ...own })).toBe(true)
  })
})

describe("a system actor", () => {
  it("does its work and nothing else", () => {
    const workspace = { type: "workspace", id: id("4"), ...own } as const
    expect(decide(SystemActor.autostart.subject, "start", workspace)).toBe(true)
    expect(decide(SystemActor.autostart.subject, "ssh", workspace)).toBe(false)
    expect(decide(SystemActor.notifier.subject, "read", workspace)).toBe(false)
    expect(decide(SystemActor.fileReader.subject, "read", { type: "file", id: id("8"), owner: id("9") })).toBe(true)
    expect(decide(SystemActor.systemRestricted.subject, "read", { type: "license" })).toBe(true)
  })

  it("for one user touches that user's things alone", () => {
    const revoker = SystemActor.apiKeyRevoker(id("1"))
    expect(revoker.userId).toBe(id("1"))
    expect(decide(revoker.subject, "delete", { type: "api_key", owner: id("1") })).toBe(true)
    expect(decide(revoker.subject, "delete", { type: "api_key", owner: id("2") })).toBe(false)
    expect(decide(revoker.subject, "read", { type: "api_key", owner: id("1") })).toBe(false)
  })

  it("for prebuilt workspaces deletes unclaimed ones alone", () => {
    const { subject } = SystemActor.prebuildsOrchestrator
    expect(permits(subject, "delete", { type: "workspace", id: id("4"), owner: prebuildsUserId, org: own.org })).toBe(true)
    expect(permits(subject, "delete", { type: "workspace", id: id("4"), ...own })).toBe(false)
    expect(permits(subject, "update", { type: "workspace", id: id("4"), ...own })).toBe(false)
  })

  it("for sub-agents stays within the owner's workspaces of the organization", () => {
    const { subject } = SystemActor.subAgentApi(id("1"), own.org)
    expect(decide(subject, "create_agent", { type: "workspace", id: id("4"), ...own })).toBe(true)
    expect(decide(subject, "create_agent", { type: "workspace", id: id("4"), owner: id("9"), org: own.org })).toBe(false)
    expect(decide(subject, "create_agent", { type: "workspace", id: id("4"), owner: id("1"), org: id("9") })).toBe(false)
  })
})
