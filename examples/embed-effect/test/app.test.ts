import { expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Atelier } from "@atelier/http"
import { Sqlite } from "@atelier/storage-sqlite"
import { organizationNames } from "../src/app.js"

const atelier = Atelier.layer({ accessUrl: "http://127.0.0.1:3000", storage: Sqlite.layer({ filename: ":memory:" }) })

it.scopedLive("calls the services directly", () =>
  Effect.gen(function* () {
    expect(yield* organizationNames).toStrictEqual(["default"])
  }).pipe(Effect.provide(Layer.orDie(atelier)))
)
