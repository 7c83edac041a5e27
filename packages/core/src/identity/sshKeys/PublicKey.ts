/** Public keys as users write them into an `authorized_keys` file. RFC 4253 §6.6. */
import { Either, Encoding } from "effect"

export interface PublicKey {
  readonly type: string
  /** The key as SSH sends it, with its type. */
  readonly blob: Uint8Array
  readonly comment: string
}

/** Bits of an RSA key below which it counts as broken. */
const minimumRsaBits = 2048

/** Bytes of the fields behind the type, by the type. An RSA key has no fixed size. */
const fieldSizes: Readonly<Record<string, ReadonlyArray<number> | undefined>> = {
  "ssh-ed25519": [32],
  "ecdsa-sha2-nistp256": [8, 65],
  "ecdsa-sha2-nistp384": [8, 97],
  "ecdsa-sha2-nistp521": [8, 133]
}

const rsa = "ssh-rsa"

/** The fields of a key, each after its length; undefined where bytes are missing or left. */
const fieldsOf = (blob: Uint8Array): ReadonlyArray<Uint8Array> | undefined => {
  const view = new DataView(blob.buffer, blob.byteOffset, blob.byteLength)
  const fields: Array<Uint8Array> = []
  let at = 0
  while (at + 4 <= blob.length) {
    const size = view.getUint32(at)
    fields.push(blob.subarray(at + 4, at + 4 + size))
    at += 4 + size
  }
  return at === blob.length ? fields : undefined
}

/** The bits of a positive number. */
const bitsOf = (number: Uint8Array): number => {
  const first = number.findIndex((byte) => byte !== 0)
  return first < 0 ? 0 : (number.length - first) * 8 - Math.clz32(number[first] ?? 0) + 24
}

const isSound = (type: string, [name, ...fields]: ReadonlyArray<Uint8Array>): boolean => {
  if (name === undefined || new TextDecoder().decode(name) !== type) return false
  if (type === rsa) return fields.length === 2
  const sizes = fieldSizes[type]
  return sizes?.length === fields.length && fields.every(({ length }, index) => length === sizes[index])
}

/** Reads one line of an `authorized_keys` file without options; the reason completes "public_key …". */
export const readPublicKey = (text: string): Either.Either<PublicKey, string> => {
  const [type = "", base64 = "", ...comment] = text.trim().split(/[ \t]+/)
  if (text.trim().includes("\n")) return Either.left("must be one line")
  if (type !== rsa && fieldSizes[type] === undefined)
    return Either.left("must be an Ed25519, ECDSA or RSA key in the form of an authorized_keys file, without options")
  const blob = Either.getOrUndefined(Encoding.decodeBase64(base64))
  const fields = blob === undefined ? undefined : fieldsOf(blob)
  if (blob === undefined || fields === undefined || !isSound(type, fields)) return Either.left("is not complete")
  if (type === rsa && bitsOf(fields[2] ?? new Uint8Array()) < minimumRsaBits)
    return Either.left(`must have at least ${minimumRsaBits} bits`)
  return Either.right({ type, blob, comment: comment.join(" ") })
}
