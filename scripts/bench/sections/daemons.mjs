// Daemons of other processes: how soon they get the jobs that are posted, and that each job runs once.
import { DrpcClient, ProvisionerDaemonService, Session } from "@atelier/agent-protocol"
import { provisioning, templateVersions } from "@atelier/client"
import { Effect, Exit, Option, Scope, Stream } from "effect"
import { connect, emptyTraffic } from "../../../packages/agent/dist/connection/WebSocketTransport.js"
import { startDeployment } from "../deployment.mjs"

const daemons = 50
/** Requests that post jobs at once. */
const posters = 4

const startDaemon = (port, token, number) =>
  Effect.gen(function* () {
    const transport = yield* connect({
      url: new URL(
        `ws://127.0.0.1:${port}/api/v2/organizations/default/provisionerdaemons/serve?provisioner=terraform&tag=site=bench&name=d${number}&version=1.18`
      ),
      headers: { "Service-Session-Token": token },
      traffic: emptyTraffic()
    })
    return DrpcClient.make(ProvisionerDaemonService, yield* Session.make(transport, { role: "client" }))
  })

/** Takes jobs and completes each at once. */
const work = (client, taken) =>
  Effect.gen(function* () {
    for (;;) {
      const job = Option.getOrUndefined(yield* Stream.runHead(client.AcquireJobWithCancel(Stream.never)))
      if (job === undefined || job.job_id === "") continue
      taken(job)
      yield* client.CompleteJob({ job_id: job.job_id, type: { case: "template_import", value: {} } })
    }
  })

const percentile = (values, share) => values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0

export const remoteDaemons = {
  title: "remote daemons",
  run: async ({ database, databases, nodeArguments, report, seconds }) => {
    const jobs = seconds(5_000)
    const deployment = await startDeployment(await databases.fresh(database.kind), { nodeArguments, isEntitled: true })
    const scope = Effect.runSync(Scope.make())
    try {
      const { client, port, token } = deployment
      const { hash: file_id } = await provisioning.uploadFile(client, { body: new Uint8Array(1024), contentType: "application/x-tar" })
      const latencies = []
      const runs = new Map()
      let allRan
      const done = new Promise((resolve) => (allRan = resolve))
      const taken = ({ created_at, job_id }) => {
        latencies.push(Date.now() - created_at)
        runs.set(job_id, (runs.get(job_id) ?? 0) + 1)
        if (runs.size === jobs) allRan()
      }
      for (let number = 0; number < daemons; number++) {
        const daemon = await Effect.runPromise(Scope.extend(startDaemon(port, token, number), scope))
        Effect.runFork(Scope.extend(Effect.forkIn(Effect.ignore(work(daemon, taken)), scope), scope))
      }
      const began = performance.now()
      let posted = 0
      const post = async () => {
        while (posted < jobs) {
          posted++
          await templateVersions.createTemplateVersion(client, {
            organization: "default",
            body: { storage_method: "file", provisioner: "terraform", file_id, tags: { site: "bench" } }
          })
        }
      }
      await Promise.all([...Array.from({ length: posters }, post), done])
      const figure = { database: database.name }
      report.add({ ...figure, figure: `jobs of ${daemons} daemons`, value: (jobs * 1000) / (performance.now() - began), unit: "/s" })
      report.add({
        ...figure,
        figure: "p50 from posting to acquisition",
        value: percentile(latencies, 0.5),
        unit: "ms",
        target: { atMost: 50 }
      })
      report.add({ ...figure, figure: "p99 from posting to acquisition", value: percentile(latencies, 0.99), unit: "ms" })
      report.add({
        ...figure,
        figure: "jobs that ran twice",
        value: [...runs.values()].filter((count) => count > 1).length,
        unit: "",
        target: { atMost: 0 }
      })
    } finally {
      await Effect.runPromise(Scope.close(scope, Exit.void))
      await deployment.stop()
    }
  }
}
