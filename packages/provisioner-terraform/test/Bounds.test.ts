/** What the engine does with templates that want too much, with the real Terraform. */
import { beforeAll, describe, expect, it } from "@effect/vitest"
import { Uuid } from "@atelier/core/platform"
import { type Applied, ProvisionFailure } from "@atelier/core/provisioning"
import { Cause, Effect, Exit, Fiber, Option } from "effect"
import { execFileSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { open, readdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { aLog, aPlanInput, tarOf } from "../../provisioner/test/builders.js"
import { whilePassing } from "../../../test/store/time.js"
import type { TerraformProvisioner } from "../src/index.js"
import { aDirectory, anEngine } from "./engine.js"

const hasTerraform = ((): boolean => {
  try {
    execFileSync("terraform", ["version"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
})()
/** A Docker daemon of this machine. */
const daemon = process.env["ATELIER_TEST_DOCKER_HOST"]
const container = { image: "test-terraform:1", host: daemon, network: "none" }
const places: ReadonlyArray<readonly [string, Partial<TerraformProvisioner.Options>]> = [
  ["where the machine allows control groups", {}],
  ["without control groups", { controlGroup: "none" }],
  ...(daemon === undefined ? [] : [["in containers", { container }] as const])
]
const canMeasure = existsSync("/proc/self/stat")
const isRoot = process.getuid?.() === 0

const archive = (source: string) => Effect.promise(() => tarOf([["main.tf", source]]))

const failureOf = (exit: Exit.Exit<unknown, ProvisionFailure>): ProvisionFailure | undefined =>
  Exit.isFailure(exit) ? Option.getOrUndefined(Cause.failureOption(exit.cause)) : undefined

/** Texts of 1 MiB, more and more of them. */
const growing = `
locals {
  text = join("", [for i in range(0, 1024) : format("%01024d", i)])
}

output "size" {
  value = length([for i in range(0, 1000) : [for j in range(0, 1000) : "\${local.text}\${i}\${j}"]])
}
`

/** Hashes for ever, and keeps nothing. */
const busy = `
output "sum" {
  value = length([for x in range(0, 1000) : length([for y in range(0, 1000) : length([for z in range(0, 1000) : sha512("\${x}\${y}\${z}")])])])
}
`

/** A plan that waits for another program's output without using processor time. */
const reading = (pipe: string): string => `
output "text" {
  value = file("${pipe}")
}
`

/** Waits until a program reads a pipe, which then waits until it is closed. */
const read = (pipe: string) => Effect.promise(() => open(pipe, "w"))

/** A build that runs a program after it has made a resource. */
const running = (command: string): string => `
resource "terraform_data" "first" {}

resource "terraform_data" "program" {
  depends_on = [terraform_data.first]
  provisioner "local-exec" {
    command = <<-EOT
      ${command}
    EOT
  }
}
`

const hold = { limits: {}, cancelGrace: "5 seconds" } as const

const planned = (source: string, options: Partial<TerraformProvisioner.Options>) =>
  Effect.gen(function* () {
    const { engine } = yield* anEngine({ ...hold, ...options })
    const session = yield* engine.open(yield* archive(source), aLog().sink)
    return failureOf(yield* Effect.exit(session.plan(aPlanInput())))
  }).pipe(Effect.scoped)

const built = (source: string, options: Partial<TerraformProvisioner.Options> = {}) =>
  Effect.gen(function* () {
    const { engine } = yield* anEngine({ ...hold, ...options })
    const log = aLog()
    const session = yield* engine.open(yield* archive(source), log.sink)
    const exit: Exit.Exit<Applied, ProvisionFailure> = yield* Effect.exit(session.apply(aPlanInput()))
    return { exit, failure: failureOf(exit), output: log.lines.map((line) => line.output) }
  }).pipe(Effect.scoped)

/** Waits until the program of an apply has told that it runs. */
const begun = ({ lines }: ReturnType<typeof aLog>) =>
  Effect.promise(() => expect.poll(() => lines.some(({ output }) => output.endsWith("begun"))).toBe(true))

const stateOf = ({ failure }: { readonly failure: ProvisionFailure | undefined }): string => new TextDecoder().decode(failure?.state)

/** The processes with a command line. */
const pidsOf = async (words: string): Promise<ReadonlyArray<string>> =>
  (await readdir("/proc")).filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ").trim() === words
    } catch {
      return false
    }
  })

const skipped = !hasTerraform || !canMeasure

describe.skipIf(skipped)(`the engine${skipped ? " (skipped: it needs terraform and /proc)" : ""}`, () => {
  beforeAll(() => {
    if (daemon !== undefined)
      execFileSync(fileURLToPath(new URL("../../../test/machines/docker.sh", import.meta.url)), ["terraform", daemon, container.image])
  }, 120_000)

  describe.each(places)("%s", (_, options) => {
    it.live("ends a plan that takes more and more memory", () =>
      Effect.gen(function* () {
        const failure = yield* planned(growing, { ...options, limits: { memory: 200 } })
        expect(failure?.message).toBe("terraform plan was ended: it used more memory than the option terraform-memory allows (200 MiB)")
      })
    )

    it.live("ends a program that takes more memory, and keeps the state of what was made", () =>
      Effect.gen(function* () {
        const result = yield* built(running(`node -e 'const kept = []; setInterval(() => kept.push(Buffer.alloc(1 << 22, 1)), 10)'`), {
          ...options,
          limits: { memory: 400 }
        })
        expect(result.failure?.message).toBe(
          "terraform apply was ended: it used more memory than the option terraform-memory allows (400 MiB)"
        )
        expect(stateOf(result)).toContain('"first"')
      })
    )

    it.live("ends a program that starts too many others, also those that left its session", () =>
      Effect.gen(function* () {
        const name = `3${String(process.hrtime.bigint()).slice(-7)}`
        const { failure } = yield* built(running(`for i in $(seq 200); do setsid sleep ${name} & done; wait`), {
          ...options,
          limits: { processes: 60 }
        })
        expect(failure?.message).toBe(
          "terraform apply was ended: it ran more processes at once than the option terraform-processes allows (60)"
        )
        expect(yield* Effect.promise(() => pidsOf(`sleep ${name}`))).toEqual([])
      })
    )

    it.live("leaves nothing of a command that ended well", () =>
      Effect.gen(function* () {
        const name = `4${String(process.hrtime.bigint()).slice(-7)}`
        const { exit } = yield* built(running(`setsid sleep ${name} >/dev/null 2>&1 & echo done`), options)
        expect(Exit.isSuccess(exit)).toBe(true)
        expect(yield* Effect.promise(() => pidsOf(`sleep ${name}`))).toEqual([])
      })
    )
  })

  it.live("ends a job that takes too much processor time", () =>
    Effect.gen(function* () {
      const failure = yield* planned(busy, { limits: { cpuTime: "2 seconds" }, cancelGrace: "100 millis" })
      expect(failure?.message).toBe(
        "terraform plan was ended: its job used more processor time than the option terraform-cpu-time allows (2s)"
      )
    })
  )

  it.scoped("ends each stage that takes too long, and tells how long it may take", () =>
    Effect.gen(function* () {
      const { engine } = yield* anEngine({ importTimeout: "2 seconds", planTimeout: "3 seconds" })
      const pipe = join(yield* aDirectory, "pipe")
      execFileSync("mkfifo", [pipe])
      const session = yield* engine.open(yield* archive(reading(pipe)), aLog().sink)
      const build = aPlanInput()
      const ended = (input: ReturnType<typeof aPlanInput>) =>
        Effect.gen(function* () {
          const planning = yield* Effect.fork(session.plan(input))
          const written = yield* read(pipe)
          const failure = failureOf(yield* whilePassing("1 second", Fiber.await(planning)))
          yield* Effect.promise(() => written.close())
          return failure?.message
        })
      expect(yield* ended({ ...build, metadata: { ...build.metadata, workspace_id: Uuid.nil } })).toBe(
        "terraform plan was ended: an import may take 2s (option terraform-import-timeout)"
      )
      expect(yield* ended(build)).toBe("terraform plan was ended: the plan of a build may take 3s (option terraform-plan-timeout)")
    })
  )

  it.scoped("ends an apply that takes too long, and keeps the state of what was made", () =>
    Effect.gen(function* () {
      // Each look of the engine at what the job uses is a step of the clock, which moves until the state is written, however long that takes
      const { engine } = yield* anEngine({ applyTimeout: "20 seconds", cancelGrace: "1000 hours" })
      const log = aLog()
      const session = yield* engine.open(yield* archive(running("echo begun; sleep 1000")), log.sink)
      const applying = yield* Effect.fork(session.apply(aPlanInput()))
      yield* begun(log)
      const failure = failureOf(yield* whilePassing("1 second", Fiber.await(applying)))
      expect(failure?.message).toBe("terraform apply was ended: an apply may take 20s (option terraform-apply-timeout)")
      expect(stateOf({ failure })).toContain('"first"')
    })
  )

  it.live("ends a program that prints without end, and keeps the state of what was made", () =>
    Effect.gen(function* () {
      const result = yield* built(running("yes"), { limits: { output: 1 } })
      expect(result.failure?.message).toBe("terraform apply was ended: it printed more than the option terraform-output allows (1 MiB)")
      expect(stateOf(result)).toContain('"first"')
      expect(result.output.join("\n").length).toBeLessThan(2 * 1024 * 1024)
    })
  )

  it.live("ends a program that fills the disk with files", () =>
    Effect.gen(function* () {
      const write = "i=0; while :; do i=$((i + 1)); head -c 1000000 /dev/zero > $TMPDIR/$i; sleep 0.02; done"
      const { failure } = yield* built(running(write), { limits: { disk: 20 } })
      expect(failure?.message).toBe(
        "terraform apply was ended: its job took more of the disk than the option terraform-disk allows (20 MiB)"
      )
    })
  )

  it.live("refuses a plan and a state above their size", () =>
    Effect.gen(function* () {
      const text = 'join("", [for i in range(0, 1000) : format("%01024d", i)])'
      const large = `resource "terraform_data" "large" {\n  count = 3\n  input = ${text}\n}\n`
      const failure = yield* planned(large, { limits: { state: 1 } })
      expect(failure?.message).toBe("terraform show was ended: it printed more than the option terraform-state allows (1 MiB)")
    })
  )

  it.live("gives a plan the environment of an allow-list", () =>
    Effect.gen(function* () {
      yield* Effect.acquireRelease(
        Effect.sync(() => Object.assign(process.env, { DATABASE_PASSWORD: "hunter2" })),
        () => Effect.sync(() => delete process.env["DATABASE_PASSWORD"])
      )
      const source = `
variable "name" {
  default = "x"
}

output "environment" {
  value = ""
  precondition {
    condition     = var.name == ""
    error_message = file("/proc/self/environ")
  }
}
`
      const { engine } = yield* anEngine()
      const log = aLog()
      const session = yield* engine.open(yield* archive(source), log.sink)
      yield* Effect.exit(session.plan(aPlanInput()))
      const output = log.lines.map((line) => line.output).join("\n")
      expect(output).toContain("PATH=")
      expect(output).not.toMatch(/DATABASE_PASSWORD|hunter2/)
    }).pipe(Effect.scoped)
  )

  it.live("gives each job a directory for temporary files of its own", () =>
    Effect.gen(function* () {
      const { output } = yield* built(running("touch $TMPDIR/x; ls $TMPDIR; echo in $TMPDIR"))
      expect(output).toContain("terraform_data.program: (local-exec): x")
      expect(output).toContain("terraform_data.program: (local-exec): in ./temporary")
    })
  )

  it.effect.skipIf(isRoot)("refuses another user without the right to change it", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Effect.scoped(anEngine({ user: "65534:65534" })))
      expect(error.message).toContain("only root can run Terraform as another user")
    })
  )

  describe.skipIf(daemon === undefined)(
    `in containers${daemon === undefined ? " (skipped: ATELIER_TEST_DOCKER_HOST names no daemon)" : ""}`,
    () => {
      it.live("end jobs that take too much processor time, print without end or fill the disk", () =>
        Effect.gen(function* () {
          const used = yield* planned(busy, { container, limits: { cpuTime: "2 seconds" }, cancelGrace: "100 millis" })
          expect(used?.message).toMatch(/used more processor time than the option terraform-cpu-time allows \(2s\)$/)
          const printed = yield* built(running("yes"), { container, limits: { output: 1 } })
          expect(printed.failure?.message).toMatch(/printed more than the option terraform-output allows \(1 MiB\)$/)
          expect(stateOf(printed)).toContain('"first"')
          const write = "i=0; while :; do i=$((i + 1)); head -c 1000000 /dev/zero > /tmp/$i; sleep 0.02; done"
          const filled = yield* built(running(write), { container, limits: { disk: 20 } })
          expect(filled.failure?.message).toMatch(/took more of the disk than the option terraform-disk allows \(20 MiB\)$/)
        })
      )

      it.live("give templates nothing of the machine but the folders of their job", () =>
        Effect.gen(function* () {
          const secret = join(yield* aDirectory, "secret")
          yield* Effect.promise(() => writeFile(secret, "hunter2", { mode: 0o666 }))
          const { exit, output } = yield* built(
            running(
              `cat ${secret} || echo no file; cat /proc/${process.pid}/cmdline || echo no process; touch /x || echo read-only; grep CapEff /proc/self/status; env`
            ),
            { container }
          )
          expect(Exit.isSuccess(exit)).toBe(true)
          const said = output.map((line) => line.replace("terraform_data.program: (local-exec): ", ""))
          expect(said).toEqual(expect.arrayContaining(["no file", "no process", "read-only", "CapEff:\t0000000000000000"]))
          expect(said.join("\n")).not.toMatch(/hunter2|^(?:DOCKER_HOST|SSL_CERT|XDG_)/m)
        }).pipe(Effect.scoped)
      )

      it.live("are interrupted where a job is canceled, which keeps the state, and leave no container", () =>
        Effect.gen(function* () {
          const { directory, engine } = yield* anEngine({ ...hold, container })
          const log = aLog()
          const session = yield* engine.open(yield* archive(running("echo begun; sleep 1000")), log.sink)
          const applying = yield* Effect.fork(session.apply(aPlanInput()))
          yield* begun(log)
          const exit = yield* Fiber.interrupt(applying)
          expect(new TextDecoder().decode(failureOf(exit)?.state)).toContain('"first"')
          const left = execFileSync("docker", [
            "--host",
            daemon ?? "",
            "ps",
            "-aq",
            "--filter",
            `label=atelier.dev/terraform-directory=${directory}`
          ])
          expect(String(left)).toBe("")
        }).pipe(Effect.scoped)
      )

      it.live("fail with what to do where the image is not there", () =>
        Effect.gen(function* () {
          const failure = yield* planned(busy, { container: { ...container, image: "no-such-terraform:1" } })
          expect(failure?.message).toBe(
            'The image of Terraform is not there: run "docker pull no-such-terraform:1" on the server\'s machine.'
          )
        })
      )
    }
  )

  describe.skipIf(!isRoot)("as another user", () => {
    const user = "65534:65534"

    it.live("runs Terraform, which cannot read the server's environment", () =>
      Effect.gen(function* () {
        const { exit, output } = yield* built(running(`id -u; echo home $HOME; head -c 1 /proc/${process.pid}/environ || echo refused`), {
          user
        })
        expect(Exit.isSuccess(exit)).toBe(true)
        const said = output.map((line) => line.replace("terraform_data.program: (local-exec): ", ""))
        expect(said).toEqual(expect.arrayContaining(["65534", "home ./home", "refused"]))
      })
    )

    it.live("reads no file of the server through a link in the place of the state", () =>
      Effect.gen(function* () {
        const result = yield* built(
          running("rm -f terraform.tfstate; (sleep 0.1; ln -sf /etc/shadow terraform.tfstate) & sleep 0.2; kill -9 $PPID"),
          {
            user
          }
        )
        expect(result.failure?.message).toMatch(/^terraform apply/)
        expect(result.failure?.state).toBeUndefined()
      })
    )

    it.live("refuses a directory that the user cannot enter", () =>
      Effect.gen(function* () {
        const directory = join(yield* aDirectory, "inner")
        const error = yield* Effect.flip(Effect.scoped(anEngine({ user, directory })))
        expect(error.message).toMatch(/^terraform\.user "65534:65534": the user cannot enter .*inner/)
      }).pipe(Effect.scoped)
    )
  })
})
