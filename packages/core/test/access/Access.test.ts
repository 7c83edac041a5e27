import { describe, expect, it } from "@effect/vitest"
import { Cause, Effect, Exit } from "effect"
import {
  Access,
  AccessObjects,
  CheckRecorder,
  CurrentActor,
  decide,
  makeRecording,
  prebuildsUserId,
  type Subject,
  SystemActor
} from "../../src/access/index.js"
import { Forbidden, NotFound } from "../../src/platform/Errors.js"
import { nil } from "../../src/platform/texts/Uuid.js"
import { matrixSubject } from "./roles/subjects.js"

const as = (subject: Subject) => Access.actingAs({ subject, userId: nil })
const member = matrixSubject({ roles: ["member", "organization-member:org1", "organization-workspace-access:org1"] })
const own = AccessObjects.workspace({ id: "w1", owner_id: "u1", organization_id: "org1", dormant_at: null })
const shared = AccessObjects.workspace({
  id: "w2",
  owner_id: "u2",
  organization_id: "org1",
  dormant_at: null,
  user_acl: { u1: ["read", "ssh"] }
})
const foreign = AccessObjects.workspace({ id: "w3", owner_id: "u2", organization_id: "org1", dormant_at: null })

describe("a mistake of a program", () => {
  const dying = (effect: Effect.Effect<unknown, unknown, CurrentActor>) => Effect.exit(Access.actingAs(matrixActor)(effect))
  const matrixActor = { subject: member, userId: nil }
  const wrong = (action: string) => action as "read"

  it.effect("in the name of an action is a defect that names the nearest one", () =>
    Effect.gen(function* () {
      const message = '"reed" is not an action on workspace: did you mean read?'
      for (const asked of [
        Access.can(wrong("reed"), own),
        Access.authorize(wrong("reed"), own),
        Access.authorizeOrHide(wrong("reed"), own),
        Access.authorizeWrite(wrong("reed"), own),
        Access.filter(wrong("reed"), [own], (object) => object),
        Access.predicate(wrong("reed"), "workspace")
      ])
        expect(yield* dying(asked)).toStrictEqual(Exit.die(new TypeError(message)))
      expect(() => decide(member, wrong("share"), { type: "audit_log" })).toThrow(
        '"share" is not an action on audit_log: it may be create, read'
      )
      expect(() => decide(member, "read", { type: "worksapce" as "workspace" })).toThrow(
        '"worksapce" is not a resource type: did you mean workspace?'
      )
    })
  )

  it.effect("that provides no actor is a defect that says how to provide one", () =>
    Effect.gen(function* () {
      const without = Access.authorize("read", own) as Effect.Effect<void, Forbidden>
      const exit = yield* Effect.exit(without)
      expect(Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "").toContain("Access.actingAs(sessionActor({")
    })
  )
})

describe("asking for access", () => {
  it.effect("admits permitted actions and refuses the rest as forbidden", () =>
    Effect.gen(function* () {
      yield* Access.authorize("update", own)
      expect(yield* Effect.flip(Access.authorize("update", foreign))).toBeInstanceOf(Forbidden)
      expect(yield* Access.can("ssh", shared)).toBe(true)
    }).pipe(as(member))
  )

  it.effect("reports unreadable objects as missing", () =>
    Effect.gen(function* () {
      yield* Access.readable(shared)
      const refusal = yield* Effect.flip(Access.readable(foreign))
      expect(refusal).toEqual(new NotFound({ resource: "workspace" }))
    }).pipe(as(member))
  )

  it.effect("refused writes are forbidden on readable objects and hide others", () =>
    Effect.gen(function* () {
      yield* Access.authorizeWrite("delete", own)
      expect(yield* Effect.flip(Access.authorizeWrite("delete", shared))).toBeInstanceOf(Forbidden)
      expect(yield* Effect.flip(Access.authorizeWrite("delete", foreign))).toBeInstanceOf(NotFound)
      expect(yield* Effect.flip(Access.authorizeOrHide("delete", shared))).toBeInstanceOf(NotFound)
    }).pipe(as(member))
  )

  it.effect("a missing row and one that may not be read are refused alike", () =>
    Effect.gen(function* () {
      const notFound = new NotFound({ resource: "workspace" })
      const row = { id: "w3", owner_id: "u2", organization_id: "org1", dormant_at: null }
      const hidden = yield* Effect.exit(Access.visible(row, AccessObjects.workspace, notFound))
      const missing = yield* Effect.exit(Access.visible(undefined, AccessObjects.workspace, notFound))
      expect(hidden).toEqual(missing)
      expect(Exit.isFailure(hidden)).toBe(true)
      const mine = { ...row, owner_id: "u1" }
      expect(yield* Access.visible(mine, AccessObjects.workspace, notFound)).toBe(mine)
    }).pipe(as(member))
  )

  it.effect("a dormant workspace that may not be read is a workspace that was not found", () =>
    Effect.gen(function* () {
      const dormant = AccessObjects.workspace({ id: "w4", owner_id: "u2", organization_id: "org1", dormant_at: new Date(0) })
      expect(dormant.type).toBe("workspace_dormant")
      expect((yield* Effect.flip(Access.readable(dormant))).resource).toBe("workspace")
    }).pipe(as(member))
  )

  it.effect("filters lists in memory and in the store alike", () =>
    Effect.gen(function* () {
      expect(yield* Access.filter("read", [own, shared, foreign], (object) => object)).toEqual([own, shared])
      const predicate = yield* Access.predicate("read", "workspace")
      expect(predicate._tag).toBe("Or")
    }).pipe(as(member))
  )

  it.effect("a template admin may delete prebuilt workspaces only", () =>
    Effect.gen(function* () {
      const prebuilt = AccessObjects.workspace({ id: "p", owner_id: prebuildsUserId, organization_id: "org1", dormant_at: null })
      yield* Access.authorizeWrite("delete", prebuilt)
      expect(yield* Effect.flip(Access.authorizeWrite("delete", foreign))).toBeInstanceOf(Forbidden)
    }).pipe(as(matrixSubject({ roles: ["template-admin"] })))
  )

  it.effect("runs the service's work as a system actor within a user's call", () =>
    Effect.gen(function* () {
      expect(yield* Access.can("start", foreign)).toBe(false)
      expect(yield* Access.can("start", foreign).pipe(Access.actingAs(SystemActor.autostart))).toBe(true)
      expect((yield* CurrentActor).subject).toBe(member)
    }).pipe(as(member))
  )

  it.effect("records decisions for a listener", () =>
    Effect.gen(function* () {
      const recording = makeRecording()
      expect(recording.summary()).toBe("nil")
      yield* Effect.all([Access.can("ssh", own), Access.can("create", AccessObjects.bare("organization"))]).pipe(
        Effect.provideService(CheckRecorder, recording)
      )
      yield* Access.can("read", own)
      expect(recording.summary()).toBe("organization:org1::owner:u1::id:w1::workspace.ssh=true; organization.create=false")
    }).pipe(as(member))
  )

  it("shows at most 2000 characters of the decisions", () => {
    const recording = makeRecording()
    for (let check = 0; check < 1000; check++) recording.record("read", own, true)
    expect(recording.summary()).toHaveLength(2000)
    expect(recording.summary().endsWith("<truncated>")).toBe(true)
  })
})

describe("objects", () => {
  const objects = AccessObjects
  it("are built from rows with the parts their type has", () => {
    const row = { id: "x", organization_id: "o", owner_id: "u", user_acl: { u1: ["read"] }, group_acl: { g: ["use"] } }
    const acls = { aclUser: row.user_acl, aclGroup: row.group_acl }
    expect(objects.workspace({ ...row, dormant_at: null })).toEqual({ type: "workspace", id: "x", org: "o", owner: "u", ...acls })
    expect(objects.workspace({ ...row, dormant_at: "2024" })).toEqual({ type: "workspace_dormant", id: "x", org: "o", owner: "u" })
    expect(objects.task(row, row)).toEqual({ type: "task", id: "x", org: "o", owner: "u", ...acls })
    expect(objects.template(row)).toEqual({ type: "template", id: "x", org: "o", ...acls })
    expect(objects.group(row)).toEqual({ type: "group", id: "x", org: "o", aclGroup: { x: ["read"] } })
    expect(objects.organizationMember({ user_id: "u", organization_id: "o" })).toEqual({
      type: "organization_member",
      id: "u",
      owner: "u",
      org: "o"
    })
    expect(objects.organization({ id: "o" })).toEqual({ type: "organization", id: "o", org: "o" })
    expect(objects.user({ id: "u" })).toEqual({ type: "user", id: "u", owner: "u" })
    expect(objects.apiKey({ id: "k", user_id: "u" })).toEqual({ type: "api_key", id: "k", owner: "u" })
    expect(objects.file({ id: "f", created_by: "u" })).toEqual({ type: "file", id: "f", owner: "u" })
    expect(objects.inboxNotification({ id: "n", user_id: "u" })).toEqual({ type: "inbox_notification", id: "n", owner: "u" })
    expect(objects.inOrganization("template", "o")).toEqual({ type: "template", org: "o" })
    expect(objects.ownedIn("workspace", "o", "u")).toEqual({ type: "workspace", org: "o", owner: "u" })
    expect(objects.bare("license")).toEqual({ type: "license" })
  })

  it("of groups let their members read them in every mode", () => {
    const group = objects.group({ id: "g1", organization_id: "org1" })
    expect(decide(matrixSubject({ roles: ["organization-member:org1"], groups: ["g1"], mode: "none" }), "read", group)).toBe(true)
    expect(decide(matrixSubject({ roles: ["organization-member:org1"], mode: "none" }), "read", group)).toBe(false)
  })
})
