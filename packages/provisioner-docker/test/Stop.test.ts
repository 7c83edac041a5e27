/** The end of containers whose programs do not listen, at a real Docker daemon. */
import { Uuid } from "@atelier/core/platform"
import { Duration, Effect } from "effect"
import { randomUUID } from "node:crypto"
import { describe, expect, it } from "vitest"
import { parse } from "../src/DaemonAddress.js"
import { make } from "../src/DockerDaemon.js"
import { makeWorkspaceContainers } from "../src/WorkspaceContainers.js"
import { daemon, docker, giveImage, left, removeAll, skipped } from "./daemon.js"

const grace = Duration.seconds(2)

describe.skipIf(daemon === undefined)(`a stop${skipped}`, { timeout: 120_000 }, () => {
  it("ends within the grace of the agent and its sidecars if they ignore the request", async () => {
    giveImage("static", "test-static:1")
    const deployment = `stop-${process.pid}`
    const workspace = Uuid.Uuid.make(randomUUID())
    const run = (part: "agent" | "sidecar", name: string) =>
      docker(
        "run",
        "--detach",
        "--network=none",
        `--name=atelier-${workspace}-${name}`,
        `--label=atelier.dev/deployment=${deployment}`,
        `--label=atelier.dev/workspace-id=${workspace}`,
        `--label=atelier.dev/part=${part}`,
        "test-static:1",
        "sh",
        "-c",
        "trap '' TERM; while :; do sleep 1; done"
      )
    /** What the daemon did to the containers, in its order. */
    const events = async () => {
      const filters = [`label=atelier.dev/workspace-id=${workspace}`, "event=kill", "event=die"].map((filter) => `--filter=${filter}`)
      const format = "--format={{.Action}} {{.Actor.Attributes.signal}} {{.Actor.Attributes.name}}"
      // The client cuts the time to whole seconds: an end in the present one would leave out what has just been done
      const text = await docker("events", "--since=10m", "--until=-1s", ...filters, format)
      return text.split("\n").map((line) => line.replace(`atelier-${workspace}-`, "").replace("<no value>", "-"))
    }
    try {
      await run("agent", "main")
      for (const name of ["main.one", "main.two", "main.three"]) await run("sidecar", name)
      const containers = makeWorkspaceContainers(make(Effect.runSync(parse(daemon, undefined))), deployment)
      const found = await Effect.runPromise(containers.list(containers.ofWorkspace(workspace)))
      expect(found).toHaveLength(4)
      await Effect.runPromise(containers.endAll(found, grace))
      const told = await events()
      expect(told.slice(0, 3)).toStrictEqual(["kill 15 main", "kill 9 main", "die - main"])
      // The sidecars are asked all at once, so that they have one grace together
      expect(told.slice(3, 6).toSorted()).toStrictEqual(["kill 15 main.one", "kill 15 main.three", "kill 15 main.two"])
      expect(told.filter((event) => event.startsWith("kill 9 main."))).toHaveLength(3)
      expect(await left(deployment)).toStrictEqual([])
    } finally {
      await removeAll(deployment)
    }
  })
})
