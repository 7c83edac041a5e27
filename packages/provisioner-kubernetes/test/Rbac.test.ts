/** The rights in rbac.yaml are enough, and each is needed. */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parse, parseAllDocuments } from "yaml"
import { aNamespace, kubeconfig, skipped, type TestNamespace } from "./cluster.js"
import { aBuild, aCluster, anAgent, connects } from "./workspaces.js"

interface Rule {
  readonly apiGroups: ReadonlyArray<string>
  readonly resources: ReadonlyArray<string>
  readonly verbs: ReadonlyArray<string>
}

const rules: ReadonlyArray<Rule> = parseAllDocuments(
  readFileSync(fileURLToPath(new URL("../rbac.yaml", import.meta.url)), "utf8")
)[0]?.toJS().rules

/** A kubeconfig of an account with these rights. */
const anAccount = ({ api, name: namespace }: TestNamespace, account: string, given: ReadonlyArray<Rule>) =>
  Effect.gen(function* () {
    const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`
    const core = `/api/v1/namespaces/${namespace}/serviceaccounts`
    const metadata = { name: account }
    const group = "rbac.authorization.k8s.io"
    const make = (path: string, body: unknown) => api.call({ doing: `make ${path}`, method: "POST", path, body })
    yield* make(core, { metadata })
    yield* make(`${rbac}/roles`, { metadata, rules: given })
    const subjects = [{ kind: "ServiceAccount", name: account, namespace }]
    yield* make(`${rbac}/rolebindings`, { metadata, roleRef: { apiGroup: group, kind: "Role", name: account }, subjects })
    const answer = yield* make(`${core}/${account}/token`, { spec: { expirationSeconds: 3600 } })
    const config = parse(readFileSync(kubeconfig ?? "", "utf8"))
    config.users[0].user = { token: Object(Object(answer)["status"])["token"] }
    const folder = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "atelier-rbac-"))),
      (made) => Effect.sync(() => rmSync(made, { recursive: true }))
    )
    const file = join(folder, "kubeconfig")
    writeFileSync(file, JSON.stringify(config), { mode: 0o600 })
    return file
  })

const silent = () => Effect.void

/** All that the engine does with a workspace. */
const life = (namespace: TestNamespace, file: string) =>
  Effect.gen(function* () {
    const options = { kubeconfig: file, networkPolicy: true }
    const { sweep, workspaces } = yield* aCluster(namespace, connects, options)
    const metadata = aBuild()
    yield* workspaces.start({ metadata, agents: [anAgent()], files: undefined }, silent)
    yield* workspaces.start({ metadata, agents: [anAgent()], files: undefined }, silent)
    yield* workspaces.adopt(metadata, [{ name: "main", token: "new" }])
    yield* sweep(
      (ids) => Effect.succeed(new Set(ids)),
      () => Effect.succeed(new Set())
    )
    yield* workspaces.remove(metadata.workspace_id, true, silent)
  }).pipe(Effect.scoped)

describe.skipIf(kubeconfig === undefined)(`the rights in rbac.yaml${skipped}`, { timeout: 300_000 }, () => {
  it.scopedLive("are enough, and without one the failure names it", () =>
    Effect.gen(function* () {
      const namespace = yield* aNamespace
      const cases = rules.flatMap((rule, index) =>
        rule.resources.flatMap((resource) => rule.verbs.map((verb) => ({ resource, verb, index })))
      )
      const without = (index: number, verb: string) =>
        rules
          .flatMap((rule, at) => (at === index ? [{ ...rule, verbs: rule.verbs.filter((one) => one !== verb) }] : [rule]))
          .filter(({ verbs }) => verbs.length > 0)
      yield* life(namespace, yield* anAccount(namespace, "all", rules))
      const exits = yield* Effect.forEach(
        cases,
        ({ index, resource, verb }) =>
          Effect.gen(function* () {
            const file = yield* anAccount(namespace, `without-${verb}-${resource.replace("/", "-")}`, without(index, verb))
            const exit = yield* Effect.exit(life(namespace, file))
            return `${verb} ${resource}: ${Exit.isFailure(exit) ? String(exit.cause) : "nothing failed"}`
          }),
        { concurrency: 6 }
      )
      for (const [index, text] of exits.entries()) {
        const { resource, verb } = cases[index] ?? { resource: "", verb: "" }
        expect(text).toMatch(new RegExp(`may not do this in the namespace \\S+: ${verb} ${resource} .*rbac.yaml`))
      }
    })
  )
})
