/** The addresses at which users reach the server. */
import { valueOf } from "@atelier/core/deployment"
import { isLoopbackHost, reasonOf } from "@atelier/core/platform"
import { randomBytes } from "node:crypto"
import { lookup } from "node:dns/promises"
import type { Options } from "../Options.js"
import { type Check, clockFinding, fault, type Finding, ok, warning } from "./Finding.js"

/** Milliseconds that an address may take to answer. */
const longestAnswer = 5_000

/** The innermost cause: `fetch` says no more than that it failed. */
const causeOf = (error: unknown): unknown => (error instanceof Error && error.cause !== undefined ? causeOf(error.cause) : error)

const codeOf = (error: unknown): string => (error instanceof Error && "code" in error ? String(error.code) : "")

const unreached = (url: string, error: unknown): Finding => {
  const cause = causeOf(error)
  const [code, text] = [codeOf(cause), `${url} does not answer: ${reasonOf(cause)}`]
  if (code === "ENOTFOUND" || code === "EAI_AGAIN")
    return fault(text, `add a DNS record of ${new URL(url).hostname}, or change --access-url`)
  if (/CERT|SSL|TLS|SELF_SIGNED/.test(code)) {
    return fault(text, "renew the certificate, serve its whole chain, or name a private authority in NODE_EXTRA_CA_CERTS")
  }
  return warning(text, "start the server; if it runs, check firewall and proxy between this machine and that address")
}

/** The answer of the health check below the access URL. */
const answered = async (url: string): Promise<ReadonlyArray<Finding>> => {
  const before = Date.now()
  const answer = await fetch(`${url}/healthz`, { redirect: "manual", signal: AbortSignal.timeout(longestAnswer) })
  const body = await answer.text()
  const date = Date.parse(answer.headers.get("date") ?? "")
  // The header has no fractions of a second
  const clock = Number.isNaN(date) ? [] : [clockFinding(new URL(url).host, date, before - 1_000, Date.now())]
  if (answer.status === 200 && body.trim() === "OK") return [ok(`${url} answers`), ...clock]
  return [
    fault(`${url}/healthz answers ${answer.status}`, "another server answers there: let the proxy pass all paths of this host to Atelier"),
    ...clock
  ]
}

export const addressFindings: Check = async ({ accessUrl, host, port }) => {
  if (accessUrl === "") {
    return isLoopbackHost(host)
      ? [ok(`none: the server listens on ${host}:${port}, for this machine alone`)]
      : [warning(`none, and the server listens on ${host}`, "name the address that users open with --access-url")]
  }
  const { hostname, protocol } = new URL(accessUrl)
  const isOpen = protocol === "http:" && !isLoopbackHost(hostname)
  const plain = isOpen ? [warning(`${accessUrl} is not encrypted`, "serve TLS, by a proxy or with --tls-enable")] : []
  return [...plain, ...(await answered(accessUrl).catch((error: unknown) => [unreached(accessUrl, error)]))]
}

const addressesOf = async (name: string): Promise<ReadonlyArray<string>> =>
  (await lookup(name, { all: true })).map(({ address }) => address)

const resolved = async (wildcard: string, { accessUrl }: Options): Promise<Finding> => {
  const name = wildcard.replace("*", `doctor-${randomBytes(4).toString("hex")}`).replace(/:\d+$/, "")
  const addresses = await addressesOf(name).catch(() => [])
  if (addresses.length === 0) return fault(`${name} has no address`, `add a DNS record of ${wildcard}, beside that of the access URL`)
  const own = accessUrl === "" ? [] : await addressesOf(new URL(accessUrl).hostname).catch(() => [])
  return own.length === 0 || addresses.some((address) => own.includes(address))
    ? ok(`${wildcard} leads to ${addresses.join(", ")}`)
    : warning(
        `${wildcard} leads to ${addresses.join(", ")}, and the access URL to ${own.join(", ")}`,
        "let both lead to the same proxy, unless two are meant"
      )
}

export const wildcardFindings: Check = async (options) => {
  const wildcard = valueOf(options.configuration, "wildcard-access-url")
  return wildcard === ""
    ? [ok("none: apps have paths of the access URL, and ports of workspaces are not served")]
    : [await resolved(wildcard, options)]
}
