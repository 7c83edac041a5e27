/** Preconditions and ranges of requests. RFC 9110 §13, §14. */
import type { IncomingHttpHeaders } from "node:http"

/** The value that a representation is compared by. Undefined if the file does not exist. */
export interface Validators {
  readonly etag: string
  /** Milliseconds since 1970. */
  readonly modified: number
}

/** The entity tags of a list, each with its mark of weakness. */
const tagsOf = (header: string): ReadonlyArray<string> => header.match(/(?:W\/)?"[^"]*"/g) ?? []

const isAny = (header: string): boolean => header.trim() === "*"

/** Whole seconds since 1970, the precision of dates in headers; undefined for what is no date. */
const secondsOf = (date: string | undefined): number | undefined => {
  const time = date === undefined ? Number.NaN : Date.parse(date)
  return Number.isNaN(time) ? undefined : Math.floor(time / 1000)
}

const isModifiedAfter = ({ modified }: Validators, seconds: number): boolean => Math.floor(modified / 1000) > seconds

/** What the preconditions of a request make of it, in the order of RFC 9110 §13.2.2. */
export const precondition = (
  headers: IncomingHttpHeaders,
  current: Validators | undefined,
  isRead: boolean
): "met" | "not modified" | "failed" => {
  const match = headers["if-match"]
  const noneMatch = headers["if-none-match"]
  const unmodifiedSince = secondsOf(headers["if-unmodified-since"])
  const modifiedSince = secondsOf(headers["if-modified-since"])
  if (match !== undefined) {
    if (current === undefined || !(isAny(match) || tagsOf(match).includes(current.etag))) return "failed"
  } else if (unmodifiedSince !== undefined && (current === undefined || isModifiedAfter(current, unmodifiedSince))) return "failed"
  if (noneMatch !== undefined) {
    const matches = current !== undefined && (isAny(noneMatch) || tagsOf(noneMatch).some((tag) => tag.replace(/^W\//, "") === current.etag))
    if (matches) return isRead ? "not modified" : "failed"
  } else if (isRead && modifiedSince !== undefined && current !== undefined && !isModifiedAfter(current, modifiedSince)) {
    return "not modified"
  }
  return "met"
}

/** Bytes of a file, both ends included. */
export interface Range {
  readonly start: number
  readonly end: number
}

/** Whether a range that the client has begun with is one of the current representation. */
const isCurrent = (ifRange: string | string[] | undefined, { etag, modified }: Validators): boolean => {
  if (typeof ifRange !== "string") return true
  if (ifRange.startsWith('"')) return ifRange === etag
  return secondsOf(ifRange) === Math.floor(modified / 1000)
}

/**
 * The part of a file that a request asks for. Undefined is the whole file. A server may ignore several ranges and other units than bytes, so
 * these give the whole file too.
 */
export const rangeOf = (headers: IncomingHttpHeaders, size: number, validators: Validators): Range | "unsatisfiable" | undefined => {
  const parts = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(headers.range?.replaceAll(/[ \t]/g, "") ?? "")
  const [, first = "", last = ""] = parts ?? []
  if ((first === "" && last === "") || !isCurrent(headers["if-range"], validators)) return undefined
  if (first === "") {
    const count = Math.min(Number(last), size)
    return count === 0 ? "unsatisfiable" : { start: size - count, end: size - 1 }
  }
  if (last !== "" && Number(last) < Number(first)) return undefined
  if (Number(first) >= size) return "unsatisfiable"
  return { start: Number(first), end: last === "" ? size - 1 : Math.min(Number(last), size - 1) }
}
