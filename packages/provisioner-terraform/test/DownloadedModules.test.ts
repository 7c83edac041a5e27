import { describe, expect, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { aLog, aPlanInput, tarOf } from "../../provisioner/test/builders.js"
import { readArchive } from "../../provisioner/src/engine/Archive.js"
import { anEngine, aProgram } from "./engine.js"

const nothing = `show) echo '{"format_version":"1.0"}' ;; graph) echo 'digraph {}' ;;`

const manifest = (dir: string) => `{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"pod","Source":"x","Dir":"${dir}"}]}`

/** A program whose `init` downloads a module into a folder, unless it is there; lists what `init` has found. */
const downloading = (more = "", dir = ".terraform/modules/pod") =>
  aProgram(`case "$1" in init)
if [ -e .terraform/modules/modules.json ]; then echo '{"@level":"info","@message":"found '$(cat .terraform/modules/pod/main.tf)'","type":"log"}'
else mkdir -p .terraform/modules/pod/.git; echo pod > .terraform/modules/pod/main.tf; echo history > .terraform/modules/pod/.git/HEAD
echo '${manifest(dir)}' > .terraform/modules/modules.json
${more}
fi ;; ${nothing} esac`)

const source = Effect.promise(() => tarOf([["main.tf", ""]]))

/** The modules after an import's plan. */
const imported = (binary: string) =>
  Effect.gen(function* () {
    const { engine } = yield* anEngine({ binary })
    const log = aLog()
    const session = yield* engine.open(yield* source, log.sink)
    yield* session.plan(aPlanInput())
    const modules = yield* session.modules ?? Effect.succeedNone
    return { engine, modules, log }
  })

const namesIn = (archive: Option.Option<Uint8Array>) => Effect.map(readArchive(Option.getOrThrow(archive)), (files) => [...files.keys()])

describe("downloaded modules", () => {
  it.scopedLive("are archived without their history, the same each time, and found by the next init", () =>
    Effect.gen(function* () {
      const binary = yield* downloading()
      const { engine, modules } = yield* imported(binary)
      expect(yield* namesIn(modules)).toStrictEqual([".terraform/modules/modules.json", ".terraform/modules/pod/main.tf"])
      expect((yield* imported(binary)).modules).toStrictEqual(modules)

      const log = aLog()
      const session = yield* engine.open(yield* source, log.sink, Option.getOrThrow(modules))
      yield* session.plan(aPlanInput())
      expect(JSON.stringify(log.lines)).toContain("found pod")
    })
  )

  it.scopedLive("do not exist where the source has all modules", () =>
    Effect.gen(function* () {
      expect((yield* imported(yield* downloading("", "pod"))).modules).toStrictEqual(Option.none())
      expect((yield* imported(yield* aProgram(`case "$1" in ${nothing} esac`))).modules).toStrictEqual(Option.none())
    })
  )

  it.scopedLive.each([
    ["a link", "ln -s main.tf .terraform/modules/pod/link.tf"],
    ["a name with a backslash", "echo > '.terraform/modules/pod/a\\b'"],
    ["a file of more than 10 MiB", "head -c 10485761 /dev/zero > .terraform/modules/pod/large"],
    ["more than 20 MiB", "for number in 1 2 3; do head -c 7340032 /dev/zero > .terraform/modules/pod/part$number; done"]
  ])("are not kept with %s, and the log says so", ([, more]) =>
    Effect.gen(function* () {
      const { log, modules } = yield* imported(yield* downloading(more))
      expect(modules).toStrictEqual(Option.none())
      expect(JSON.stringify(log.lines)).toContain("Builds download the modules again")
    })
  )

  it.scopedLive("are downloaded again where their archive cannot be read", () =>
    Effect.gen(function* () {
      const { engine } = yield* imported(yield* downloading())
      const archive = yield* Effect.promise(() => tarOf([[".terraform/modules/a\\b", ""]]))
      const log = aLog()
      const session = yield* engine.open(yield* source, log.sink, archive)
      yield* session.plan(aPlanInput())
      const modules = yield* session.modules ?? Effect.succeedNone
      expect(JSON.stringify(log.lines)).toContain("The modules are downloaded again: ")
      expect(yield* namesIn(modules)).toContain(".terraform/modules/pod/main.tf")
    })
  )

  it.scopedLive("are put into the folder of modules alone", () =>
    Effect.gen(function* () {
      const { engine } = yield* imported(yield* downloading())
      const archive = yield* Effect.promise(() =>
        tarOf([
          [".terraform/modules/modules.json", manifest(".terraform/modules/pod")],
          [".terraform/modules/pod/main.tf", "restored"],
          ["extra.tf", "resource"],
          ["terraform.tfstate", "{}"]
        ])
      )
      const binary = yield* aProgram(
        `case "$1" in init) echo '{"@level":"info","@message":"'$(ls -A | tr '\\n' ' ')'","type":"log"}' ;; ${nothing} esac`
      )
      const { engine: listing } = yield* anEngine({ binary })
      const log = aLog()
      const session = yield* listing.open(yield* source, log.sink, archive)
      yield* session.plan(aPlanInput())
      expect(engine.name).toBe("terraform")
      expect(JSON.stringify(log.lines)).toContain(".terraform main.tf ")
      expect(JSON.stringify(log.lines)).not.toContain("extra.tf")
    })
  )

  it.scopedLive("give their parameters to forms; what the source itself has in their folder does not count", () =>
    Effect.gen(function* () {
      const { engine } = yield* anEngine({ environment: { PATH: "/nowhere" } })
      const parameter = (name: string) => `data "coder_parameter" "p" {\n  name = "${name}"\n  default = "x"\n}\n`
      const source = yield* Effect.promise(() =>
        tarOf([
          ["main.tf", 'module "pod" {\n  source  = "example/pod/coder"\n  version = "1.0.0"\n}\n'],
          [".terraform/modules/modules.json", manifest(".terraform/modules/pod")],
          [".terraform/modules/pod/main.tf", parameter("forged")]
        ])
      )
      const archive = yield* Effect.promise(() =>
        tarOf([
          [".terraform/modules/modules.json", manifest(".terraform/modules/pod")],
          [".terraform/modules/pod/main.tf", parameter("stored")]
        ])
      )
      const namesOf = (modules?: Uint8Array) =>
        Effect.gen(function* () {
          const session = yield* engine.open(source, aLog().sink, modules)
          const form = yield* session.preview?.(aPlanInput()) ?? Effect.dieMessage("there are no forms")
          return [...form.parameters.map(({ name }) => name), ...form.diagnostics.map(({ extra }) => extra.code)]
        })
      expect(yield* namesOf(archive)).toStrictEqual(["stored"])
      expect(yield* namesOf()).toStrictEqual(["module_not_loaded"])
      expect(yield* namesOf(new Uint8Array(700).fill(7))).toStrictEqual(["module_not_loaded"])
    })
  )
})
