import { type OAuth2App, OAuth2AppRepository } from "@atelier/core/oauth2"
import { Ids, Timestamp } from "@atelier/core/platform"
import { Effect } from "effect"

/** A stored client, public as any caller can be, with the fields that a test needs. */
export const aStoredApp = (fields: Partial<OAuth2App> = {}) =>
  Effect.gen(function* () {
    const now = yield* Timestamp.now
    const app: OAuth2App = {
      id: yield* (yield* Ids).next,
      created_at: now,
      updated_at: now,
      name: "editor",
      icon: "",
      redirect_uris: ["http://127.0.0.1/callback"],
      client_type: "public",
      dynamically_registered: false,
      token_endpoint_auth_method: "none",
      grant_types: [],
      response_types: ["code"],
      metadata: {},
      last_used_at: null,
      ...fields
    }
    yield* (yield* OAuth2AppRepository).insert(app, null)
    return app
  })
