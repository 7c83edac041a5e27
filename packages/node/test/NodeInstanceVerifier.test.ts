import { InstanceVerifier } from "@atelier/core/agents"
import { Effect, Either } from "effect"
import { exportJWK, generateKeyPair, SignJWT } from "jose"
import { expect, it } from "vitest"
import { aCertificate, anAwsKey, type Authority, aSignedMessage } from "../../../test/outside/clouds.js"
import { awsPublicKeys } from "../src/instanceIdentity/awsPublicKeys.js"
import { type InstanceAuthorities, layer } from "../src/NodeInstanceVerifier.js"

type Verifier = InstanceVerifier["Type"]

/** The instance's id, or the name of the error. */
const outcome = (authorities: InstanceAuthorities, ask: (verifier: Verifier) => ReturnType<Verifier["aws"]>): Promise<string> =>
  Effect.runPromise(
    Effect.map(Effect.either(Effect.provide(Effect.flatMap(InstanceVerifier, ask), layer(authorities))), (answer) =>
      Either.isLeft(answer) ? answer.left._tag : answer.right
    )
  )

it("has Amazon's own keys unless others are given", async () => {
  expect(Object.keys(awsPublicKeys)).toHaveLength(14)
  expect(await outcome({}, ({ aws }) => aws({ document: "{}", signature: "AAAA" }))).toBe("Unauthenticated")
})

it("verifies documents of Amazon with any of its keys", async () => {
  const [one, other, foreign] = [anAwsKey(), anAwsKey(), anAwsKey()]
  const authorities = { awsPublicKeys: [one.publicKey, other.publicKey] }
  const document = '{"instanceId":"i-1"}'
  const ask = (text: string, signature: string) => outcome(authorities, ({ aws }) => aws({ document: text, signature }))
  expect(await ask(document, other.sign(document).replace(/(.{40})/g, "$1\n"))).toBe("i-1")
  expect(await ask(document.replace("i-1", "i-2"), other.sign(document))).toBe("Unauthenticated")
  expect(await ask(document, foreign.sign(document))).toBe("Unauthenticated")
  for (const unnamed of ["{}", "no JSON", '{"instanceId":1}']) expect(await ask(unnamed, one.sign(unnamed))).toBe("Unauthenticated")
})

it("verifies tokens of Google with its keys while they last", async () => {
  const { privateKey, publicKey } = await generateKeyPair("RS256")
  const foreign = await generateKeyPair("RS256")
  const authorities = { googleKeys: { keys: [{ ...(await exportJWK(publicKey)), kid: "a", alg: "RS256" }] } }
  const token = (claims: Record<string, unknown>, exp: number | undefined, key = privateKey, alg = "RS256") => {
    const unsigned = new SignJWT(claims).setProtectedHeader({ alg, kid: "a" })
    return (exp === undefined ? unsigned : unsigned.setExpirationTime(exp)).sign(key)
  }
  const ask = async (json_web_token: Promise<string>) => {
    const proof = { json_web_token: await json_web_token }
    return outcome(authorities, ({ google }) => google(proof))
  }
  const now = Math.floor(Date.now() / 1000)
  const claims = { google: { compute_engine: { instance_id: "7" } } }
  expect(await ask(token(claims, now + 60))).toBe("7")
  expect(await ask(token(claims, now - 60))).toBe("Unauthenticated")
  expect(await ask(token(claims, undefined))).toBe("Unauthenticated")
  expect(await ask(token(claims, now + 60, foreign.privateKey))).toBe("Unauthenticated")
  expect(await ask(token({ google: { compute_engine: { instance_id: 7 } } }, now + 60))).toBe("Invalid")
  expect(await ask(Promise.resolve("a.b.c"))).toBe("Unauthenticated")
})

/** A root, an authority below it, and the certificate of a machine that signs. */
const anAzure = async (name = "eastus.metadata.azure.com", issuersAt?: string) => {
  const root = await aCertificate("root", undefined, { isAuthority: true })
  const middle = await aCertificate("middle", root, { isAuthority: true })
  const signer = await aCertificate(name, middle, issuersAt === undefined ? {} : { issuersAt })
  return { root, middle, signer }
}

const pem = ({ certificate }: Authority): string => certificate.toString("pem")

const content = '{"vmId":"vm-1"}'

it("verifies messages of Azure whose certificate leads to a root", async () => {
  const { middle, root, signer } = await anAzure()
  const ask = (signature: string, changes: InstanceAuthorities = {}) =>
    outcome({ azureRoots: [pem(root)], azureIntermediates: [pem(middle)], ...changes }, ({ azure }) => azure({ signature }))
  expect(await ask(aSignedMessage(content, signer))).toBe("vm-1")
  expect(await ask(aSignedMessage(content, signer, { hasAttributes: false }))).toBe("vm-1")
  expect(await ask(aSignedMessage(content, signer, { certificates: [middle, signer] }), { azureIntermediates: [] })).toBe("vm-1")

  const wrong: ReadonlyArray<string> = [
    aSignedMessage(content, signer, { signed: "{}" }),
    aSignedMessage(content, signer, { signed: "{}", hasAttributes: false }),
    aSignedMessage(content, signer, { signers: 2 }),
    aSignedMessage(content, signer, { signers: 0 }),
    aSignedMessage(content, signer, { certificates: [middle] }),
    aSignedMessage("{}", signer),
    "",
    "AAAA",
    "A".repeat(70_000)
  ]
  for (const message of wrong) expect(await ask(message)).toBe("Unauthenticated")
  expect(await ask(aSignedMessage(content, signer), { azureRoots: [] })).toBe("Unauthenticated")
  const foreign = await anAzure()
  expect(await ask(aSignedMessage(content, foreign.signer, { certificates: [foreign.middle, foreign.signer] }))).toBe("Unauthenticated")
})

it("refuses certificates of Azure that are not valid", async () => {
  const root = await aCertificate("root", undefined, { isAuthority: true })
  const ask = (signer: Authority, ...between: ReadonlyArray<Authority>) =>
    outcome({ azureRoots: [pem(root)] }, ({ azure }) =>
      azure({ signature: aSignedMessage(content, signer, { certificates: [signer, ...between] }) })
    )
  expect(await ask(await aCertificate("metadata.azure.us", root))).toBe("vm-1")
  for (const name of ["evil.com", "xmetadata.azure.com", "metadata.azure.com.evil.com"]) {
    expect([name, await ask(await aCertificate(name, root))]).toStrictEqual([name, "Unauthenticated"])
  }
  const past = new Date(Date.now() - 1000)
  expect(await ask(await aCertificate("metadata.azure.com", root, { notAfter: past }))).toBe("Unauthenticated")
  const noAuthority = await aCertificate("leaf", root)
  expect(await ask(await aCertificate("metadata.azure.com", noAuthority), noAuthority)).toBe("Unauthenticated")
})

it("reads the issuer of Azure's certificate from known hosts only", async () => {
  const asked: Array<string> = []
  const ask = async (issuersAt: string) => {
    const { middle, root, signer } = await anAzure("metadata.azure.com", issuersAt)
    const authorities: InstanceAuthorities = {
      azureRoots: [pem(root)],
      fetchIssuer: (url) => {
        asked.push(url.href)
        return Promise.resolve(Buffer.from(middle.certificate.rawData))
      }
    }
    return outcome(authorities, ({ azure }) => azure({ signature: aSignedMessage(content, signer) }))
  }
  expect(await ask("http://www.microsoft.com/pkiops/certs/x.crt")).toBe("vm-1")
  const elsewhere = [
    "http://169.254.169.254/x",
    "http://www.microsoft.com:8080/x",
    "ftp://www.microsoft.com/x",
    "http://microsoft.com.evil.com/"
  ]
  for (const address of elsewhere) expect(await ask(address)).toBe("Unauthenticated")
  expect(asked).toStrictEqual(["http://www.microsoft.com/pkiops/certs/x.crt"])
})
