import { Uuid } from "@atelier/core/platform"
import { describe, expect, it } from "vitest"
import { agentObject, nameOf, volumeObject } from "../src/render/Names.js"
import { agentLimits } from "../src/render/Limits.js"
import { claimsOf, networkPolicyOf } from "../src/render/Objects.js"
import { podOf } from "../src/render/Pod.js"
import { merged } from "../src/render/StrategicMerge.js"
import { refusals } from "../src/render/User.js"
import { type Options, settingsOf } from "../src/Settings.js"
import { progressOf } from "../src/workspaces/Progress.js"
import { aBuild, aSpec } from "./workspaces.js"

const workspaceId = Uuid.Uuid.make("0193c1de-0000-7000-8000-000000000001")

const aPod = (spec = aSpec(), options: Options = {}): ReturnType<typeof podOf> & { readonly spec: Record<string, never> } =>
  Object(
    podOf({
      settings: settingsOf({ runtimeImage: "agent:1", ...options }, "dev"),
      spec,
      runtime: { directory: "/opt/atelier", secrets: "/run/atelier", node: ["node"], agent: (entrypoint) => [...entrypoint, "agent"] },
      workspaceId,
      image: "app:1",
      labels: {},
      environment: { URL: "http://x" },
      hasFiles: true
    })
  )

describe("a Pod", () => {
  it("has no rights unless the operator gives them", () => {
    const { spec } = aPod(aSpec({ sidecars: [{ name: "db", image: "postgres", env: {}, command: [], ports: [5432], volumes: [] }] }))
    expect(spec).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { fsGroup: 1000, seccompProfile: { type: "RuntimeDefault" } }
    })
    const all = [...Object(spec).containers, ...Object(spec).initContainers]
    expect(all.map(({ name }) => name)).toStrictEqual(["agent", "db", "atelier-runtime"])
    for (const { securityContext } of all) {
      expect(securityContext).toStrictEqual({
        runAsUser: 1000,
        runAsNonRoot: true,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ["ALL"] },
        seccompProfile: { type: "RuntimeDefault" }
      })
    }
  })

  it("reserves a share of its limits", () => {
    const { containers } = Object(aPod(aSpec({ cpus: 2, memory: 1000, gpus: 1 }), { requests: { cpus: 0.25 } }).spec)
    expect(containers[0].resources).toStrictEqual({
      limits: { cpu: "2000m", memory: "1000", "nvidia.com/gpu": "1" },
      requests: { cpu: "500m", memory: "1000" }
    })
  })

  it("has the dollars of the template, whatever follows them", () => {
    // What the cluster makes of a text: $$ is a dollar, and $(NAME) the value of a variable
    const expanded = (text: string) => text.replace(/\$(?:\$|\(([^)]*)\))/g, (found) => (found === "$$" ? "$" : "(expanded)"))
    for (const text of ["$(HOME)", "$$(HOME)", "$$$(HOME)", "pa$$word", "echo $$; echo $HOME $", "${HOME}", "plain"]) {
      const sidecars = [{ name: "db", image: "postgres", env: { A: text }, command: ["-c", text], ports: [], volumes: [] }]
      const { containers } = Object(aPod(aSpec({ env: { A: text }, entrypoint: ["sh", "-c", text], sidecars })).spec)
      const [agent, sidecar] = containers
      const valueIn = (container: { readonly env: ReadonlyArray<{ readonly name: string; readonly value: string }> }) =>
        expanded(container.env.find(({ name }) => name === "A")?.value ?? "")
      expect([valueIn(agent), valueIn(sidecar), expanded(agent.command[2]), expanded(sidecar.args[1])]).toStrictEqual([
        text,
        text,
        text,
        text
      ])
    }
  })

  it("takes the operator's patch", () => {
    const podPatch = { spec: { containers: [{ name: "agent", env: [{ name: "A", value: "1" }] }], priorityClassName: "low" } }
    const { spec } = aPod(aSpec(), { podPatch })
    expect(spec).toMatchObject({ priorityClassName: "low" })
    expect(Object(spec).containers[0].env).toContainEqual({ name: "A", value: "1" })
    expect(Object(spec).containers[0].image).toBe("app:1")
  })
})

describe("what lies beside a Pod", () => {
  it("has names from ids that Kubernetes takes", () => {
    expect(agentObject(workspaceId, "main")).toBe(`atelier-${workspaceId}-main`)
    expect(agentObject(workspaceId, "A".repeat(64))).toMatch(/^[a-z0-9-]{63}$/)
    expect(nameOf("Main", 63)).not.toBe(nameOf("main", 63))
    expect(volumeObject(workspaceId, "main", "home")).toBe(`atelier-${workspaceId}-main--home`)
  })

  it("is a claim for each volume that is kept, and a policy where the network is closed", () => {
    const volumes = [
      { name: "home", path: undefined, keep: true },
      { name: "cache", path: "/cache", keep: false }
    ]
    const settings = settingsOf({ serviceAddresses: ["10.0.0.1/32"] }, "dev")
    expect(claimsOf(settings, aBuild(workspaceId), aSpec({ volumes })).map(({ metadata }) => metadata.name)).toStrictEqual([
      `atelier-${workspaceId}-main--home`
    ])
    expect(networkPolicyOf(settings, aBuild(), aSpec())).toBeUndefined()
    expect(networkPolicyOf(settings, aBuild(), aSpec({ network: "none" }))?.["spec"]).toMatchObject({
      ingress: [],
      egress: [{ to: [{ ipBlock: { cidr: "10.0.0.1/32" } }] }]
    })
  })

  it("is refused where the operator does not allow it", () => {
    const settings = settingsOf({}, undefined)
    const all = refusals(settings, aSpec({ user: "root", privileged: true, network: "none" })).join("\n")
    expect(all).toMatch(/by number.*\n.*privileged.*\n.*serviceAddresses/)
    expect(refusals(settings, aSpec({ user: "0:0" }))).toHaveLength(1)
    const runtimes = settingsOf({ runtimeClass: "gvisor", runtimes: ["kata"] }, undefined)
    const refused = ["gvisor", "kata", "runc"].flatMap((runtime) => refusals(runtimes, aSpec({ runtime })))
    expect(refused).toStrictEqual(["the container of the agent main: runtime: the operator does not allow runc (the option runtimes)"])
    expect(refusals(settingsOf({ allowRoot: true }, undefined), aSpec({ user: "0:0" }))).toStrictEqual([])
  })
})

describe("the operator's maxima", () => {
  const gibibyte = 2 ** 30
  const maxima = { cpus: 2, memory: 4 * gibibyte, disk: 5 * gibibyte, gpus: 0 }

  it("refuse by name what a container or one beside it asks for beyond them", () => {
    const sidecar = { name: "db", image: "postgres", env: {}, command: [], ports: [], volumes: [], cpus: 3 }
    const spec = aSpec({ cpus: 2, memory: 8 * gibibyte, disk: 6 * gibibyte, gpus: 1, sidecars: [sidecar] })
    expect(refusals(settingsOf({ maxima }, undefined), spec)).toStrictEqual([
      "the container of the agent main: memory: 8192 MiB is more than the operator's maximum of 4096 MiB",
      "the container of the agent main: disk: 6144 MiB is more than the operator's maximum of 5120 MiB",
      "the container of the agent main: gpus: 1 is more than the operator's maximum of 0",
      "the container of the agent main: the sidecar db: cpus: 3 is more than the operator's maximum of 2"
    ])
    expect(refusals(settingsOf({ maxima }, undefined), aSpec({ ...maxima }))).toStrictEqual([])
  })

  it("are the limits of a container that names none, unless there are defaults", () => {
    const { cpus: _, disk: __, memory: ___, ...plain } = aSpec()
    const limits = (options: Options) => agentLimits(settingsOf(options, undefined), plain)
    expect(limits({ maxima })).toMatchObject({ cpus: 2, memory: 4 * gibibyte, disk: 5 * gibibyte })
    expect(limits({ maxima, defaults: { cpus: 1 } })).toMatchObject({ cpus: 1, memory: 4 * gibibyte })
  })
})

describe("a strategic merge", () => {
  it("finds elements by their key, and follows directives", () => {
    const base = {
      a: { b: 1, c: 2 },
      containers: [{ name: "x", image: "1", env: [{ name: "A", value: "1" }] }, { name: "y" }],
      args: ["1"]
    }
    const patch = {
      a: { c: null },
      args: ["2"],
      containers: [
        { name: "x", env: [{ name: "B", value: "2" }] },
        { name: "y", $patch: "delete" },
        { name: "z", tty: true }
      ]
    }
    expect(merged(base, patch)).toStrictEqual({
      a: { b: 1 },
      args: ["2"],
      containers: [
        {
          name: "x",
          image: "1",
          env: [
            { name: "A", value: "1" },
            { name: "B", value: "2" }
          ]
        },
        { name: "z", tty: true }
      ]
    })
    expect(merged(base, { containers: [{ $patch: "replace" }, { name: "n" }] })).toMatchObject({ containers: [{ name: "n" }] })
  })
})

describe("the progress of a Pod", () => {
  const metadata = { name: "pod", uid: "1" }
  const agent = (state: object, restartCount = 0) => ({ metadata, status: { containerStatuses: [{ name: "agent", restartCount, state }] } })

  it("is read from its status", () => {
    expect(progressOf({ metadata })._tag).toBe("Waiting")
    expect(progressOf(agent({ running: {} }))._tag).toBe("Running")
    expect(progressOf(agent({ waiting: { reason: "ContainerCreating" } }))._tag).toBe("Waiting")
    expect(progressOf(agent({ waiting: { reason: "ErrImagePull" } }))._tag).toBe("Waiting")
    expect(progressOf(agent({ waiting: { reason: "ImagePullBackOff", message: "no such host" } }))).toMatchObject({ _tag: "Failed" })
    expect(progressOf(agent({ terminated: { exitCode: 137, reason: "OOMKilled" } }))).toMatchObject({ _tag: "Ended", container: "agent" })
    const conditions = [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/1 nodes" }]
    expect(progressOf({ metadata, status: { conditions } })._tag).toBe("Unschedulable")
    expect(progressOf({ metadata, status: { phase: "Failed", reason: "Evicted", message: "low on memory" } })).toStrictEqual({
      _tag: "Failed",
      text: "the Pod has failed: Evicted: low on memory"
    })
  })
})
