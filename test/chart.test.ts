/** The chart of `deploy/chart`, as Helm renders it. `scripts/reliability/chart.mjs` installs it in a real cluster. */
import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { describe, expect, it, onTestFinished } from "vitest"
import { parseAllDocuments } from "yaml"
import { root } from "./foreignProject.js"

const run = promisify(execFile)
const chart = join(root, "deploy/chart")
const hasHelm = await run("helm", ["version"]).then(
  () => true,
  () => false
)

const rendered = async (values: object): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "atelier-chart-"))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, "values.yaml"), JSON.stringify(values))
  const { stdout } = await run("helm", ["template", "atelier", chart, "--namespace", "atelier", "--values", join(folder, "values.yaml")])
  return stdout
}

interface Manifest {
  readonly kind: string
  readonly rules?: ReadonlyArray<unknown>
}

const manifestsOf = (yaml: string): ReadonlyArray<Manifest> => parseAllDocuments(yaml).map((document) => document.toJS())

const least = { accessUrl: "https://dev.example.com" }

const all = {
  ...least,
  wildcardAccessUrl: "*.apps.example.com",
  secrets: { ATELIER_SETUP_TOKEN: { secret: "atelier", key: "setup-token" } },
  env: { ATELIER_SESSION_DURATION: "48h" },
  autoscaling: { enabled: true },
  kubernetes: { namespace: "workspaces", options: { storageClass: "fast", networkPolicy: true } },
  ingress: { enabled: true, className: "nginx", tlsSecret: "atelier-tls" },
  gateway: { enabled: true, parentRefs: [{ name: "public" }] },
  trustedProxies: ["10.0.0.0/8"],
  metrics: { podMonitor: true },
  networkPolicy: {
    enabled: true,
    from: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "ingress-nginx" } } }],
    egress: [{ to: [{ ipBlock: { cidr: "10.0.0.0/8" } }] }]
  },
  provisioners: [
    { name: "terraform", replicas: 2, keySecret: { secret: "atelier-provisioner", key: "key" }, args: ["--engine", "terraform"] }
  ],
  proxies: [
    {
      name: "east",
      accessUrl: "https://east.example.com",
      wildcardAccessUrl: "*.east.example.com",
      tokenSecret: { secret: "atelier-proxy-east", key: "token" }
    }
  ]
}

describe.skipIf(!hasHelm)(`the chart${hasHelm ? "" : " (skipped: helm is not on the PATH)"}`, () => {
  it("passes Helm's own checks", async () => {
    const { stdout } = await run("helm", ["lint", "--strict", chart, "--set", `accessUrl=${least.accessUrl}`])
    expect(stdout).toContain("0 chart(s) failed")
  })

  it.each([
    ["least", least],
    ["all", all]
  ])("renders what is recorded, with the %s values", async (name, values) => {
    await expect(await rendered(values)).toMatchFileSnapshot(`recorded/chart/${name}.yaml`)
  })

  it("gives the account the rights that the engine asks for, and no others", async () => {
    const own = await readFile(join(root, "packages/provisioner-kubernetes/rbac.yaml"), "utf8")
    const rulesOf = (yaml: string) => manifestsOf(yaml).find(({ kind }) => kind === "Role")?.rules
    expect(rulesOf(await rendered(least))).toStrictEqual(rulesOf(own))
  })

  it.each([
    [{}, "accessUrl says where users reach the service"],
    [{ ...least, replica: 3 }, "replica"],
    [{ ...least, accessUrl: "dev.example.com" }, "/accessUrl"],
    [{ ...least, secrets: { ATELIER_SETUP_TOKEN: "a secret itself" } }, "/secrets/ATELIER_SETUP_TOKEN"],
    [{ ...least, serviceAccount: { create: false } }, "serviceAccount.name"]
  ])("refuses %j", async (values, reason) => {
    await expect(rendered(values)).rejects.toThrow(reason)
  })
})
