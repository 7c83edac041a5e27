import { listPredicate, sessionActor } from "@atelier/core/access"
import {
  AccountRepository,
  ApiKeyRepository,
  DormancyRepository,
  defaultPreferences,
  GitSshKeyRepository,
  LinkTokens,
  PasswordHasher,
  SessionRepository,
  Sessions,
  unchosenAppearance,
  UserRepository,
  UserSettingsRepository
} from "@atelier/core/identity"
import { Timestamp } from "@atelier/core/platform"
import { NodeEncryption } from "@atelier/node"
import { expect, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { databases } from "../../../../test/store/databases.js"
import { runtime } from "../../../../test/store/services.js"
import { planOf, statementsOf } from "../../../../test/store/statements.js"
import { aSession } from "./sessions/aSession.js"

for (const [name, database] of databases) {
  const services = Sessions.layer.pipe(
    Layer.provide(LinkTokens.layer),
    Layer.provide(Layer.merge(PasswordHasher.layerPbkdf2(100), NodeEncryption.layer())),
    Layer.provideMerge(Layer.merge(database, runtime))
  )
  layer(services)(`what identity asks of ${name}`, (it) => {
    it.effect("is one statement for a request whose key was used within the hour", () =>
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const { key, organization, user } = yield* aSession
        const { statements, value: actor } = yield* statementsOf(sessions.authenticate(key, { ip: "192.0.2.1" }))
        expect(statements).toHaveLength(1)
        expect([actor.userId, actor.username, [...actor.subject.organizations.keys()]]).toStrictEqual([
          user.id,
          user.username,
          [organization.id]
        ])
        const again = yield* sessions.authenticate(key, { ip: "192.0.2.1" })
        expect(again.subject).toBe(actor.subject)
      })
    )

    it.effect("reads no whole table", () =>
      Effect.gen(function* () {
        const users = yield* UserRepository
        const accounts = yield* AccountRepository
        const settings = yield* UserSettingsRepository
        const keys = yield* ApiKeyRepository
        const sshKeys = yield* GitSshKeyRepository
        const sealed = { key_id: "k", ciphertext: new Uint8Array([1]) }
        const { id, user } = yield* aSession
        const { subject } = sessionActor({ userId: user.id, siteRoles: [], memberships: [] })
        const now = yield* Timestamp.now
        const { statements } = yield* statementsOf(
          Effect.all([
            (yield* SessionRepository).byKeyId(id),
            users.byId(user.id),
            users.byUsername(user.username),
            users.byEmail(user.email),
            (yield* DormancyRepository).wake(user.id, now),
            sshKeys.pairOf(user.id),
            sshKeys.ofUser(user.id),
            sshKeys.store({ user_id: user.id, created_at: now, updated_at: now, public_key: "" }, sealed),
            sshKeys.plain(user.id, 10),
            sshKeys.seal({ user_id: user.id, private_key: Redacted.make("") }, sealed),
            sshKeys.sealedOtherwise("k", user.id, 10),
            sshKeys.reseal(user.id, sealed, sealed),
            accounts.lock([user.id]),
            accounts.hashedPassword(user.id),
            accounts.updateProfile(user),
            accounts.updateRoles(user),
            accounts.updateQuietHours(user),
            accounts.organizationRoles(user.id),
            accounts.updatePassword(user.id, "", now),
            settings.appearance(user.id),
            settings.updateAppearance(user.id, unchosenAppearance, now),
            settings.preferences(user.id),
            settings.updatePreferences(user.id, defaultPreferences),
            keys.byId(id),
            keys.byName(user.id, "ci"),
            keys.tokens({
              userId: user.id,
              unexpiredAt: now,
              readable: listPredicate(subject, "read", "api_key"),
              usersReadable: listPredicate(subject, "read", "user")
            }),
            keys.deleteExpired(Timestamp.minus(now, "1 hour"), 10),
            keys.deleteWithScope(user.id, "coder:application_connect"),
            keys.delete("nosuchkey0")
          ])
        )
        const plans = yield* Effect.forEach(statements, (statement) =>
          Effect.map(planOf(statement), (plan) => ({ statement: statement.text, plan }))
        )
        // Its index holds nothing but what is asked for
        const scans = plans.filter(({ plan }) =>
          /\bSCAN (?!json_each|git_ssh_keys USING INDEX git_ssh_keys_plain|\(subquery|CONSTANT)|Seq Scan/.test(plan)
        )
        expect(scans).toStrictEqual([])
      })
    )
  })
}
