/** Authentication of an endpoint: `endpoint.middleware(Authenticated)`. Endpoints without one of these are public. identity.md §2.3, §2.4. */
import * as HttpApiMiddleware from "@effect/platform/HttpApiMiddleware"
import { type Actor, CurrentActor } from "@atelier/core/access"
import { Context, type Option } from "effect"
import { refusals } from "../wire/errors.js"

/** A user with a session or an API token; handlers act as that user. */
export class Authenticated extends HttpApiMiddleware.Tag<Authenticated>()("@atelier/http/Authenticated", {
  provides: CurrentActor,
  failure: refusals("Unauthenticated", "Forbidden")
}) {}

/** A workspace's agent with its token; handlers act as the agent. agents-and-apps.md §1. */
export class AgentAuthenticated extends HttpApiMiddleware.Tag<AgentAuthenticated>()("@atelier/http/AgentAuthenticated", {
  provides: CurrentActor,
  failure: refusals("Unauthenticated")
}) {}

/** A user or an agent. */
export class UserOrAgentAuthenticated extends HttpApiMiddleware.Tag<UserOrAgentAuthenticated>()("@atelier/http/UserOrAgentAuthenticated", {
  provides: CurrentActor,
  failure: refusals("Unauthenticated", "Forbidden")
}) {}

/** The authenticated caller of an endpoint that takes other credentials too; None without a valid credential of a user. */
export class Caller extends Context.Tag("@atelier/http/Caller")<Caller, Option.Option<Actor>>() {}

/** Provides `Caller`; None for a missing, unknown or expired credential. */
export class OptionallyAuthenticated extends HttpApiMiddleware.Tag<OptionallyAuthenticated>()("@atelier/http/OptionallyAuthenticated", {
  provides: Caller
}) {}
