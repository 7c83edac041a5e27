import type { Sealed } from "@atelier/core/platform"
import type { StoredState, WorkspaceBuildRepository } from "@atelier/core/workspaces"
import { among } from "../../platform/Among.js"
import { bytes, nullable, row, text, uuid } from "../../platform/Row.js"
import { all, applied, first, run } from "../../platform/Statement.js"
import type { Statements } from "../../platform/Statements.js"

const stored = row({ id: uuid, initiator_id: uuid, provisioner_state: bytes, sealed_state_key_id: text(), sealed_state: nullable(bytes) })
const sealed = row({ id: uuid, initiator_id: uuid, sealed_state_key_id: text(), sealed_state: bytes })
const plain = row({ id: uuid, state: bytes })
const running = row({ workspace_id: uuid })

/** Reads a build's state. A plain text was written by a version without encryption, perhaps after the rest of the row was encrypted. */
const readState = (from: object): StoredState => {
  const { id, initiator_id: user_id, provisioner_state: state, sealed_state: ciphertext, sealed_state_key_id: key_id } = stored(from)
  return ciphertext === null || state.length > 0 ? { id, state } : { id, user_id, value: { key_id, ciphertext } }
}

/** The columns that hold a state. */
export const stateColumns = (state: Sealed | null) => ({
  provisioner_state: new Uint8Array(),
  sealed_state_key_id: state?.key_id ?? "",
  sealed_state: state?.ciphertext ?? null
})

/** The states that engines keep of builds. */
export const provisionerStates = (
  sql: Statements
): Pick<
  WorkspaceBuildRepository["Type"],
  "state" | "statesOf" | "setState" | "plainStates" | "sealState" | "statesSealedOtherwise" | "resealState" | "running"
> => {
  const stateList = sql.literal("b.id, b.initiator_id, b.provisioner_state, b.sealed_state_key_id, b.sealed_state")

  return {
    state: (id) => first(readState, sql`SELECT ${stateList} FROM workspace_builds b WHERE b.id = ${id}`),
    statesOf: (ids) => all(readState, sql`SELECT ${stateList} FROM workspace_builds b WHERE ${among(sql, sql`b.id`, ids)}`),
    setState: (id, state, at) =>
      run(sql`UPDATE workspace_builds SET ${sql.update({ ...stateColumns(state), updated_at: at })} WHERE id = ${id}`),
    plainStates: (after, limit) =>
      all(
        plain,
        sql`SELECT id, provisioner_state AS state FROM workspace_builds
          WHERE length(provisioner_state) > 0 AND id > ${after} ORDER BY id LIMIT ${limit}`
      ),
    sealState: ({ id, state }, to) =>
      applied(
        sql`UPDATE workspace_builds SET ${sql.update(stateColumns(to))} WHERE id = ${id} AND provisioner_state = ${state} RETURNING id`
      ),
    statesSealedOtherwise: (keyId, after, limit) =>
      all(
        (from) => {
          const { id, initiator_id: user_id, sealed_state: ciphertext, sealed_state_key_id: key_id } = sealed(from)
          return { id, user_id, value: { key_id, ciphertext } }
        },
        sql`SELECT id, initiator_id, sealed_state_key_id, sealed_state FROM workspace_builds
          WHERE id > ${after} AND sealed_state_key_id <> ${keyId} AND sealed_state_key_id <> '' ORDER BY id LIMIT ${limit}`
      ),
    resealState: (id, from, to) =>
      applied(
        sql`UPDATE workspace_builds SET sealed_state_key_id = ${to.key_id}, sealed_state = ${to.ciphertext}
          WHERE id = ${id} AND sealed_state_key_id = ${from.key_id} AND sealed_state = ${from.ciphertext} RETURNING id`
      ),
    running: (after, limit) =>
      all(
        (from) => ({ workspace_id: running(from).workspace_id, state: readState(from) }),
        sql`SELECT w.id AS workspace_id, ${stateList}
          FROM workspaces w JOIN workspace_builds b ON b.id = w.latest_build_id
          WHERE w.latest_status = 'running' AND NOT w.deleted AND w.id > ${after} ORDER BY w.id LIMIT ${limit}`
      )
  }
}
