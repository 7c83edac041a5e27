/** Tokens by which workspace proxies let their visitors open apps and terminals. agents-and-apps.md §20, §21. */
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { CurrentActor } from "@atelier/core/access"
import { NotFound, Uuid } from "@atelier/core/platform"
import { AppAccess } from "@atelier/core/workspaces"
import { Context, Effect } from "effect"
import { seeOther } from "../pages/PageOptions.js"
import type { AppRefusals } from "./appRefusals.js"
import { AppSessions } from "./AppSessions.js"
import { normalized, SignedAppTokens, type SignedRequest } from "./SignedAppTokens.js"

const missing = { reason: "missing", message: "The application does not exist, or you may not open it." } as const

export interface VisitorTokensService {
  /**
   * A token for a visitor of a workspace proxy, at whose host the app has this address; the page or the redirection that the visitor gets
   * instead. Fails with `NotFound` for a terminal that the visitor may not open.
   */
  readonly issue: (
    signed: SignedRequest,
    url: string
  ) => Effect.Effect<string | HttpServerResponse.HttpServerResponse, NotFound, CurrentActor>
}

/** Undefined where no apps are served. */
export class VisitorTokens extends Context.Reference<VisitorTokens>()("@atelier/http/VisitorTokens", {
  defaultValue: (): VisitorTokensService | undefined => undefined
}) {}

export const makeVisitorTokens = ({ page }: Pick<AppRefusals, "page">) =>
  Effect.gen(function* () {
    const access = yield* AppAccess
    const tokens = yield* SignedAppTokens
    const sessions = yield* AppSessions
    return {
      issue: (signed, url) =>
        Effect.gen(function* () {
          const { access_method, agent_name_or_id: agent, app_slug_or_port, username_or_id: user, workspace_name_or_id: workspace } = signed
          const agentId = Uuid.parse(agent)
          const [, target] =
            access_method === "terminal"
              ? yield* agentId === undefined ? new NotFound({ resource: "workspace_agent" }) : access.openTerminal(agentId)
              : yield* access.open({ access_method, user, workspace, agent, slug_or_port: app_slug_or_port })
          const issued = yield* tokens.issue(normalized(signed), target, yield* CurrentActor)
          return issued === undefined ? yield* page(missing) : issued.token
        }).pipe(
          Effect.catchTag("AppRefused", (refusal) =>
            refusal.reason === "signed_out"
              ? Effect.succeed(seeOther(sessions.address(url)))
              : page({ reason: refusal.reason, message: refusal.message })
          )
        )
    } satisfies VisitorTokensService
  })
