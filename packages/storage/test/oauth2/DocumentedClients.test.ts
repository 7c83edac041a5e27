import { ClientDocuments, DocumentUnavailable, OAuth2AppRepository, OAuth2Clients } from "@atelier/core/oauth2"
import { expect, layer } from "@effect/vitest"
import { Effect, Layer, Option, TestClock } from "effect"
import { databases } from "../../../../test/store/databases.js"
import { runtime } from "../../../../test/store/services.js"

/** The documents on the web, by their URLs, and how often each was read. */
const web = () => {
  const documents = new Map<string, object | undefined>()
  let reads = 0
  const source = Layer.succeed(ClientDocuments, {
    read: (url) =>
      Effect.suspend(() => {
        reads += 1
        const document = documents.get(url)
        return document === undefined ? new DocumentUnavailable({ message: "away" }) : Effect.succeed(JSON.stringify(document))
      })
  })
  const publish = (url: string, name: string) =>
    documents.set(url, { client_id: url, client_name: name, redirect_uris: ["http://127.0.0.1/callback"] })
  return { documents, publish, source, reads: () => reads }
}

let count = 0
const aUrl = () => `https://app.example.com/${(count += 1)}.json`

for (const [name, database] of databases) {
  layer(Layer.merge(database, runtime))(`clients with a document on ${name}`, (it) => {
    /** Two replicas of the service. */
    const replicas = (source: Layer.Layer<never>) => {
      const replica = Effect.map(Layer.build(Layer.fresh(Layer.provide(OAuth2Clients.layer, source))), (context) =>
        Effect.provide(OAuth2Clients, context)
      )
      return Effect.flatMap(Effect.all([replica, replica]), Effect.all)
    }

    it.scoped("are read once by many requests, and again after ten minutes", () =>
      Effect.gen(function* () {
        const { publish, reads, source } = web()
        const url = aUrl()
        publish(url, "Editor")
        const [one, other] = yield* replicas(source)
        const found = yield* Effect.all(
          Array.from({ length: 20 }, () => one.get(url)),
          { concurrency: "unbounded" }
        )
        expect(new Set(found.map(({ id }) => id)).size).toBe(1)
        expect(yield* other.get(url)).toMatchObject({ id: found[0]?.id, name: "app.example.com: Editor" })
        expect(reads()).toBe(1)
        publish(url, "Viewer")
        yield* TestClock.adjust("11 minutes")
        expect(yield* one.get(url)).toMatchObject({ id: found[0]?.id, name: "app.example.com: Viewer", dynamically_registered: true })
        expect(reads()).toBe(2)
      })
    )

    it.scoped("are one client for replicas that meet it at the same time", () =>
      Effect.gen(function* () {
        const { publish, source } = web()
        const url = aUrl()
        publish(url, "Editor")
        const [one, other] = yield* replicas(source)
        const [first, second] = yield* Effect.all([one.get(url), other.get(url)], { concurrency: "unbounded" })
        expect(first.id).toBe(second.id)
      })
    )

    it.scoped("stay for a day while their document is away, and are not asked for at each request", () =>
      Effect.gen(function* () {
        const { documents, publish, reads, source } = web()
        const url = aUrl()
        const [one] = yield* replicas(source)
        expect(yield* Effect.flip(one.get(url))).toMatchObject({ error: "invalid_client" })
        expect(yield* Effect.flip(one.get(url))).toMatchObject({ error: "invalid_client" })
        expect(reads()).toBe(1)
        publish(url, "Editor")
        yield* TestClock.adjust("2 minutes")
        yield* one.get(url)
        documents.delete(url)
        yield* TestClock.adjust("23 hours")
        expect((yield* one.get(url)).name).toBe("app.example.com: Editor")
        yield* TestClock.adjust("2 hours")
        expect(yield* Effect.flip(one.get(url))).toMatchObject({ error: "invalid_client" })
      })
    )

    it.scoped("end at once with a document that names another client", () =>
      Effect.gen(function* () {
        const { documents, publish, source } = web()
        const url = aUrl()
        publish(url, "Editor")
        const [one] = yield* replicas(source)
        yield* one.get(url)
        documents.set(url, { client_id: "https://app.example.com/other.json", redirect_uris: ["https://evil.example/"] })
        yield* TestClock.adjust("11 minutes")
        expect(yield* Effect.flip(one.get(url))).toMatchObject({ error: "invalid_client_metadata" })
      })
    )

    it.scoped("are judged by their document also where they are named by their UUID, but for the end of their permissions", () =>
      Effect.gen(function* () {
        const { documents, publish, source } = web()
        const url = aUrl()
        publish(url, "Editor")
        const [one] = yield* replicas(source)
        const { id } = yield* one.get(url)
        expect((yield* one.get(id)).id).toBe(id)
        publish(url, "Viewer")
        yield* TestClock.adjust("11 minutes")
        expect((yield* one.get(id)).name).toBe("app.example.com: Viewer")
        documents.delete(url)
        yield* TestClock.adjust("2 days")
        expect(yield* Effect.flip(one.get(id))).toMatchObject({ error: "invalid_client" })
        for (const named of [id, url]) expect((yield* one.stored(named)).id).toBe(id)
      })
    )

    it.scoped("are admitted where clients may register themselves; those that are known stay", () =>
      Effect.gen(function* () {
        const { publish, source } = web()
        const [known, unknown] = [aUrl(), aUrl()]
        publish(known, "Editor")
        publish(unknown, "Other")
        const [one] = yield* replicas(source)
        const { id } = yield* one.get(known)
        const apps = yield* OAuth2AppRepository
        yield* Effect.acquireRelease(apps.setRegistrationEnabled(false), () => apps.setRegistrationEnabled(true))
        expect((yield* one.get(known)).id).toBe(id)
        expect(yield* Effect.flip(one.get(unknown))).toMatchObject({ error: "invalid_client" })
        expect(Option.isSome(yield* apps.byId(id))).toBe(true)
      })
    )
  })
}
