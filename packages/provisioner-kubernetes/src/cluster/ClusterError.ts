import { Data } from "effect"

/** What an answer of the API server says of a refusal. */
interface Status {
  readonly message?: string
  readonly reason?: string
  readonly details?: { readonly causes?: ReadonlyArray<{ readonly reason?: string; readonly message?: string }> }
}

/** A call of the cluster's API that failed. `status` is 0 if the cluster gave no answer. */
export class ClusterError extends Data.TaggedError("ClusterError")<{
  readonly message: string
  readonly status: number
  /** The word of the API server, such as `AlreadyExists`. */
  readonly reason: string
}> {
  get isMissing(): boolean {
    return this.status === 404
  }

  /** Whether an object of this name exists already. */
  get isPresent(): boolean {
    return this.status === 409 && this.reason === "AlreadyExists"
  }

  /** Whether the version that a watch or a list goes on from is too old. */
  get isExpired(): boolean {
    return this.status === 410
  }
}

/** The longest message that is passed on. */
const maximumMessage = 2_000

const statusOf = (body: string): Status => {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === "object" && value !== null ? value : {}
  } catch {
    return {}
  }
}

/** Returns the error that an answer stands for. `doing` names the call, such as `create the Pod x`. */
export const refusalOf = (doing: string, status: number, body: string): ClusterError => {
  const { message = body.trim() || `status ${status}`, reason = "" } = statusOf(body)
  const hint = status === 403 && /is forbidden: User /.test(message) ? " (the engine's account lacks this right; see rbac.yaml)" : ""
  return new ClusterError({ message: `the cluster refused to ${doing}: ${message.slice(0, maximumMessage)}${hint}`, status, reason })
}

/** Returns the error of a call that got no answer. */
export const silence = (doing: string, cause: string): ClusterError =>
  new ClusterError({ message: `the cluster did not ${doing}: ${cause}`, status: 0, reason: "" })
