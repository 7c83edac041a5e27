import { Unauthenticated } from "@atelier/core/platform"
import { Effect, Option, Schema } from "effect"
import { createPublicKey, type KeyObject, verify } from "node:crypto"

const Document = Schema.parseJson(Schema.Struct({ instanceId: Schema.NonEmptyString }))

const refused = (detail: string) => new Unauthenticated({ message: "The identity of the instance cannot be verified.", detail })

const isOf = (key: KeyObject, document: Buffer, signature: Buffer): boolean => verify("RSA-SHA256", document, key, signature)

/** Verifies documents of instances with keys in Base64 (SubjectPublicKeyInfo). Any of them may have signed. */
export const awsVerifier = (publicKeys: ReadonlyArray<string>) => {
  const keys = publicKeys.map((key) => createPublicKey({ key: Buffer.from(key, "base64"), format: "der", type: "spki" }))
  return ({ document, signature }: { readonly document: string; readonly signature: string }): Effect.Effect<string, Unauthenticated> =>
    Effect.gen(function* () {
      const bytes = Buffer.from(document)
      const signed = Buffer.from(signature, "base64")
      if (!keys.some((key) => isOf(key, bytes, signed))) return yield* refused("The signature is not of Amazon.")
      const read = Schema.decodeOption(Document)(document)
      return Option.isNone(read) ? yield* refused("The document names no instance.") : read.value.instanceId
    })
}
