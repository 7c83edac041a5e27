import { SqlClient } from "@effect/sql"
import { Access, SystemActor } from "@atelier/core/access"
import { Uuid } from "@atelier/core/platform"
import { Files } from "@atelier/core/provisioning"
import { Deferred, Effect, Fiber, Schema } from "effect"
import { expect, it } from "vitest"
import { aTar, aZip } from "../../../../../test/records/archives.js"
import { testEngines } from "../../../../../test/outside/engine.js"
import { describeServerOnEach, type Person } from "../../../../../test/http/server.js"
import { aTemplate, fileIdOf, upload } from "../../../../../test/http/templates.js"

const zip = "application/zip"

describeServerOnEach(
  "files",
  (server, once) => {
    const download = (id: string, token = server().owner().token, query = "") =>
      fetch(`${server().url}/api/v2/files/${id}${query}`, { headers: { "Service-Session-Token": token } })

    once("are stored once per user", async () => {
      const tar = await aTar({ "main.tf": "x".repeat(100) })
      const member = await server().aMember()
      const [first, again] = [await upload(server(), tar), await upload(server(), tar)]
      expect([first.status, again.status, fileIdOf(again)]).toStrictEqual([201, 200, fileIdOf(first)])
      const other = await upload(server(), tar, { token: member.token })
      expect([other.status, fileIdOf(other) === fileIdOf(first)]).toStrictEqual([201, false])
    })

    it("are one file when the same is uploaded many times at once", async () => {
      const tar = await aTar({ "main.tf": "at once" })
      const uploads = await Promise.all(Array.from({ length: 8 }, () => upload(server(), tar)))
      expect(new Set(uploads.map(fileIdOf)).size).toBe(1)
      expect(uploads.every(({ status }) => status === 201 || status === 200)).toBe(true)
    })

    once("are read one after another per user if large, and not at all if refused", async () => {
      const [one, other] = [await server().aMember(), await server().aMember()]
      const began: Array<string> = []
      const uploading = (name: string, { user }: Person, ready: Effect.Effect<void> = Effect.void, length?: number) =>
        Effect.flatMap(Files, ({ upload }) =>
          upload(
            "application/x-tar",
            Effect.sync(() => began.push(name)).pipe(Effect.zipRight(ready), Effect.as(Buffer.from(name))),
            length
          )
        ).pipe(Access.actingAs({ ...SystemActor.provisionerd, userId: user.id }))
      await server().run(
        Effect.gen(function* () {
          const reading = yield* Deferred.make<void>()
          const first = yield* Effect.fork(uploading("first", one, Effect.zipRight(Deferred.succeed(reading, undefined), Effect.never)))
          yield* Effect.raceFirst(Deferred.await(reading), Fiber.join(first))
          const second = yield* Effect.fork(uploading("second", one, Effect.void, 4 * 1024 * 1024 + 1))
          yield* uploading("other", other)
          yield* uploading("small", one, Effect.void, 4 * 1024 * 1024)
          expect(began).toStrictEqual(["first", "other", "small"])
          yield* Fiber.interrupt(first)
          yield* Fiber.join(second)
          expect(began).toStrictEqual(["first", "other", "small", "second"])
          const refused = Effect.flatMap(Files, ({ upload }) => upload("text/plain", Effect.dieMessage("was read")))
          yield* Effect.flip(Access.actingAs({ ...SystemActor.provisionerd, userId: one.user.id })(refused))
        })
      )
    })

    once("come back byte for byte, in pieces too", async () => {
      const tar = await aTar({ "main.tf": "x".repeat(2_500_000) })
      const answer = await download(fileIdOf(await upload(server(), tar)))
      expect([answer.status, answer.headers.get("content-type"), answer.headers.get("content-length")]).toStrictEqual([
        200,
        "application/x-tar",
        String(tar.length)
      ])
      expect(Buffer.from(await answer.arrayBuffer()).equals(tar)).toBe(true)
    })

    once("that are zip become tar, and are sent as zip when they are asked for so", async () => {
      const id = fileIdOf(await upload(server(), aZip({ "main.tf": "resource" }), { type: zip }))
      const tar = await download(id)
      expect(tar.headers.get("content-type")).toBe("application/x-tar")
      expect(Buffer.from(await tar.arrayBuffer()).toString("latin1")).toContain("ustar")
      const asZip = await download(id, undefined, "?format=zip")
      expect(asZip.headers.get("content-type")).toBe(zip)
      expect(
        Buffer.from(await asZip.arrayBuffer())
          .subarray(0, 2)
          .toString()
      ).toBe("PK")
    })

    once("that are no tar, or one that was cut, are refused as zip", async () => {
      const cut = (await aTar({ "main.tf": "resource".repeat(1000) })).subarray(0, 1500)
      for (const content of [Buffer.from("no tar at all".repeat(100)), cut]) {
        const id = fileIdOf(await upload(server(), content))
        const answer = await download(id, undefined, "?format=zip")
        expect([answer.status, await answer.json()]).toMatchObject([400, { message: "Unable to read the tar file." }])
      }
    })

    once("are refused with other types, and with content of another type", async () => {
      const tar = await aTar({})
      expect((await upload(server(), tar, { type: "text/plain" })).status).toBe(400)
      expect((await upload(server(), tar, { type: "application/x-tar; charset=utf-8" })).status).toBe(400)
      expect((await upload(server(), Buffer.from("not a zip"), { type: zip })).status).toBe(400)
      // 101 MiB of zeros are 100 KiB as a zip
      const bomb = aZip({ zeros: Buffer.alloc(101 * 1024 * 1024) })
      expect(bomb.length).toBeLessThan(200 * 1024)
      const refused = await upload(server(), bomb, { type: zip })
      expect(refused.status).toBe(413)
      expect(refused.text).toContain(String(100 * 1024 * 1024))
    })

    once("are readable for their uploader and editors of templates made from them", async () => {
      const member = await server().aMember()
      const templateAdmin = await server().aMember({}, ["organization-template-admin"])
      const own = fileIdOf(await upload(server(), await aTar({ "own.tf": "" }), { token: member.token }))
      const other = await server().aMember()
      expect((await download(own, other.token)).status).toBe(404)
      expect((await download(own, member.token)).status).toBe(200)

      const template = await aTemplate(server())
      const version = await server().call("GET", `/templateversions/${template.active_version_id}`, { token: server().owner().token })
      const { job } = version.as(Schema.Struct({ job: Schema.Struct({ file_id: Schema.String }) }))
      expect((await download(job.file_id, member.token)).status).toBe(404)
      expect((await download(job.file_id, templateAdmin.token)).status).toBe(200)
    })

    once("are missing by an unknown id, and refused by an invalid one", async () => {
      expect((await download("7b5e8a5e-65b0-4d4e-9d9c-8a2a8a6a5f4e")).status).toBe(404)
      expect((await download("x")).status).toBe(400)
      const id = fileIdOf(await upload(server(), await aTar({ "format.tf": "" })))
      expect((await download(id, undefined, "?format=rar")).status).toBe(400)
    })

    once("are purged a day after their last use, unless a template was imported from them", async () => {
      const template = await aTemplate(server())
      const version = await server().call("GET", `/templateversions/${template.active_version_id}`, { token: server().owner().token })
      const { job } = version.as(Schema.Struct({ job: Schema.Struct({ file_id: Schema.String }) }))
      const renewedTar = await aTar({ "renewed.tf": "" })
      const [unused, renewed] = [
        fileIdOf(await upload(server(), await aTar({ "unused.tf": "" }))),
        fileIdOf(await upload(server(), renewedTar))
      ]
      const purge = () => server().run(Effect.flatMap(Files, ({ purge }) => purge.run))
      const statuses = () => Promise.all([unused, renewed, job.file_id].map(async (id) => (await download(id)).status))
      server().advance("23 hours")
      await purge()
      expect(await statuses()).toStrictEqual([200, 200, 200])
      expect(fileIdOf(await upload(server(), renewedTar))).toBe(renewed)
      server().advance("2 hours")
      await purge()
      expect(await statuses()).toStrictEqual([404, 200, 200])
      // In two steps, because an unused session ends after a day
      server().advance("13 hours")
      expect(await statuses()).toStrictEqual([404, 200, 200])
      server().advance("13 hours")
      await purge()
      expect(await statuses()).toStrictEqual([404, 404, 200])

      const fresh = fileIdOf(await upload(server(), await aTar({ "fresh.tf": "" })))
      const keep = (id: string) => server().run(Effect.either(Effect.flatMap(Files, ({ keep }) => keep(Uuid.Uuid.make(id)))))
      const usedAt = () =>
        server().run(
          Effect.gen(function* () {
            const sql = yield* Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))
            return yield* sql<{ used_at: unknown }>`SELECT used_at FROM files WHERE id = ${fresh}`
          })
        )
      const uploaded = await usedAt()
      expect((await keep(fresh))._tag).toBe("Right")
      // Without a write, for which the imports of one file would wait for each other
      expect(await usedAt()).toStrictEqual(uploaded)
      server().advance("13 hours")
      await keep(fresh)
      expect(await usedAt()).not.toStrictEqual(uploaded)
      expect((await keep(unused))._tag).toBe("Left")
    })
  },
  { provisioner: testEngines }
)

describeServerOnEach(
  "the files of one user",
  (server) => {
    it("are refused beyond its limit, also concurrently, and do not count for others", async () => {
      const [member, other] = [await server().aMember(), await server().aMember()]
      const tars = await Promise.all(["a", "b", "c"].map((name) => aTar({ [name]: name.repeat(2000) })))
      const answers = await Promise.all(tars.map((tar) => upload(server(), tar, { token: member.token })))
      expect(answers.map(({ status }) => status).toSorted()).toStrictEqual([201, 201, 413])
      const refused = answers.find(({ status }) => status === 413)
      expect(refused?.body).toMatchObject({ message: "Your files would exceed the space of one user." })
      const [first] = tars
      if (first === undefined) throw new Error("no tar")
      const again = answers[0]?.status === 201 ? 200 : 413
      expect((await upload(server(), first, { token: member.token })).status).toBe(again)
      expect((await upload(server(), first, { token: other.token })).status).toBe(201)
    })
  },
  { options: { uploadBytesPerUser: 10_000 } }
)
