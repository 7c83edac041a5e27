import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Access, AccessObjects } from "@atelier/core/access"
import { type Descriptor, General, optionDefinitions, safeExperiments, UpdateCheck } from "@atelier/core/deployment"
import { Invalid, NotFound } from "@atelier/core/platform"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { AgentProgram } from "../../programs/AgentProgram.js"
import * as contract from "../../contract/deployment/general.js"
import { Wire } from "../../wire/dialect.js"
import { initScript, programNames } from "../../programs/initScript.js"
import { Settings } from "../../server/request/Settings.js"
import * as Handlers from "../Handlers.js"
import { sourceUrl } from "./deployment.js"

const definitions: Readonly<Record<string, { readonly type: string; readonly choices?: ReadonlyArray<string> }>> = optionDefinitions

/** The reference reports an enumeration with its choices. deployment.md §2.1. */
const referenceForm = (option: Descriptor): Descriptor => {
  const definition = definitions[option.flag]
  return definition?.type === "enum" ? { ...option, value: { Choices: definition.choices, Value: option.value } } : option
}

export const general = Handlers.group(contract.general, (handlers) =>
  Effect.gen(function* () {
    const { configuration, experiments, ssh } = yield* General
    const updates = yield* UpdateCheck
    const { accessUrl, names, version } = yield* Settings
    const wire = yield* Wire
    const program = yield* AgentProgram
    const programs = programNames(names.word)
    return handlers
      .handle("checkForUpdates", () => updates.compare({ version, url: sourceUrl }))
      .handle("reportCspViolation", ({ payload }) =>
        Effect.logDebug("a page's content security policy was violated").pipe(
          Effect.annotateLogs({ report: JSON.stringify(payload["csp-report"] ?? {}).slice(0, 8192) })
        )
      )
      .handle("getDeploymentConfig", () =>
        Effect.map(configuration, ({ config, options }) => ({
          config,
          options: wire === "reference" ? options.map(referenceForm) : options
        }))
      )
      .handle("getSshConfig", Handlers.constant(ssh))
      .handle("reportFunnelEvent", () => Access.authorizeOrHide("read", AccessObjects.bare("license")))
      .handle("listExperiments", Handlers.constant(experiments))
      .handle("listAvailableExperiments", Handlers.constant(safeExperiments))
      .handle("getInitScript", ({ path }) => {
        const script = initScript({ accessUrl, names }, path.os, path.arch)
        if (script === undefined)
          return new Invalid({ message: `There is no agent for the platform ${JSON.stringify(`${path.os}/${path.arch}`.slice(0, 100))}.` })
        const digest = createHash("sha256").update(script).digest("base64")
        return Effect.succeed(
          HttpServerResponse.text(script, {
            contentType: "text/plain; charset=utf-8",
            headers: { "content-digest": `sha-256=:${digest}:` }
          })
        )
      })
      .handle("getAgentProgram", ({ path }) =>
        program === undefined || !programs.has(path.name)
          ? new NotFound({ resource: "agent" })
          : Effect.map(program, (bytes) => HttpServerResponse.uint8Array(bytes, { contentType: "text/javascript; charset=utf-8" }))
      )
  })
)
