// Forms of Terraform's language over their WebSocket: the time from a change to the form that answers it.
import { DrpcClient, ProvisionerDaemonService, Session } from "@atelier/agent-protocol"
import { provisioning, templateVersions } from "@atelier/client"
import { Effect, Exit, Option, Scope, Stream } from "effect"
import { once } from "node:events"
import { buffer } from "node:stream/consumers"
import { pack } from "tar-stream"
import { WebSocket } from "ws"
import { connect, emptyTraffic } from "../../../packages/agent/dist/connection/WebSocketTransport.js"
import { startDeployment } from "../deployment.mjs"

/** Parameters of a form. */
const sizes = [20, 100, 1_000]

/** Evaluations that one user may cause in a second, one after the other. */
const target = 20

/** Each third has options, each third a rule, and each third depends on the one before it. */
const parameter = (index) => {
  const kinds = [
    `default = "a"\n${["a", "b", "c"].map((value) => `  option {\n    name  = "${value}"\n    value = "${value}"\n  }`).join("\n")}`,
    `type = "number"\n  default = 1\n  validation {\n    min = 1\n    max = 9\n  }`,
    `default = "\${data.coder_parameter.p${index - 1}.value}-\${upper(data.coder_parameter.p${index - 2}.value)}"`
  ]
  return `data "coder_parameter" "p${index}" {\n  name = "p${index}"\n  mutable = true\n  order = ${index}\n  ${kinds[index % 3]}\n}\n`
}

const sourceOf = async (size) => {
  const archive = pack()
  archive.entry({ name: "main.tf" }, Array.from({ length: size }, (_, index) => parameter(index)).join(""))
  archive.finalize()
  return buffer(archive)
}

/** A daemon that says of each import that it succeeded: the forms are evaluated by the server. */
const importing = ({ port, token }) =>
  Effect.gen(function* () {
    const transport = yield* connect({
      url: new URL(`ws://127.0.0.1:${port}/api/v2/organizations/default/provisionerdaemons/serve?provisioner=terraform&version=1.18`),
      headers: { "Service-Session-Token": token },
      traffic: emptyTraffic()
    })
    const client = DrpcClient.make(ProvisionerDaemonService, yield* Session.make(transport, { role: "client" }))
    for (;;) {
      const job = Option.getOrUndefined(yield* Stream.runHead(client.AcquireJobWithCancel(Stream.never)))
      if (job !== undefined && job.job_id !== "")
        yield* client.CompleteJob({ job_id: job.job_id, type: { case: "template_import", value: {} } })
    }
  })

/** A form's socket. `ask` sends values and waits for their form. */
const openForm = async ({ port, token }, version) => {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/api/v2/templateversions/${version}/dynamic-parameters`, {
    headers: { "Service-Session-Token": token }
  })
  const next = async () => {
    const [data] = await once(socket, "message")
    return JSON.parse(data)
  }
  await next()
  let id = 0
  return {
    ask: async (inputs) => {
      const answer = next()
      socket.send(JSON.stringify({ id: ++id, inputs }))
      return answer
    },
    close: () => socket.terminate()
  }
}

export const forms = {
  title: "forms",
  run: async ({ database, databases, nodeArguments, report, seconds }) => {
    const deployment = await startDeployment(await databases.fresh(database.kind), { nodeArguments, isEntitled: true, hasTerraform: true })
    const scope = Effect.runSync(Scope.make())
    try {
      Effect.runFork(Scope.extend(Effect.forkIn(Effect.ignore(importing(deployment)), scope), scope))
      const { client } = deployment
      for (const size of sizes) {
        const { hash: file_id } = await provisioning.uploadFile(client, { body: await sourceOf(size), contentType: "application/x-tar" })
        const body = { storage_method: "file", provisioner: "terraform", file_id }
        const { id } = await templateVersions.createTemplateVersion(client, { organization: "default", body })
        for (;;) {
          const { job } = await templateVersions.getTemplateVersion(client, { templateversion: id })
          if (job.status === "succeeded") break
          await new Promise((resolve) => setTimeout(resolve, 50))
        }
        const form = await openForm(deployment, id)
        const change = async (round) => {
          const { diagnostics, parameters } = await form.ask({ p0: "abc"[round % 3], p1: String((round % 9) + 1) })
          if (diagnostics.length > 0 || parameters.length !== size) throw new Error(`a form has ${JSON.stringify(diagnostics)}`)
        }
        for (let round = 0; round < 5; round++) await change(round)
        const before = await deployment.ask("cpu")
        const began = performance.now()
        const duration = seconds(3) * 1000
        let rounds = 0
        while (performance.now() - began < duration) await change(rounds++)
        const wall = performance.now() - began
        const after = await deployment.ask("cpu")
        const busy = (after.user + after.system - before.user - before.system) / 1000
        form.close()
        const of = `a form of ${size} parameters`
        report.add({ figure: `processor time of ${of}`, database: database.name, value: busy / rounds, unit: "ms" })
        const figure = `changes of ${of}, one after the other`
        report.add({ figure, database: database.name, value: (rounds / wall) * 1000, unit: "/s", target: { atLeast: target } })
      }
    } finally {
      await Effect.runPromise(Scope.close(scope, Exit.void))
      await deployment.stop()
    }
  }
}
