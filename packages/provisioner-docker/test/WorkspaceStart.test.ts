/** What a start gives the container of an agent after one that was killed, without a daemon. */
import { Uuid } from "@atelier/core/platform"
import { Effect } from "effect"
import { extract } from "tar-stream"
import { Readable } from "node:stream"
import { expect, it } from "vitest"
import type { StartInput } from "../src/Attempt.js"
import { DaemonError } from "../src/DockerDaemon.js"
import { labels, volumeName } from "../src/Labels.js"
import { makeStarts } from "../src/WorkspaceStart.js"

const [workspace_id, workspace_build_id, otherBuild] = ["1", "2", "3"].map((digit) =>
  Uuid.Uuid.make(`0190a2f0-0000-7000-8000-${digit.repeat(12)}`)
) as [Uuid.Uuid, Uuid.Uuid, Uuid.Uuid]

const input: StartInput = {
  workspace_id,
  workspace_build_id,
  owner_id: otherBuild,
  access_url: "http://localhost",
  port: 1,
  agents: [
    {
      token: "token",
      spec: {
        agent: "main",
        image: { _tag: "Image", reference: "image:1" },
        env: {},
        entrypoint: [],
        volumes: [{ name: "home", keep: true, path: "/home/ada" }],
        network: "default",
        privileged: false,
        sidecars: []
      }
    }
  ],
  files: [],
  source: new Map()
}

const homeOf = (build: string) => ({
  name: volumeName(workspace_id, "main", "home"),
  labels: { [labels.build]: build },
  createdAt: 0
})

const aContainer = (hasStarted: boolean) => ({
  id: "1",
  name: "one",
  labels: { [labels.build]: workspace_build_id },
  isRunning: false,
  hasStarted,
  createdAt: 0
})

/** The folders that a start gives to the user of the image, and what it asked for in turn. The daemon refuses the files. */
const started = async (before: Parameters<ReturnType<typeof makeStarts>["start"]>[1]) => {
  const asked: Array<string> = []
  const note = <A>(what: string, value: A): Effect.Effect<A> =>
    Effect.zipRight(
      Effect.yieldNow(),
      Effect.sync(() => {
        asked.push(what)
        return value
      })
    )
  let files = new Uint8Array()
  const needs = {
    daemon: {},
    containers: {
      ours: {},
      ofWorkspace: () => ({}),
      list: () => Effect.succeed([]),
      endAll: () => Effect.void,
      create: () => note("container", "id"),
      write: (_: string, __: string, tar: Uint8Array<ArrayBuffer>) =>
        Effect.suspend(() => {
          files = tar
          return new DaemonError({ message: "refused" })
        })
    },
    volumes: { ensure: () => note("volume", undefined), list: () => Effect.succeed([]), remove: () => Effect.void },
    images: { pulled: () => note("image", { id: "image", reference: "image:1", digest: undefined, user: "ada", env: [] }) },
    users: { of: () => Effect.succeed({ uid: 1000, gid: 1000, home: "/home/ada" }) },
    runtime: { ensure: () => Effect.succeed("runtime") },
    networks: { usual: () => Effect.succeed({ mode: "bridge", build: "default", hosts: [], url: "http://localhost" }) },
    options: { deployment: "default", environmentPrefix: "SERVICE", pids: 100 }
  } as unknown as Parameters<typeof makeStarts>[0]
  const { message } = await Effect.runPromise(Effect.flip(makeStarts(needs).start(input, before, () => Effect.void)))
  expect(message).toBe("refused")
  const owned: Array<string> = []
  const reader = Readable.from([files], { objectMode: false }).pipe(extract())
  for await (const entry of reader) {
    const { name, type, uid } = entry.header
    if (type === "directory" && uid === 1000) owned.push(name)
    entry.resume()
  }
  return { asked, owned: owned.filter((name) => name.startsWith("home")) }
}

it("a volume is made once its image is there, and belongs to the user of the image", async () => {
  expect(await started({ containers: [], volumes: [] })).toStrictEqual({ asked: ["image", "volume", "container"], owned: ["home/ada/"] })
})

it.each([
  ["no container", []],
  ["a container that was not started", [aContainer(false)]]
])("a volume that the killed start of the same build left with %s belongs to the user of the image", async (_, containers) => {
  expect((await started({ containers, volumes: [homeOf(workspace_build_id)] })).owned).toStrictEqual(["home/ada/"])
})

it("a volume that has been used keeps its owner", async () => {
  expect((await started({ containers: [aContainer(true)], volumes: [homeOf(workspace_build_id)] })).owned).toStrictEqual([])
  expect((await started({ containers: [], volumes: [homeOf(otherBuild)] })).owned).toStrictEqual([])
})
