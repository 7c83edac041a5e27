import { SqlClient } from "@effect/sql"
import { agentActor, CurrentActor, prebuildsUserId, sessionActor } from "@atelier/core/access"
import {
  GitSshKey,
  GitSshKeyRepository,
  GitSshKeyPairs,
  GitSshKeys,
  SshKeyGenerator,
  type UserId,
  UserRepository
} from "@atelier/core/identity"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { NodeSshKeyGenerator } from "@atelier/node"
import { layer } from "@effect/vitest"
import { Deferred, Effect, Either, Fiber, Layer, Redacted } from "effect"
import { execFileSync, spawnSync } from "node:child_process"
import { createPrivateKey, createPublicKey } from "node:crypto"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import sshpk from "sshpk"
import { expect, it } from "vitest"
import { auditEntries } from "../../../../../test/http/audit.js"
import { aUser } from "../../../../../test/records/builders.js"
import { describeInterface, describeServerOnEach, type Person, type TestServer } from "../../../../../test/http/server.js"
import { poisoned } from "../../../../../test/store/poison.js"

const isSshInstalled = spawnSync("ssh-keygen", ["-?"]).error === undefined

/** What OpenSSH makes of a private key. */
const publicKeyByOpenSsh = async (privateKey: string): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), "atelier-ssh-"))
  try {
    const file = join(directory, "key")
    await writeFile(file, privateKey, { mode: 0o600 })
    return execFileSync("ssh-keygen", ["-y", "-P", "", "-f", file], { encoding: "utf8" })
  } finally {
    await rm(directory, { recursive: true })
  }
}

layer(NodeSshKeyGenerator.layer)("an SSH key pair", (it) => {
  it.effect.each([
    ["ed25519", /^ssh-ed25519 [A-Za-z0-9+/=]+\n$/, "-----BEGIN OPENSSH PRIVATE KEY-----"],
    ["ecdsa", /^ecdsa-sha2-nistp256 [A-Za-z0-9+/=]+\n$/, "-----BEGIN EC PRIVATE KEY-----"],
    ["rsa4096", /^ssh-rsa [A-Za-z0-9+/=]+\n$/, "-----BEGIN RSA PRIVATE KEY-----"]
  ] as const)("of %s belongs together, has the form git and OpenSSH read, and leaves time for the rest", ([algorithm, line, begin]) =>
    Effect.gen(function* () {
      const generator = yield* SshKeyGenerator
      let turns = 0
      const timer = setInterval(() => turns++, 1)
      const { private_key, public_key } = yield* Effect.ensuring(
        generator.generate(algorithm),
        Effect.sync(() => clearInterval(timer))
      )
      if (algorithm === "rsa4096") expect(turns).toBeGreaterThan(2)
      expect(public_key).toMatch(line)
      const pem = Redacted.value(private_key)
      expect(pem.startsWith(begin)).toBe(true)
      const pair = sshpk.parsePrivateKey(pem, "auto")
      expect(pair.toPublic().fingerprint("sha256").toString()).toBe(sshpk.parseKey(public_key, "ssh").fingerprint("sha256").toString())
      expect(pair.size).toBe({ ed25519: 256, ecdsa: 256, rsa4096: 4096 }[algorithm])
      if (algorithm !== "ed25519")
        expect(createPublicKey(createPrivateKey(pem)).asymmetricKeyType).toBe(algorithm === "ecdsa" ? "ec" : "rsa")
      if (!isSshInstalled) return
      const [type, key] = (yield* Effect.promise(() => publicKeyByOpenSsh(pem))).trimEnd().split(" ")
      expect(`${type} ${key}\n`).toBe(public_key)
    })
  )
})

/** What the agents of a user are given. */
const givenTo = (server: TestServer, userId: UserId) =>
  server.run(
    Effect.flatMap(GitSshKeys, (keys) =>
      Effect.provideService(
        Effect.either(keys.ofAgent()),
        CurrentActor,
        agentActor({
          agentId: userId,
          workspaceId: userId,
          templateId: userId,
          templateVersionId: userId,
          apiKeyScope: "all",
          owner: { userId, siteRoles: [], memberships: [] }
        })
      )
    )
  )

const rowOf = (userId: UserId) =>
  Effect.gen(function* () {
    const sql = yield* Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))
    return yield* sql`SELECT private_key, sealed_key_id, sealed_key FROM git_ssh_keys WHERE user_id = ${userId}`
  })

describeServerOnEach("a user's SSH key pair", (server, once) => {
  once("is there from the user's creation on, and given to the user's agents alone", async () => {
    const { user } = server().owner()
    const owner = { userId: user.id, siteRoles: ["owner"], memberships: [] }
    const ids = { agentId: user.id, workspaceId: user.id, templateId: user.id, templateVersionId: user.id }
    const as = (actor: CurrentActor["Type"]) =>
      server().run(Effect.flatMap(GitSshKeys, (keys) => Effect.either(Effect.provideService(keys.ofAgent(), CurrentActor, actor))))
    const given = await as(agentActor({ ...ids, owner, apiKeyScope: "all" }))
    const stored = await server().run(Effect.flatMap(GitSshKeyRepository, ({ ofUser }) => Effect.flatten(ofUser(user.id))))
    expect(given).toMatchObject({ _tag: "Right", right: { public_key: stored.public_key } })
    expect(stored).not.toHaveProperty("private_key")
    expect(JSON.stringify(given)).not.toContain("PRIVATE KEY")

    expect(await as(agentActor({ ...ids, owner, apiKeyScope: "no_user_data" }))).toMatchObject({
      _tag: "Left",
      left: { _tag: "Forbidden" }
    })
    expect(await as(sessionActor(owner))).toMatchObject({ _tag: "Left", left: { _tag: "Forbidden" } })
  })

  once("is shown without its private half", async () => {
    const { token } = server().owner()
    const own = await server().call("GET", "/users/me/gitsshkey", { token })
    expect(own.status).toBe(200)
    expect(own.as(GitSshKey).public_key).toMatch(/^ssh-ed25519 [A-Za-z0-9+/=]+\n$/)
    expect(Object.keys(own.as(GitSshKey)).toSorted()).toStrictEqual(["created_at", "public_key", "updated_at", "user_id"])

    const [member, auditor, admin] = [
      await server().aMember(),
      await server().aMember({ rbac_roles: ["auditor"] }),
      await server().aMember({ rbac_roles: ["user-admin"] })
    ]
    const path = `/users/${server().owner().user.id}/gitsshkey`
    const statusOf = async (method: "GET" | "PUT", token?: string) =>
      (await server().call(method, path, token === undefined ? {} : { token })).status
    for (const method of ["GET", "PUT"] as const) {
      expect([await statusOf(method), await statusOf(method, member.token), await statusOf(method, auditor.token)]).toStrictEqual([
        401, 404, 404
      ])
    }
    expect(await statusOf("GET", admin.token)).toBe(200)
    const refused = await server().run(auditEntries({ resource_type: "git_ssh_key", user_id: auditor.user.id }))
    expect(refused).toMatchObject([
      { action: "write", status_code: 404, diff: {}, resource_target: own.as(GitSshKey).public_key.trimEnd() }
    ])
    expect((await server().call("GET", "/users/me/gitsshkey", { token: member.token })).status).toBe(404)
  })

  once("is replaced as a whole, which the audit log shows without the private half", async () => {
    const { token, user } = await server().aMember()
    const replace = async () => (await server().call("PUT", "/users/me/gitsshkey", { token })).as(GitSshKey)
    const first = await replace()
    server().advance("1 minute")
    const second = await replace()
    expect(second.created_at).toBe(first.created_at)
    expect(second.updated_at > first.updated_at).toBe(true)
    expect(second.public_key).not.toBe(first.public_key)
    expect((await server().call("GET", "/users/me/gitsshkey", { token })).body).toStrictEqual({ ...second })

    const entries = await server().run(auditEntries({ resource_id: user.id, resource_type: "git_ssh_key" }))
    expect(entries).toMatchObject([
      { action: "write", status_code: 200, resource_target: first.public_key.trimEnd() },
      {
        action: "write",
        status_code: 200,
        resource_target: second.public_key.trimEnd(),
        diff: {
          public_key: { old: first.public_key, new: second.public_key, secret: false },
          private_key: { old: "", new: "", secret: true }
        }
      }
    ])
    expect(JSON.stringify(entries)).not.toContain("PRIVATE KEY")
  })

  it("belongs together after replacements that race", async () => {
    const { token, user } = await server().aMember()
    const answers = await Promise.all(Array.from({ length: 4 }, () => server().call("PUT", "/users/me/gitsshkey", { token })))
    expect(answers.map(({ status }) => status)).toStrictEqual([200, 200, 200, 200])
    const { private_key, public_key } = Either.getOrThrow(await givenTo(server(), user.id))
    const fingerprint = (key: sshpk.Key) => key.fingerprint("sha256").toString()
    expect(fingerprint(sshpk.parsePrivateKey(Redacted.value(private_key), "auto").toPublic())).toBe(
      fingerprint(sshpk.parseKey(public_key, "ssh"))
    )
    const { body } = await server().call("GET", "/users/me/gitsshkey", { token })
    expect(body).toMatchObject({ public_key })
  })

  once("is generated one at a time per caller, so that others need not wait", async () => {
    const [busy, other] = [await server().aMember(), await server().aMember()]
    let asked = 0
    const program = Effect.gen(function* () {
      const [began, gate] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const generator = Layer.succeed(SshKeyGenerator, {
        generate: () =>
          Effect.suspend(() => {
            if (++asked === 2) Deferred.unsafeDone(began, Effect.void)
            return Effect.as(Deferred.await(gate), { public_key: "ssh-ed25519 AAAA\n", private_key: Redacted.make("a private key") })
          })
      })
      const regenerate = ({ user }: Person) =>
        Effect.flatMap(GitSshKeys, (keys) => keys.regenerate("me")).pipe(
          Effect.provideService(CurrentActor, sessionActor({ userId: user.id, siteRoles: [], memberships: [] })),
          Effect.fork
        )
      yield* Effect.gen(function* () {
        const fibers = yield* Effect.all([...Array.from({ length: 5 }, () => regenerate(busy)), regenerate(other)])
        yield* Deferred.await(began)
        // The rest have time to ask too
        yield* Effect.repeatN(
          Effect.promise(() => new Promise(setImmediate)),
          300
        )
        const askedAtOnce = asked
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.joinAll(fibers)
        expect([askedAtOnce, asked]).toStrictEqual([2, 6])
      }).pipe(Effect.provide(GitSshKeys.layer.pipe(Layer.provide(GitSshKeyPairs.layer), Layer.provide(generator), Layer.fresh)))
    })
    await server().run(program)
  })

  once("is stored encrypted, and useless in another user's row", async () => {
    const [person, thief] = [await server().aMember(), await server().aMember()]
    for (const { token } of [person, thief]) await server().call("PUT", "/users/me/gitsshkey", { token })
    const [row] = await server().run(rowOf(person.user.id))
    expect(row).toMatchObject({ private_key: "", sealed_key_id: expect.stringMatching(/^[0-9a-f]{16}$/) })
    const { sealed_key } = row ?? {}
    expect(sealed_key).toBeInstanceOf(Uint8Array)
    expect(Buffer.from(sealed_key instanceof Uint8Array ? sealed_key : []).toString("latin1")).not.toContain("PRIVATE KEY")
    await server().run(
      Effect.gen(function* () {
        const sql = yield* Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))
        yield* sql`UPDATE git_ssh_keys SET sealed_key = (SELECT k.sealed_key FROM git_ssh_keys k WHERE k.user_id = ${person.user.id})
          WHERE user_id = ${thief.user.id}`
      })
    )
    expect(await givenTo(server(), thief.user.id)).toMatchObject({ _tag: "Left", left: { _tag: "NotFound" } })
  })

  once("of before keys were encrypted is given to agents, and encrypted by the worker", async () => {
    const { user } = await server().aMember()
    const plain = { public_key: "ssh-ed25519 AAAA\n", private_key: "a private key" }
    await server().run(
      Effect.gen(function* () {
        const sql = yield* Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))
        const now = yield* Timestamp.now
        yield* sql`INSERT INTO git_ssh_keys ${sql.insert({ user_id: user.id, created_at: now, updated_at: now, ...plain })}`
      })
    )
    const given = async () => {
      const { private_key, public_key } = Either.getOrThrow(await givenTo(server(), user.id))
      return { public_key, private_key: Redacted.value(private_key) }
    }
    expect(await given()).toStrictEqual(plain)
    await server().run(Effect.flatMap(GitSshKeyPairs, ({ sealing }) => Effect.all([sealing.run, sealing.run], { concurrency: 2 })))
    expect(await server().run(rowOf(user.id))).toMatchObject([{ private_key: "", sealed_key_id: expect.stringMatching(/./) }])
    expect(await given()).toStrictEqual(plain)
  })

  once("of before keys were encrypted is encrypted beside one that cannot be written", async () => {
    const people = await Promise.all([server().aMember(), server().aMember(), server().aMember()])
    const ids = people.map(({ user }) => user.id).toSorted()
    const isPlain = await server().run(
      Effect.gen(function* () {
        const sql = yield* Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))
        const { sealing } = yield* GitSshKeyPairs
        const now = yield* Timestamp.now
        const plain = { public_key: "ssh-ed25519 AAAA\n", private_key: "a private key", created_at: now, updated_at: now }
        for (const user_id of ids) yield* sql`INSERT INTO git_ssh_keys ${sql.insert({ ...plain, user_id })}`
        yield* poisoned("git_ssh_keys", "user_id", ids[1] ?? "").pipe(
          Effect.zipRight(Effect.exit(sealing.run)),
          Effect.scoped,
          Effect.provideService(SqlClient.SqlClient, sql)
        )
        const rows = yield* Effect.forEach(ids, (id) => rowOf(id))
        yield* sealing.run
        return rows.map(([row]) => row?.["private_key"] !== "")
      })
    )
    expect(isPlain).toStrictEqual([false, true, false])
    expect(await server().run(rowOf(ids[1] ?? Uuid.nil))).toMatchObject([{ private_key: "" }])
  })

  once("is not made for deleted users and the service's own", async () => {
    const { token } = server().owner()
    const [deleted, system] = await server().run(
      Effect.gen(function* () {
        const users = yield* UserRepository
        const gone = yield* aUser({ deleted: true })
        yield* users.insert(gone, null)
        return [gone, yield* Effect.flatten(users.byId(Uuid.Uuid.make(prebuildsUserId)))] as const
      })
    )
    expect((await server().call("PUT", `/users/${deleted.id}/gitsshkey`, { token })).status).toBe(404)
    expect((await server().call("PUT", `/users/${system.id}/gitsshkey`, { token })).status).toBe(403)
    for (const { id } of [deleted, system]) expect(await server().run(rowOf(id))).toStrictEqual([])
  })
})

describeInterface(
  "a deployment that makes ECDSA keys",
  (server) => {
    it("replaces a user's key by one", async () => {
      const { token } = server().owner()
      const { public_key } = (await server().call("PUT", "/users/me/gitsshkey", { token })).as(GitSshKey)
      expect(public_key).toMatch(/^ecdsa-sha2-nistp256 /)
    })
  },
  { options: { sshKeygenAlgorithm: "ecdsa" } }
)
