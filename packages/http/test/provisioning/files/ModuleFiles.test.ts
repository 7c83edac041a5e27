import { FileTransfer } from "@atelier/agent-protocol"
import { Files } from "@atelier/core/provisioning"
import { SqlClient } from "@effect/sql"
import { Chunk, Effect, Either, Schema, Stream } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { aVersion, ended, getVersion } from "../../../../../test/http/templates.js"
import { describeAgentsOnEach } from "../../agents/AgentServer.js"
import { aDaemon, aKey, keyHeader } from "../daemons/aDaemon.js"

const Identified = Schema.Struct({ id: Schema.String })

/** An archive of modules larger than a piece; the service does not look into it. */
const archive = new Uint8Array(FileTransfer.pieceSize + 3).fill(7)

const hashOf = (content: Uint8Array) => Effect.runPromise(FileTransfer.sha256(content))

describeAgentsOnEach(
  "modules that imports have downloaded",
  (server, once) => {
    const owner = () => server().owner().token
    let daemon: Awaited<ReturnType<typeof aDaemon>>

    beforeAll(async () => {
      daemon = await aDaemon(server().url, { [keyHeader]: await aKey(server(), "far", { site: "far" }) }, "&name=one")
    })
    afterAll(() => daemon.close())

    /** An import that the daemon works on. */
    const anImport = async () => {
      const version = await aVersion(server(), {}, { provisioner: "terraform", tags: { site: "far" } })
      const { job_id } = await daemon.acquire()
      return { version, job_id }
    }

    const send = (content: Uint8Array, hash: Uint8Array) =>
      Effect.runPromise(
        Effect.either(daemon.calls.UploadFile(FileTransfer.messages({ size: content.length, hash, content: Stream.make(content) })))
      )

    const complete = (job_id: string, value: object) =>
      Effect.runPromise(Effect.either(daemon.calls.CompleteJob({ job_id, type: { case: "template_import", value } })))

    let templates = 0
    const aTemplate = async (template_version_id: string, fields: object = {}) => {
      const answer = await server().call("POST", "/organizations/default/templates", {
        token: owner(),
        body: { name: `far-${++templates}`, template_version_id }
      })
      const { id } = answer.as(Identified)
      await server().call("PATCH", `/templates/${id}`, { token: owner(), body: fields })
      return id
    }

    /** The archive that the build of a new workspace is given. */
    const given = async (template_id: string) => {
      await server().call("POST", "/users/me/workspaces", { token: owner(), body: { name: `w-${++templates}`, template_id } })
      const { job_id, type } = await daemon.acquire()
      await Effect.runPromise(daemon.calls.FailJob({ job_id, error: "enough" }))
      return type?.case === "workspace_build" ? type.value.metadata?.template_version_modules_file : undefined
    }

    const download = (of: typeof daemon, file_id: string, upload_type: "MODULE_FILES" | "UNKNOWN" = "MODULE_FILES") =>
      Effect.runPromise(Effect.either(FileTransfer.receive(of.calls.DownloadFile({ file_id, upload_type }))))

    const reasonOf = (result: Either.Either<unknown, { readonly message: string }>) =>
      Either.match(result, { onLeft: ({ message }) => message, onRight: () => "" })

    once("come in pieces before the import's result, and go to the builds of its version", async () => {
      const { job_id, version } = await anImport()
      const hash = await hashOf(archive)
      expect(Either.isRight(await send(archive, hash))).toBe(true)
      expect(Either.isRight(await complete(job_id, { module_files_hash: hash }))).toBe(true)
      const file = await given(await aTemplate(version.id))
      expect(file).toMatch(/^[0-9a-f-]{36}$/)
      const result = Either.getOrThrow(await download(daemon, file ?? ""))
      expect([result.content.length, Buffer.compare(result.content, archive)]).toStrictEqual([archive.length, 0])
    })

    once("come with the result, and are stored once", async () => {
      const small = new Uint8Array([1, 2, 3])
      const files: Array<string | undefined> = []
      for (const fields of [{ module_files: small }, { module_files: small, module_files_hash: await hashOf(small) }]) {
        const { job_id, version } = await anImport()
        expect(Either.isRight(await complete(job_id, fields))).toBe(true)
        files.push(await given(await aTemplate(version.id)))
      }
      expect(files[0]).toMatch(/^[0-9a-f-]{36}$/)
      expect(files[1]).toBe(files[0])
    })

    once("are not given to builds of templates that switch them off", async () => {
      const unwanted = await anImport()
      await complete(unwanted.job_id, { module_files: new Uint8Array([4]) })
      expect(await given(await aTemplate(unwanted.version.id, { disable_module_cache: true }))).toBe("")
      const plain = await anImport()
      await complete(plain.job_id, {})
      expect(await given(await aTemplate(plain.version.id))).toBe("")
    })

    once("are sent by daemons that work on an import", async () => {
      expect(reasonOf(await send(archive, await hashOf(archive)))).toContain("for the imports that it works on")
    })

    it("are shared by imports at once, and kept while one of them goes on", async () => {
      const [one, two, three] = [await anImport(), await anImport(), await anImport()]
      const [hash, other] = [await hashOf(archive), new Uint8Array([8])]
      expect(Either.isRight(await send(archive, hash))).toBe(true)
      expect(Either.isRight(await send(other, await hashOf(other)))).toBe(true)
      await Effect.runPromise(daemon.calls.FailJob({ job_id: one.job_id, error: "enough" }))
      expect(Either.isRight(await complete(two.job_id, { module_files_hash: hash }))).toBe(true)
      expect(Either.isRight(await complete(three.job_id, { module_files_hash: hash }))).toBe(true)
    })

    once("are refused above 32 MiB", async () => {
      const { job_id } = await anImport()
      const announced = FileTransfer.messages({ size: 32 * 1024 * 1024 + 1, hash: new Uint8Array(32), content: Stream.empty })
      expect(reasonOf(await Effect.runPromise(Effect.either(daemon.calls.UploadFile(announced))))).toContain("at most 33554432 bytes")
      await Effect.runPromise(daemon.calls.FailJob({ job_id, error: "enough" }))
    })

    once("are refused with another hash than announced, and the import goes on", async () => {
      const { job_id, version } = await anImport()
      expect(reasonOf(await send(archive, new Uint8Array(32)))).toBe("The file is refused: the file has another hash.")
      expect(reasonOf(await complete(job_id, { module_files_hash: new Uint8Array(32) }))).toContain("has not been sent")
      expect(reasonOf(await complete(job_id, { module_files: new Uint8Array([1]), module_files_hash: new Uint8Array(32) }))).toContain(
        "another hash"
      )
      expect(Either.isRight(await complete(job_id, {}))).toBe(true)
      expect((await getVersion(server(), version.id)).job.status).toBe("succeeded")
    })

    once("do not exist for daemons of other organizations, as other files do not", async () => {
      const { job_id, version } = await anImport()
      await complete(job_id, { module_files: new Uint8Array([5, 6]) })
      await ended(server(), version.job)
      const file = (await given(await aTemplate(version.id))) ?? ""
      await server().call("POST", "/organizations", { token: owner(), body: { name: "other" } })
      const other = await aDaemon(server().url, { [keyHeader]: await aKey(server(), "near", {}, "other") }, "&name=two", "other")
      const answers = await Promise.all([
        download(other, file),
        download(daemon, file, "UNKNOWN"),
        download(daemon, version.id),
        download(daemon, "main.tf")
      ])
      await other.close()
      expect(answers.map(reasonOf)).toStrictEqual(answers.map(() => "There is no such file."))
      expect(
        Chunk.toReadonlyArray(
          await Effect.runPromise(Stream.runCollect(daemon.calls.DownloadFile({ file_id: file, upload_type: "MODULE_FILES" })))
        )
      ).toHaveLength(2)
    })

    once("are purged with their deleted templates, or a day after an import without one, unless another version has the same", async () => {
      const [kept, gone, loose] = [new Uint8Array([7, 1]), new Uint8Array([7, 2]), new Uint8Array([7, 3])]
      const { job_id, version: without } = await anImport()
      expect(Either.isRight(await complete(job_id, { module_files: loose }))).toBe(true)
      const made = async (module_files: Uint8Array) => {
        const { job_id, version } = await anImport()
        expect(Either.isRight(await complete(job_id, { module_files }))).toBe(true)
        return { version: version.id, template: await aTemplate(version.id) }
      }
      const [living, shared, deleted] = [await made(kept), await made(kept), await made(gone)]
      for (const { template } of [shared, deleted]) {
        expect((await server().call("DELETE", `/templates/${template}`, { token: owner() })).status).toBe(200)
      }
      const stored = async (version: string) =>
        server().store(
          Effect.flatMap(SqlClient.SqlClient, (sql) =>
            Effect.map(
              sql`SELECT f.id FROM files f JOIN template_version_modules m ON m.file_id = f.id WHERE m.template_version_id = ${version}`,
              ({ length }) => length
            )
          )
        )
      const archives = (content: Uint8Array) =>
        Effect.flatMap(SqlClient.SqlClient, (sql) =>
          Effect.map(sql`SELECT file_id FROM file_chunks WHERE data = ${content}`, ({ length }) => length)
        )
      const purge = () => server().run(Effect.flatMap(Files, ({ purge }) => purge.run))
      await purge()
      // They are a day old at least when they go
      expect([await server().store(archives(kept)), await server().store(archives(gone)), await stored(without.id)]).toStrictEqual([
        1, 1, 1
      ])
      server().advance("25 hours")
      await purge()
      const left = [await server().store(archives(kept)), await server().store(archives(gone)), await server().store(archives(loose))]
      expect(left).toStrictEqual([1, 0, 0])
      expect([await stored(living.version), await stored(deleted.version)]).toStrictEqual([1, 0])
    })
  },
  {
    entitlements: { has: (feature) => feature === "external_provisioner_daemons" || feature === "multiple_organizations" }
  }
)
