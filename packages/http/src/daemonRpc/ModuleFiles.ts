/** Archives of modules, which daemons send in pieces and get back the same way. templates-and-provisioning.md §8.4. */
import { FileTransfer, type Protobuf, type ProvisionerMessages, RpcError } from "@atelier/agent-protocol"
import { Uuid } from "@atelier/core/platform"
import type { RemoteDaemons } from "@atelier/core/provisioning"
import { Effect, Encoding, Option, Stream } from "effect"

type Connection = Effect.Effect.Success<ReturnType<RemoteDaemons["Type"]["connect"]>>
type FileUpload = Protobuf.TypeOf<typeof ProvisionerMessages.FileUpload>
type FileRequest = Protobuf.TypeOf<typeof ProvisionerMessages.FileRequest>
type Import = ProvisionerMessages.CompletedTemplateImport

/** What a daemon asks for that it may not have, and what does not exist, look the same. */
const noFile = FileTransfer.refusal("There is no such file.")

/** Bytes of an archive: files of 20 MiB, and what a tar adds to many small ones. */
const maximumSize = 32 * 1024 * 1024

const refused = (message: string) => new RpcError({ code: 0, message })

/** The archives of one connection, which keeps at most `maximum` of them in mind. `imports` counts the imports that it works on. */
export const make = ({ modules, storeModules }: Pick<Connection, "modules" | "storeModules">, imports: () => number, maximum: number) =>
  Effect.gen(function* () {
    /** Archives that were received for the imports of now, by the hexadecimal form of their hash. Imports of the same modules share one. */
    const received = new Map<string, Uuid.Uuid>()
    // Each holds a whole archive in memory
    const turn = yield* Effect.makeSemaphore(1)

    return {
      /** A job has ended. What was sent for imports is forgotten with the last of them, and purged in the end if none has used it. */
      ended: Effect.sync(() => {
        if (imports() === 0) received.clear()
      }),

      receive: (sent: Stream.Stream<FileUpload, RpcError>): Effect.Effect<object, RpcError> =>
        Effect.gen(function* () {
          if (imports() === 0) return yield* refused("A daemon sends archives of modules for the imports that it works on.")
          if (received.size >= maximum) return yield* refused(`A daemon sends at most ${maximum} archives of modules for its imports.`)
          const { content, hash } = yield* FileTransfer.receive(sent, maximumSize)
          received.set(Encoding.encodeHex(hash), yield* storeModules(content))
          return {}
        }).pipe(
          turn.withPermits(1),
          Effect.catchTag("FileRefused", ({ message }) => refused(`The file is refused: ${message}.`))
        ),

      send: ({ file_id, upload_type }: FileRequest) =>
        Stream.unwrap(
          Effect.gen(function* () {
            const id = Uuid.parse(file_id)
            const found = id === undefined || upload_type !== "MODULE_FILES" ? Option.none() : yield* modules(id)
            if (Option.isNone(found)) return Stream.make(noFile)
            const { content, hash, size } = found.value
            const bytes = Option.getOrThrow(Option.getRight(Encoding.decodeHex(hash)))
            return FileTransfer.messages({ size, hash: bytes, content })
          })
        ),

      /** The stored archive of a completed import: sent with its result, or before. */
      of: ({ module_files, module_files_hash }: Import): Effect.Effect<Option.Option<Uuid.Uuid>, RpcError> =>
        Effect.gen(function* () {
          const hash = Encoding.encodeHex(module_files_hash)
          if (module_files.length > 0) {
            const isRight = hash === "" || hash === Encoding.encodeHex(yield* FileTransfer.sha256(module_files))
            return isRight ? Option.some(yield* storeModules(module_files)) : yield* refused("The archive of modules has another hash.")
          }
          if (hash === "") return Option.none()
          const earlier = received.get(hash)
          return earlier === undefined ? yield* refused("The archive of modules with this hash has not been sent.") : Option.some(earlier)
        })
    }
  })
