/** Workspaces that a server takes up again, without a daemon. */
import { Uuid } from "@atelier/core/platform"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { makeDockerWorkspaces } from "../src/DockerWorkspaces.js"
import { containerName, labels } from "../src/Labels.js"

const workspace_id = Uuid.Uuid.make("0190a2f0-0000-7000-8000-000000000001")
const build = Uuid.Uuid.make("0190a2f0-0000-7000-8000-000000000002")

/** Takes up a workspace whose container is there, and returns what was done to it. */
const revived = async (isRunning: boolean, tokens: ReadonlyArray<{ readonly name: string; readonly token: string }>) => {
  const done: Array<string> = []
  const container = {
    id: "1",
    name: containerName(workspace_id, "main"),
    isRunning,
    labels: { [labels.part]: "agent", [labels.build]: build, [labels.agent]: "main" }
  }
  const containers = {
    ofWorkspace: () => ({}),
    list: () => Effect.succeed([container]),
    inspect: () => Effect.succeed({ Image: "image", Config: { User: "" } }),
    write: (id: string, path: string, tar: Uint8Array) =>
      Effect.sync(() => done.push(`write ${id} ${path} ${Buffer.from(tar).includes("new token")}`)),
    start: (id: string) => Effect.sync(() => done.push(`start ${id}`))
  }
  const users = { of: () => Effect.succeed({ uid: 0, gid: 0, home: "/root" }) }
  const needs = { containers, users } as unknown as Parameters<typeof makeDockerWorkspaces>[0]
  const gone = await Effect.runPromise(makeDockerWorkspaces(needs).revive({ workspace_id, builds: [build], agents: ["main"] }, tokens))
  return { done, gone }
}

it("a container of a workspace that was handed over gets its new token before it is started again", async () => {
  expect(await revived(false, [{ name: "main", token: "new token" }])).toStrictEqual({ done: ["write 1 / true", "start 1"], gone: [] })
})

it("a container that runs gets its new token too, for an agent that is started again later", async () => {
  expect(await revived(true, [{ name: "main", token: "new token" }])).toStrictEqual({ done: ["write 1 / true"], gone: [] })
})

it.each([
  [false, ["start 1"]],
  [true, []]
])("a container of a workspace that was not handed over gets no token (running: %s)", async (isRunning, done) => {
  expect(await revived(isRunning, [])).toStrictEqual({ done, gone: [] })
})
