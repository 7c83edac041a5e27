/** What a host gives to core, without a machine: each computes at once and follows from a seed. */
import { PasswordHasher, SecretsYaml, SshKeyGenerator } from "@atelier/core/identity"
import { Mailer } from "@atelier/core/notifications"
import { Cryptography, Encryption, Invalid } from "@atelier/core/platform"
import { Archives } from "@atelier/core/provisioning"
import { Context, Effect, Either, Redacted, Stream } from "effect"
import { createHash, pbkdf2Sync } from "node:crypto"
import type { Chance } from "./Chance.js"

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** A message that was handed to the mail server. */
export interface SentMail {
  readonly id: string
  readonly to: string
  readonly subject: string
}

/** Archives are JSON here: an object of texts by path. */
const archives = Archives.of({
  tarFromZip: () => new Invalid({ message: "no zip" }),
  zipFromTar: () => Stream.fail(new Invalid({ message: "no zip" })),
  checkTar: () => Effect.void,
  tarOf: (files) => Effect.sync(() => encoder.encode(JSON.stringify(files))),
  outline: (tar) =>
    Effect.try({
      try: () => {
        const files = JSON.parse(decoder.decode(tar)) as Readonly<Record<string, string>>
        return { paths: Object.keys(files), text: (path: string) => files[path] }
      },
      catch: () => new Invalid({ message: "no archive" })
    })
})

const cryptographyOf = (chance: Chance) =>
  Cryptography.of({
    randomBytes: (length) => Effect.sync(() => chance.bytes(length)),
    sha256: (data) => Effect.sync(() => new Uint8Array(createHash("sha256").update(data).digest())),
    pbkdf2Sha256: ({ iterations, length, password, salt }) =>
      Effect.sync(() => new Uint8Array(pbkdf2Sync(password, salt, Math.min(iterations, 1), length, "sha256")))
  })

/** The ports of one process. */
export const portsOf = (chance: Chance, mails: Array<SentMail>) =>
  Context.empty().pipe(
    Context.add(Archives, archives),
    Context.add(Cryptography, cryptographyOf(chance)),
    Context.add(
      Encryption,
      Encryption.of({
        keyId: "simulated",
        seal: (plaintext) => Effect.succeed({ key_id: "simulated", ciphertext: plaintext }),
        open: ({ ciphertext }) => Effect.succeed(ciphertext),
        has: (keyId) => Effect.succeed(keyId === "simulated")
      })
    ),
    Context.add(
      Mailer,
      Mailer.of({ isConfigured: true, send: ({ id, subject, to }) => Effect.sync(() => void mails.push({ id, to, subject })) })
    ),
    Context.add(
      PasswordHasher,
      PasswordHasher.of({
        hash: (password) => Effect.succeed(`plain:${Redacted.value(password)}`),
        verify: (password, stored) => Effect.succeed(stored === `plain:${Redacted.value(password)}`),
        isCurrent: () => true
      })
    ),
    Context.add(SecretsYaml, SecretsYaml.of({ read: () => Either.left("no YAML") })),
    Context.add(
      SshKeyGenerator,
      SshKeyGenerator.of({ generate: () => Effect.succeed({ public_key: "ssh-ed25519 AAAA\n", private_key: Redacted.make("key") }) })
    )
  )
