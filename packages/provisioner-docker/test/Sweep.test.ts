/** What a sweep leaves and removes at a real Docker daemon, whose address is in `ATELIER_TEST_DOCKER_HOST`. */
import { ProvisionerEngines } from "@atelier/core/provisioning"
import { Uuid } from "@atelier/core/platform"
import { describe, expect, it } from "@effect/vitest"
import { Clock, Effect, TestClock } from "effect"
import { DockerProvisioner } from "../src/index.js"
import { daemon, docker, giveImage, left, skipped } from "./daemon.js"

const deployment = `sweep-${process.pid}`

/** The container of an agent, which a start of the workspace has made. */
const aContainer = (workspace: string, build: string) => {
  const labels = { deployment, "workspace-id": workspace, "build-id": build, agent: "main", part: "agent" }
  const name = `atelier-${workspace}-main`
  const flags = Object.entries(labels).flatMap(([label, value]) => ["--label", `atelier.dev/${label}=${value}`])
  return Effect.acquireRelease(
    Effect.promise(() => docker("create", "--name", name, ...flags, "test-static:1", "true").then(() => name)),
    () => Effect.promise(() => docker("rm", "--force", name))
  )
}

describe.skipIf(daemon === undefined)(`a sweep${skipped}`, () => {
  it.scoped("removes containers of deleted workspaces and of failed starts, and leaves those of the others", () =>
    Effect.gen(function* () {
      giveImage("static", "test-static:1")
      const id = (digit: string) => Uuid.Uuid.make(`0190a2f0-0000-7000-8000-${digit.repeat(12)}`)
      const [running, deleted, failed] = [id("1"), id("2"), id("3")]
      const [good, bad] = [id("a"), id("b")]
      const kept = yield* aContainer(running, good)
      yield* aContainer(deleted, good)
      yield* aContainer(failed, bad)
      const [engine] = yield* ProvisionerEngines
      const sweep = engine?.sweep?.(
        () => Effect.succeed(new Set([running, failed])),
        (builds) => Effect.succeed(new Set(builds.filter((build) => build === bad)))
      )
      yield* TestClock.setTime(Date.now())
      yield* sweep ?? Effect.void
      expect(yield* Effect.promise(() => left(deployment))).toHaveLength(3)
      yield* TestClock.setTime((yield* Clock.currentTimeMillis) + 10 * 60_000)
      yield* sweep ?? Effect.void
      expect(yield* Effect.promise(() => left(deployment))).toStrictEqual([kept])
    }).pipe(Effect.provide(DockerProvisioner.layer({ host: daemon, deployment })))
  )
})
