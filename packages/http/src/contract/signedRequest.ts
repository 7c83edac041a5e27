import { Schema } from "effect"
import { text } from "../wire/input.js"

/** How an app or a terminal is asked for. A signed token opens what it names, and nothing that differs in one of these. */
export const SignedRequest = Schema.Struct({
  access_method: Schema.Literal("path", "subdomain", "terminal"),
  /** The path below which it is served. */
  base_path: text,
  /** The beginning of the host's name, with the hyphens behind it. */
  app_prefix: text,
  username_or_id: text,
  workspace_name_or_id: text,
  agent_name_or_id: text,
  app_slug_or_port: text
}).annotations({ identifier: "SignedAppRequest" })
