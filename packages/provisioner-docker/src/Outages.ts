/** What happens to containers beside the builds: processes that were ended for want of memory, and agents whose container began anew. */
import { Background, Uuid } from "@atelier/core/platform"
import type { AgentOutage, TellOutage } from "@atelier/core/provisioning"
import { tokenFile } from "@atelier/provisioner/container"
import { Clock, Effect, Redacted, Stream } from "effect"
import { type DaemonError, type DockerDaemon, isMissing } from "./DockerDaemon.js"
import { fileIn } from "./ImageUsers.js"
import { containerName, labels, sidecarName, withLabels } from "./Labels.js"
import { messagesOf } from "./Lines.js"

/** Outages that wait to be told; older ones give way. */
const maximumOutages = 1_000

/** Milliseconds between two outages of one container: a program may ask for memory again and again. */
const outagePause = 10_000

const text = (value: unknown): string => (typeof value === "string" ? value : "")

const attributesOf = (event: Readonly<Record<string, unknown>>) => {
  const actor = event["Actor"]
  const [id, attributes] = typeof actor === "object" && actor !== null ? [Reflect.get(actor, "ID"), Reflect.get(actor, "Attributes")] : []
  const attribute = (name: string): string =>
    typeof attributes === "object" && attributes !== null ? text(Reflect.get(attributes, name)) : ""
  return { id: text(id), attribute }
}

const outOfMemory = (what: string): string => `${what}, because the container needed more memory than it may have.`

/** The name of a sidecar by that of its container; undefined for another container. */
const sidecarOf = (workspaceId: Uuid.Uuid, agent: string, container: string): string | undefined => {
  const prefix = sidecarName(workspaceId, agent, "")
  return container.startsWith(prefix) ? container.slice(prefix.length) : undefined
}

interface Needs {
  readonly daemon: DockerDaemon
  readonly deployment: string
  /** Gives the containers beside an agent its network. */
  readonly rejoin: (workspaceId: Uuid.Uuid, agent: string) => Effect.Effect<void, DaemonError>
}

export const makeOutages = ({ daemon, deployment, rejoin }: Needs) => {
  const waiting: Array<AgentOutage> = []
  const lastTold = new Map<string, number>()
  /** Containers that have ended, until they begin again. */
  const ended = new Set<string>()

  const add = (outage: AgentOutage): void => {
    waiting.push(outage)
    if (waiting.length > maximumOutages) waiting.shift()
  }

  /** Tells an outage in the log of the agent of a container. Of one container, few are told. */
  const tell = (container: string, agentContainer: string, message: string) =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      if (now - (lastTold.get(container) ?? Number.NEGATIVE_INFINITY) < outagePause) return
      if (lastTold.size > maximumOutages) lastTold.clear()
      lastTold.set(container, now)
      const token = yield* daemon
        .call("the token cannot be read", async (docker, abortSignal) =>
          fileIn(await docker.getContainer(agentContainer).getArchive({ path: tokenFile, abortSignal }))
        )
        // The workspace is being stopped
        .pipe(Effect.catchIf(isMissing, () => Effect.succeed("")))
      if (token !== "") add({ token: Redacted.make(token), message })
    })

  const onEvent = (event: Readonly<Record<string, unknown>>) => {
    const { attribute, id } = attributesOf(event)
    const part = attribute(labels.part)
    const workspaceId = Uuid.parse(attribute(labels.workspace))
    const agent = attribute(labels.agent)
    const beside = workspaceId === undefined ? undefined : sidecarOf(workspaceId, agent, attribute("name"))
    switch (event["Action"]) {
      case "oom":
        if (part === "agent") return Effect.ignoreLogged(tell(id, id, outOfMemory("A program was ended")))
        return workspaceId === undefined || beside === undefined
          ? Effect.void
          : Effect.ignoreLogged(tell(id, containerName(workspaceId, agent), outOfMemory(`A program of the sidecar ${beside} was ended`)))
      case "die": {
        if (part === "agent") ended.add(id)
        const code = attribute("exitCode")
        // A stop ends it so, or with a signal
        if (workspaceId === undefined || beside === undefined || ["", "0", "137", "143"].includes(code)) return Effect.void
        const message = `The sidecar ${beside} has ended with the exit code ${code}. The Docker daemon starts it again.`
        return Effect.ignoreLogged(tell(id, containerName(workspaceId, agent), message))
      }
      case "destroy":
        ended.delete(id)
        lastTold.delete(id)
        return Effect.void
      case "start":
        return ended.delete(id) && workspaceId !== undefined ? Effect.ignoreLogged(rejoin(workspaceId, agent)) : Effect.void
      default:
        return Effect.void
    }
  }

  const follow = daemon
    .stream("the events cannot be followed", (docker, abortSignal) =>
      docker.getEvents({
        filters: {
          type: ["container"],
          event: ["oom", "die", "start", "destroy"],
          ...withLabels({ [labels.deployment]: deployment })
        },
        abortSignal
      })
    )
    .pipe(
      Effect.flatMap((events) => Stream.runForEach(messagesOf(events), onEvent)),
      Effect.scoped
    )

  return {
    /** Follows the daemon's events until the scope closes. */
    watch: Background.repeat("docker_events", follow),
    add,
    tellOutages: (tell: TellOutage): Effect.Effect<void> => Effect.suspend(() => Effect.forEach(waiting.splice(0), tell, { discard: true }))
  }
}

/** The result of {@link makeOutages}. */
export type Outages = ReturnType<typeof makeOutages>
