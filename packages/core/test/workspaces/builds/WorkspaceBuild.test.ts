import { buildStatus } from "@atelier/core/workspaces"
import { BuildTransition, JobStatus } from "@atelier/core/provisioning"
import { describe, expect, it } from "vitest"

describe("the status of a build", () => {
  it.each([
    ["pending", "pending", "pending", "pending"],
    ["running", "starting", "stopping", "deleting"],
    ["succeeded", "running", "stopped", "deleted"],
    ["canceling", "canceling", "canceling", "canceling"],
    ["canceled", "canceled", "canceled", "canceled"],
    ["failed", "failed", "failed", "failed"],
    ["unknown", "failed", "failed", "failed"]
  ] as const)("whose job is %s is %s, %s or %s: of a start, stop and delete", (job, ...expected) => {
    expect(BuildTransition.literals.map((transition) => buildStatus(job, transition))).toStrictEqual(expected)
    expect(JobStatus.literals).toContain(job)
  })
})
