import { changesBetween, isUnchanged, type WorkspaceOutline } from "@atelier/core/workspaces"
import { Uuid } from "@atelier/core/platform"
import { Workspace } from "@atelier/core/workspaces"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

const uuid = (kind: string, index: number) => Uuid.Uuid.make(`${kind}0000000-0000-4000-8000-00000000000${index}`)

const outline = fc.record({
  id: fc.nat({ max: 4 }).map((index) => Workspace.fields.id.make(uuid("a", index))),
  name: fc.constantFrom("one", "two"),
  status: fc.constantFrom("running", "stopped"),
  agents: fc.uniqueArray(fc.nat({ max: 3 }), { maxLength: 3 })
})

/** Lists in which an agent has one workspace and one name. */
const outlines = fc.uniqueArray(outline, { maxLength: 5, selector: ({ id }) => id }).map((list): ReadonlyArray<WorkspaceOutline> =>
  list.map(({ agents, ...workspace }, place) => ({
    ...workspace,
    agents: agents.map((index) => ({ id: uuid("b", Number(workspace.id.at(-1)) * 2 + (index % 2)), name: `agent-${place}` })).slice(0, 1)
  }))
)

describe("the changes between two lists of workspaces", () => {
  const none: ReadonlyArray<WorkspaceOutline> = []

  it("are all of the second where the first is empty", () => {
    const [id, agent] = [Workspace.fields.id.make(uuid("a", 1)), uuid("b", 1)]
    expect(changesBetween(none, [{ id, name: "one", status: "running", agents: [{ id: agent, name: "main" }] }])).toStrictEqual({
      upserted_workspaces: [{ id, name: "one", status: "running" }],
      upserted_agents: [{ id: agent, name: "main", workspace_id: id }],
      deleted_workspaces: [],
      deleted_agents: []
    })
  })

  it("lead from any list to any other", () => {
    fc.assert(
      fc.property(outlines, outlines, (before, after) => {
        expect(isUnchanged(changesBetween(before, before))).toBe(true)
        const changes = changesBetween(before, after)
        const workspaces = new Map(before.map(({ id, name, status }) => [id, { id, name, status }]))
        const agents = new Set(before.flatMap((workspace) => workspace.agents.map(({ id }) => id)))
        for (const { id } of changes.deleted_workspaces) workspaces.delete(id)
        for (const { id } of changes.deleted_agents) agents.delete(id)
        for (const workspace of changes.upserted_workspaces) workspaces.set(workspace.id, workspace)
        for (const { id } of changes.upserted_agents) agents.add(id)
        expect([...workspaces.values()].toSorted((one, other) => (one.id < other.id ? -1 : 1))).toStrictEqual(
          after.map(({ id, name, status }) => ({ id, name, status })).toSorted((one, other) => (one.id < other.id ? -1 : 1))
        )
        expect([...agents].toSorted()).toStrictEqual(after.flatMap((workspace) => workspace.agents.map(({ id }) => id)).toSorted())
      })
    )
  })
})
