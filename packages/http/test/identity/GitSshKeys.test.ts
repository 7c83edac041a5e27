import { agentActor, CurrentActor, sessionActor } from "@atelier/core/access"
import { GitSshKeyRepository, GitSshKeys, SshKeyGenerator } from "@atelier/core/identity"
import { NodeSshKeyGenerator } from "@atelier/http/node"
import { layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { createPrivateKey, createPublicKey } from "node:crypto"
import sshpk from "sshpk"
import { expect, it } from "vitest"
import { describeServer } from "../../../../test/server.js"

layer(NodeSshKeyGenerator.layer)("an SSH key pair", (it) => {
  it.effect.each([
    ["ed25519", /^ssh-ed25519 [A-Za-z0-9+/=]+\n$/, "-----BEGIN OPENSSH PRIVATE KEY-----"],
    ["ecdsa", /^ecdsa-sha2-nistp256 [A-Za-z0-9+/=]+\n$/, "-----BEGIN EC PRIVATE KEY-----"],
    ["rsa4096", /^ssh-rsa [A-Za-z0-9+/=]+\n$/, "-----BEGIN RSA PRIVATE KEY-----"]
  ] as const)("of %s belongs together and has the form git reads", ([algorithm, line, begin]) =>
    Effect.gen(function* () {
      const generator = yield* SshKeyGenerator
      const { private_key, public_key } = yield* generator.generate(algorithm)
      expect(public_key).toMatch(line)
      const pem = Redacted.value(private_key)
      expect(pem.startsWith(begin)).toBe(true)
      const pair = sshpk.parsePrivateKey(pem, "auto")
      expect(pair.toPublic().fingerprint("sha256").toString()).toBe(sshpk.parseKey(public_key, "ssh").fingerprint("sha256").toString())
      expect(pair.size).toBe({ ed25519: 256, ecdsa: 256, rsa4096: 4096 }[algorithm])
      if (algorithm !== "ed25519")
        expect(createPublicKey(createPrivateKey(pem)).asymmetricKeyType).toBe(algorithm === "ecdsa" ? "ec" : "rsa")
    })
  )
})

describeServer("a user's SSH key pair", (server) => {
  it("is there from the user's creation on, and given to the user's agents alone", async () => {
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
})
