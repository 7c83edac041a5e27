import {
  BuildTimings,
  WorkspaceBuilds,
  WorkspaceForms,
  WorkspaceSchedules,
  WorkspaceSettings,
  WorkspaceUsage
} from "@atelier/core/workspaces"
import { Effect, ParseResult, Redacted } from "effect"
import * as contract from "../../contract/workspaces/workspaceSettings.js"
import { maximumUsage, WorkspaceUse } from "../../contract/workspaces/workspaceSettings.js"
import { startCommand } from "../../programs/initScript.js"
import { BodyTimeout, readText } from "../../server/request/body.js"
import { bodyReader } from "../../server/codec/decode.js"
import { Settings } from "../../server/request/Settings.js"
import * as Handlers from "../Handlers.js"

export const workspaceSettings = Handlers.group(contract.workspaceSettings, (handlers) =>
  Effect.gen(function* () {
    const settings = yield* WorkspaceSettings
    const schedules = yield* WorkspaceSchedules
    const usage = yield* WorkspaceUsage
    const forms = yield* WorkspaceForms
    const builds = yield* WorkspaceBuilds
    const timings = yield* BuildTimings
    const { accessUrl, names } = yield* Settings
    const timeout = yield* BodyTimeout
    const readUsage = bodyReader(WorkspaceUse.ast)
    const decoded = ParseResult.validateSync(WorkspaceUse)
    return handlers
      .handle("listAvailableOwners", ({ path, urlParams }) => forms.availableOwners(path.organization, urlParams.q, urlParams))
      .handle("setWorkspaceAutostart", ({ path, payload }) => settings.setAutostart(path.workspace, payload.schedule))
      .handle("setWorkspaceTtl", ({ path, payload }) => settings.setTtl(path.workspace, payload.ttl_ms))
      .handle("extendWorkspace", ({ path, payload }) =>
        Effect.map(schedules.extend(path.workspace, payload.deadline), (deadline) => ({
          // To the second, as clients know it
          message: `Deadline updated to ${deadline.replace(/\.\d+Z$/, "Z")}.`
        }))
      )
      .handle("setWorkspaceTimeout", ({ path, payload }) => settings.setTimeout(path.workspace, payload.timeout_ms ?? null))
      .handle("setWorkspaceDormant", ({ path, payload }) => settings.setDormant(path.workspace, payload.dormant))
      .handle("setWorkspaceAutoupdates", ({ path, payload }) => settings.setAutomaticUpdates(path.workspace, payload.automatic_updates))
      .handle("addFavoriteWorkspace", ({ path }) => settings.addFavorite(path.workspace))
      .handle("removeFavoriteWorkspace", ({ path }) => settings.removeFavorite(path.workspace))
      .handleRaw("reportWorkspaceUsage", ({ path, request }) =>
        usage.report(
          path.workspace,
          Effect.flatMap(readText(request, maximumUsage, timeout), (text) =>
            Effect.map(readUsage(text.trim() === "" ? "{}" : text), (read) => decoded(read))
          )
        )
      )
      .handle("resolveWorkspaceAutostart", ({ path }) =>
        Effect.map(settings.autostartMismatches(path.workspace), (parameter_mismatch) => ({ parameter_mismatch }))
      )
      .handle("getWorkspaceTimings", ({ path }) => timings.ofWorkspace(path.workspace))
      .handle("getWorkspaceBuildTimings", ({ path }) => timings.ofBuild(path.workspacebuild))
      .handle("setWorkspaceBuildState", ({ path, payload }) => builds.setState(path.workspacebuild, payload.state ?? new Uint8Array()))
      .handle("getExternalAgentCredentials", ({ path }) =>
        Effect.map(builds.externalAgent(path.workspace, path.agent), ({ token, ...agent }) => ({
          agent_token: Redacted.value(token),
          command: startCommand({ accessUrl, names }, agent, Redacted.value(token))
        }))
      )
  })
)
