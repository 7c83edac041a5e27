import { describe, expect, it } from "@effect/vitest"
import { Uuid } from "@atelier/core/platform"
import { ProvisionFailure } from "@atelier/core/provisioning"
import { Cause, Deferred, Duration, Effect, Exit, Fiber, Option, Redacted, TestClock } from "effect"
import { existsSync } from "node:fs"
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { aLog, aPlanInput, tarOf, uuid } from "../../provisioner/test/builders.js"
import { TerraformProvisioner } from "../src/index.js"
import { makeAllowance } from "../src/Allowance.js"
import { aDirectory, anEngine, aProgram } from "./engine.js"

const archive = (files: Readonly<Record<string, string>>) => Effect.promise(() => tarOf(Object.entries(files)))

const empty = archive({ "main.tf": "" })

/** What `terraform show` and `terraform graph` print for a template without resources. */
const nothing = `show) echo '{"format_version":"1.0"}' ;; graph) echo 'digraph {}' ;;`

const messageOf = (exit: Exit.Exit<unknown, ProvisionFailure>): string | undefined =>
  Exit.isFailure(exit) ? Option.getOrUndefined(Option.map(Cause.failureOption(exit.cause), ({ message }) => message)) : undefined

/** The processes that run a command line with this word in it. */
const isRunning = (pid: string): boolean => existsSync(`/proc/${pid.trim()}`)

describe("the engine", () => {
  it.scopedLive("says what to install where there is no Terraform, which only plans and builds need", () =>
    Effect.gen(function* () {
      const { engine } = yield* anEngine({ environment: { PATH: "/nowhere" } })
      const source = archive({ "main.tf": 'data "coder_parameter" "p" {\n  name = "p"\n  default = "x"\n}\n' })
      const session = yield* engine.open(yield* source, aLog().sink)
      expect(yield* session.preview?.(aPlanInput()) ?? Effect.void).toMatchObject({ parameters: [{ name: "p" }] })
      const exit = yield* Effect.exit(session.plan(aPlanInput()))
      expect(messageOf(exit)).toBe(
        "This server has no Terraform: install terraform or tofu on the PATH of the server, or name the program in the option terraform-binary."
      )
    })
  )

  it.scopedLive("is for sources with a file of Terraform at their root", () =>
    Effect.gen(function* () {
      const { engine } = yield* anEngine()
      const isFor = (...paths: ReadonlyArray<string>) => engine.understands({ paths, text: () => "" })
      expect([isFor("main.tf"), isFor("README.md", "a.tf.json")]).toEqual([true, true])
      expect([isFor("modules/main.tf"), isFor(".hidden.tf"), isFor("main.tf", "template.yaml")]).toEqual([false, false, false])
    })
  )

  it.scopedLive("takes OpenTofu where there is no Terraform", () =>
    Effect.gen(function* () {
      const program = yield* aProgram(`case "$1" in ${nothing} esac`)
      const folder = join(program, "..")
      yield* Effect.promise(() => import("node:fs/promises").then(({ rename }) => rename(program, join(folder, "tofu"))))
      const { engine } = yield* anEngine({ environment: { PATH: `${folder}:/bin:/usr/bin` } })
      const session = yield* engine.open(yield* empty, aLog().sink)
      expect(yield* session.plan(aPlanInput())).toMatchObject({ resources: [], parameters: [] })
    })
  )

  it.scopedLive("removes the folder of a job, with its state, when the job ends", () =>
    Effect.gen(function* () {
      const binary = yield* aProgram(`case "$1" in apply) echo '{"version":4}' > terraform.tfstate ;; ${nothing} esac`)
      const { directory, engine } = yield* anEngine({ binary })
      const jobs = join(directory, "jobs")
      const during = yield* Effect.scoped(
        Effect.gen(function* () {
          const session = yield* engine.open(yield* empty, aLog().sink)
          yield* session.apply(aPlanInput({ state: new TextEncoder().encode("{}") }))
          return yield* Effect.promise(() => readdir(jobs))
        })
      )
      expect(during).toHaveLength(1)
      expect(yield* Effect.promise(() => readdir(jobs))).toEqual([])
    })
  )

  it.scopedLive("clears up after a server that was killed", () =>
    Effect.gen(function* () {
      const directory = yield* aDirectory
      const pids = join(directory, "pid")
      const binary = yield* aProgram(`case "$1" in init) sleep 600 & echo $! > ${pids}; touch ${directory}/left ;; ${nothing} esac`)
      const { engine } = yield* Effect.scoped(anEngine({ binary, directory }))
      yield* Effect.promise(() =>
        import("node:fs/promises").then(({ mkdir }) => mkdir(join(directory, "jobs", "old"), { recursive: true }))
      )
      expect(engine.name).toBe("terraform")
      yield* anEngine({ binary, directory })
      expect(yield* Effect.promise(() => readdir(join(directory, "jobs")))).toEqual([])
    })
  )

  it.scopedLive("gives Terraform settings of the machine and what the host adds, without the server's own variables", () =>
    Effect.gen(function* () {
      const binary = yield* aProgram(`case "$1" in plan) env ;; ${nothing} esac`)
      const added = { AWS_REGION: "north", ATELIER_PG_CONNECTION_URL: "x", TF_LOG: "trace", CODER_X: "1" }
      yield* Effect.acquireRelease(
        Effect.sync(() => Object.assign(process.env, { DATABASE_URL: "postgres://secret", AWS_SECRET_ACCESS_KEY: "secret", LC_TIME: "C" })),
        () => Effect.sync(() => ["DATABASE_URL", "AWS_SECRET_ACCESS_KEY", "LC_TIME"].forEach((name) => delete process.env[name]))
      )
      const { engine } = yield* anEngine({ binary, environment: added })
      const log = aLog()
      const session = yield* engine.open(yield* empty, log.sink)
      yield* session.plan(aPlanInput({ parameters: { size: "large" } }))
      const names = log.lines.map(({ output }) => output.replace(/=.*/s, ""))
      expect(names).toEqual(expect.arrayContaining(["AWS_REGION", "PATH", "HOME", "LC_TIME"]))
      expect(names).toContain("CODER_WORKSPACE_OWNER_EMAIL")
      expect(log.lines.map(({ output }) => output)).toContain(
        "CODER_PARAMETER_ccdcbe846f3da4eb044fbdf64bf6b57902388ab72fb0c852ba72280f8d478b40=large"
      )
      const refused = ["ATELIER_PG_CONNECTION_URL", "TF_LOG", "CODER_X", "DATABASE_URL", "AWS_SECRET_ACCESS_KEY"]
      expect(names.filter((name) => refused.includes(name))).toEqual([])
    })
  )

  it.scopedLive("gives an import no build, since the provider asks for the name of a build's template", () =>
    Effect.gen(function* () {
      const binary = yield* aProgram(`case "$1" in plan) env | grep -E '^CODER_WORKSPACE_(BUILD_ID|TEMPLATE_NAME)=' ;; ${nothing} esac`)
      const { engine } = yield* anEngine({ binary })
      const namesOf = (workspace_build_id: Uuid.Uuid) =>
        Effect.gen(function* () {
          const log = aLog()
          const session = yield* engine.open(yield* empty, log.sink)
          yield* session.plan(aPlanInput({ metadata: { template_name: "", workspace_build_id } }))
          return log.lines.map(({ output }) => output).filter((output) => output.startsWith("CODER_"))
        })
      expect(yield* namesOf(Uuid.nil)).toEqual(["CODER_WORKSPACE_TEMPLATE_NAME="])
      expect(yield* namesOf(uuid(2))).toHaveLength(2)
    })
  )

  it.scopedLive("gives plan and apply the owner's credentials, which no log shows", () =>
    Effect.gen(function* () {
      const written = yield* aDirectory
      const binary = yield* aProgram(
        `case "$1" in plan|apply) env | grep -E '^CODER_(WORKSPACE_OWNER_(SSH_PRIVATE|OIDC|SESSION)|EXTERNAL_AUTH|GIT_AUTH)' | sort > ${written}/$1; cat ${written}/$1 ;; ${nothing} esac`
      )
      const { engine } = yield* anEngine({ binary })
      const log = aLog()
      const session = yield* engine.open(yield* empty, log.sink)
      const metadata = {
        owner_session_token: Redacted.make("token-of-owner"),
        owner_ssh_private_key: Redacted.make("-----BEGIN KEY-----\nc2VjcmV0\n-----END KEY-----"),
        owner_oidc_access_token: Redacted.make("token-of-oidc")
      }
      yield* session.apply({ ...aPlanInput({ metadata }), external_auth: [{ id: "git", access_token: Redacted.make("token-of-git") }] })
      for (const command of ["plan", "apply"]) {
        expect((yield* Effect.promise(() => readFile(join(written, command), "utf8"))).trimEnd().split("\n")).toEqual([
          "CODER_EXTERNAL_AUTH_ACCESS_TOKEN_git=token-of-git",
          "CODER_GIT_AUTH_ACCESS_TOKEN_git=token-of-git",
          "CODER_WORKSPACE_OWNER_OIDC_ACCESS_TOKEN=token-of-oidc",
          "CODER_WORKSPACE_OWNER_SESSION_TOKEN=token-of-owner",
          "CODER_WORKSPACE_OWNER_SSH_PRIVATE_KEY=-----BEGIN KEY-----"
        ])
      }
      const output = log.lines.map((line) => line.output).join("\n")
      expect(output).toContain("CODER_GIT_AUTH_ACCESS_TOKEN_git=***")
      expect(output).not.toMatch(/token-of|c2VjcmV0/)
    })
  )

  it.scopedLive("logs its stages in their order, without empty lines", () =>
    Effect.gen(function* () {
      const binary = yield* aProgram(`case "$1" in init) printf 'first\\n\\n' ;; plan) echo planned ;; ${nothing} esac`)
      const { engine } = yield* anEngine({ binary })
      const log = aLog()
      const session = yield* engine.open(yield* empty, log.sink)
      yield* session.prepare?.(aPlanInput()) ?? Effect.void
      yield* session.plan(aPlanInput())
      yield* session.plan(aPlanInput({ metadata: { workspace_id: Uuid.nil, transition: "stop" } }))
      expect(log.lines.map(({ output, source, stage }) => [source, stage, output])).toEqual([
        ["provisioner", "Initializing Terraform Directory", "first"],
        ["provisioner", "Planning Infrastructure", "planned"],
        ["provisioner_daemon", "Graphing Infrastructure", ""],
        ["provisioner", "Detecting ephemeral resources", "planned"],
        ["provisioner_daemon", "Graphing Infrastructure", ""]
      ])
    })
  )

  it.scopedLive("hides secrets in logs and in errors", () =>
    Effect.gen(function* () {
      const error = `{"@level":"error","@message":"e","diagnostic":{"severity":"error","summary":"bad $(cat ../values.tfvars | tr -d '"\\n')"}}`
      const binary = yield* aProgram(
        `case "$1" in plan) echo "session $CODER_WORKSPACE_OWNER_SESSION_TOKEN"; cat <<EOF\n${error}\nEOF\nexit 1 ;; ${nothing} esac`
      )
      const { engine } = yield* anEngine({ binary })
      const log = aLog()
      const session = yield* engine.open(yield* archive({ "main.tf": 'variable "password" {\n  sensitive = true\n}' }), log.sink)
      const input = {
        ...aPlanInput({ metadata: { owner_session_token: Redacted.make("token-of-owner") } }),
        variables: [{ name: "password", value: "correct horse", sensitive: true }]
      }
      const exit = yield* Effect.exit(session.plan(input))
      expect(messageOf(exit)).toBe("terraform plan: exit status 1")
      const output = log.lines.map((line) => line.output)
      expect(output).toContain("Error: bad password = ***")
      expect(output).toContain("session ***")
      expect(output.join("\n")).not.toMatch(/token-of-owner|correct horse/)
    })
  )

  it.scopedLive("names no path of the server in logs, which say why a command could not begin", () =>
    Effect.gen(function* () {
      const binary = yield* aProgram(`case "$1" in plan) pwd; echo "$PWD/../values.tfvars: no such flag" >&2; exit 1 ;; ${nothing} esac`)
      const { directory, engine } = yield* anEngine({ binary })
      const log = aLog()
      const session = yield* engine.open(yield* empty, log.sink)
      const exit = yield* Effect.exit(session.plan(aPlanInput()))
      expect(messageOf(exit)).toBe("terraform plan: exit status 1")
      const output = log.lines.map((line) => line.output)
      expect(output).toContain("./../values.tfvars: no such flag")
      expect(output).toContain(".")
      expect(output.join("\n")).not.toContain(directory)
    })
  )

  it.live("kills a provider that does not end, with all that it started", () =>
    Effect.gen(function* () {
      const pids = join(yield* aDirectory, "pids")
      const started = yield* Deferred.make<void>()
      const binary = yield* aProgram(
        `case "$1" in plan) trap '' INT; sleep 600 & echo $! > ${pids}; echo $$ >> ${pids}; echo ready; wait; sleep 600 ;; ${nothing} esac`
      )
      const { engine } = yield* anEngine({ binary, cancelGrace: "100 millis" })
      const session = yield* engine.open(yield* empty, ({ output }) =>
        output === "ready" ? Effect.asVoid(Deferred.succeed(started, undefined)) : Effect.void
      )
      const fiber = yield* Effect.fork(session.plan(aPlanInput()))
      yield* Deferred.await(started)
      const exit = yield* Fiber.interrupt(fiber)
      expect(Exit.isInterrupted(exit)).toBe(true)
      const running = (yield* Effect.promise(() => readFile(pids, "utf8"))).trim().split("\n")
      expect(running).toHaveLength(2)
      yield* Effect.repeat(
        Effect.sync(() => running.some(isRunning)),
        { until: (some) => !some }
      )
    }).pipe(Effect.scoped)
  )

  it.scoped("waits seconds for a plan that does not end, which has no state to write", () =>
    Effect.gen(function* () {
      const started = yield* Deferred.make<void>()
      const binary = yield* aProgram(`case "$1" in plan) trap '' INT; echo ready; exec sleep 600 ;; ${nothing} esac`)
      const { engine } = yield* anEngine({ binary })
      const session = yield* engine.open(yield* empty, ({ output }) =>
        output === "ready" ? Effect.asVoid(Deferred.succeed(started, undefined)) : Effect.void
      )
      const planning = yield* Effect.fork(session.plan(aPlanInput()))
      yield* Deferred.await(started)
      const ending = yield* Effect.fork(Fiber.interrupt(planning))
      yield* TestClock.adjust("10 seconds")
      expect(Option.isNone(yield* Fiber.poll(ending))).toBe(true)
      yield* TestClock.adjust("50 seconds")
      yield* Fiber.join(ending)
    })
  )

  it.live("keeps the state of a canceled apply", () =>
    Effect.gen(function* () {
      const started = yield* Deferred.make<void>()
      const binary = yield* aProgram(
        `case "$1" in apply) trap 'echo made > terraform.tfstate; exit 1' INT; echo ready; while :; do sleep 0.01; done ;; ${nothing} esac`
      )
      const { engine } = yield* anEngine({ binary })
      const session = yield* engine.open(yield* empty, ({ output }) =>
        output === "ready" ? Effect.asVoid(Deferred.succeed(started, undefined)) : Effect.void
      )
      const fiber = yield* Effect.fork(session.apply(aPlanInput()))
      yield* Deferred.await(started)
      const exit = yield* Fiber.interrupt(fiber)
      const failure = Exit.isFailure(exit) ? Option.getOrUndefined(Cause.failureOption(exit.cause)) : undefined
      expect(failure).toBeInstanceOf(ProvisionFailure)
      expect(failure?.message).toBe("terraform apply: canceled")
      expect(new TextDecoder().decode(failure?.state)).toBe("made\n")
    }).pipe(Effect.scoped)
  )

  it.live("ends a command that takes too long", () =>
    Effect.gen(function* () {
      const binary = yield* aProgram(`case "$1" in plan) exec sleep 600 ;; ${nothing} esac`)
      const { engine } = yield* anEngine({ binary, planTimeout: "50 millis" })
      const session = yield* engine.open(yield* empty, aLog().sink)
      const exit = yield* Effect.exit(session.plan(aPlanInput()))
      expect(messageOf(exit)).toMatch(
        /^terraform (init|plan) was ended: the plan of a build may take 50ms \(option terraform-plan-timeout\)$/
      )
    }).pipe(Effect.scoped)
  )

  it.effect("lets the commands of a stage share its time, without waits for a lock", () =>
    Effect.gen(function* () {
      const { holding, left } = makeAllowance("a plan", "10 minutes", "terraform-plan-timeout")
      const lock = yield* Effect.makeSemaphore(1)
      yield* TestClock.adjust("1 hour")
      expect(Duration.format(yield* left)).toBe("10m")
      yield* TestClock.adjust("4 minutes")
      expect(Duration.format(yield* left)).toBe("6m")
      const holder = yield* Effect.fork(lock.withPermits(1)(Effect.sleep("5 minutes")))
      yield* Effect.yieldNow()
      const waiter = yield* Effect.fork(holding(lock)(Effect.sleep("1 minute")))
      yield* TestClock.adjust("6 minutes")
      yield* Fiber.joinAll([holder, waiter])
      expect(Duration.format(yield* left)).toBe("5m")
      yield* TestClock.adjust("6 minutes")
      expect(Duration.toMillis(yield* left)).toBe(0)
    })
  )

  it("names variables of an environment, with a star for any rest", () => {
    const environment = { AWS_REGION: "north", AWS_PROFILE: "a", KUBECONFIG: "/k", KUBECONFIG_OLD: "/o" }
    expect(TerraformProvisioner.variablesNamed(["AWS_*", "KUBECONFIG"], environment)).toEqual({
      AWS_REGION: "north",
      AWS_PROFILE: "a",
      KUBECONFIG: "/k"
    })
  })

  it.scopedLive("says which file and line are not HCL", () =>
    Effect.gen(function* () {
      const { engine } = yield* anEngine({ binary: yield* aProgram(`case "$1" in ${nothing} esac`) })
      const session = yield* engine.open(yield* archive({ "main.tf": "locals {\n  a = [1\n" }), aLog().sink)
      expect(messageOf(yield* Effect.exit(session.parse))).toBe("main.tf:3: a bracket is not closed")
    })
  )
})
