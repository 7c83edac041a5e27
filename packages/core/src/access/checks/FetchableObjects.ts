import { Context, type Effect, type Option } from "effect"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { FetchableType } from "./Authcheck.js"
import type { AccessObject } from "../Resource.js"

/** Objects that checks name by id, as they are stored; the areas they are of know them. authorization.md §5. */
export class FetchableObjects extends Context.Tag("@atelier/core/FetchableObjects")<
  FetchableObjects,
  Readonly<Record<FetchableType, (id: Uuid) => Effect.Effect<Option.Option<AccessObject>>>>
>() {}
