import { StoreUnavailable } from "@atelier/core/platform"
import { FileRepository } from "@atelier/core/provisioning"
import { Context, Layer, Stream } from "effect"
import { expect, it } from "vitest"
import { postgres, sqlite } from "../../../../../test/store/databases.js"
import { aVersion, getVersion } from "../../../../../test/http/templates.js"
import { describeAgentsOn } from "../../agents/AgentServer.js"
import { aDaemon, aKey, keyHeader } from "./aDaemon.js"

/** A template whose archive the server reads for each job. */
const large = { readme: "x".repeat(200_000) }

/** The defect of the next read of a template's archive; undefined where it succeeds. */
let defect: unknown

const failing = <E>(database: Layer.Layer<Layer.Layer.Success<typeof sqlite>, E>) =>
  Layer.map(database, (context) => {
    const repository = Context.get(context, FileRepository)
    const content: typeof repository.content = (id) =>
      Stream.suspend(() => {
        if (defect === undefined) return repository.content(id)
        const thrown = defect
        defect = undefined
        return Stream.die(thrown)
      })
    return Context.add(context, FileRepository, { ...repository, content })
  })

describeAgentsOn(
  [
    ["SQLite", failing(sqlite)],
    ["PostgreSQL", failing(postgres)]
  ],
  "a job whose template cannot be read once",
  (server) => {
    it("is given back, and handed to the daemon that asks next", async () => {
      const key = await aKey(server(), "far", { site: "far" })
      const daemon = await aDaemon(server().url, { [keyHeader]: key }, "&name=one&version=1.18")
      try {
        const { job } = await aVersion(server(), large, { provisioner: "terraform", tags: { site: "far" } })
        defect = new StoreUnavailable({ reason: "away", cause: "a test" })
        await expect(daemon.acquire()).rejects.toThrow()
        expect((await daemon.acquire()).job_id).toBe(job.id)
      } finally {
        await daemon.close()
      }
    })

    it("fails for a defect, which would come back each time", async () => {
      const key = await aKey(server(), "farther", { site: "farther" })
      const daemon = await aDaemon(server().url, { [keyHeader]: key }, "&name=two&version=1.18")
      try {
        const { id } = await aVersion(server(), large, { provisioner: "terraform", tags: { site: "farther" } })
        defect = new Error("a defect")
        await expect(daemon.acquire()).rejects.toThrow()
        expect((await getVersion(server(), id)).job).toMatchObject({
          status: "failed",
          error: "The service could not hand the job to a daemon."
        })
      } finally {
        await daemon.close()
      }
    })
  }
)
