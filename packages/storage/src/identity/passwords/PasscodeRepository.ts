import { type LoginType, PasscodeRepository } from "@atelier/core/identity"
import { Effect } from "effect"
import { bytes, nullable, row, text, timestamp, uuid } from "../../platform/Row.js"
import { all, first, run, touched } from "../../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { Statements } from "../../platform/Statements.js"

const passcode = row({ id: uuid, user_id: uuid, hashed_passcode: text(), expires_at: timestamp })

const holder = row({ id: uuid, username: text(), login_type: text<LoginType>(), hashed_password: nullable(text()) })
const held = row({ passcode_id: nullable(uuid), hashed_passcode: nullable(text()), expires_at: nullable(timestamp) })

const unsent = row({ id: uuid, user_id: uuid, expires_at: timestamp, email: text(), username: text(), name: text() })
const sealed = row({ unsent_key_id: text(), unsent_passcode: bytes })

export const layer = service(
  PasscodeRepository,
  Effect.map(Statements, (sql) =>
    PasscodeRepository.of({
      holder: (email) =>
        first(
          (from) => {
            const user = holder(from)
            const { expires_at, hashed_passcode, passcode_id: id } = held(from)
            const isHeld = id !== null && hashed_passcode !== null && expires_at !== null
            return { ...user, passcode: isHeld ? { id, user_id: user.id, hashed_passcode, expires_at } : null }
          },
          sql`SELECT u.id, u.username, u.login_type, u.hashed_password, p.id AS passcode_id, p.hashed_passcode, p.expires_at
            FROM users u LEFT JOIN one_time_passcodes p ON p.user_id = u.id
            WHERE lower(u.email) = lower(${email}) AND u.email <> '' AND NOT u.deleted`
        ),
      ofUser: (id) => first(passcode, sql`SELECT id, user_id, hashed_passcode, expires_at FROM one_time_passcodes WHERE user_id = ${id}`),
      replace: (value, unsent, at) => {
        const stored = { ...value, unsent_key_id: unsent?.key_id ?? null, unsent_passcode: unsent?.ciphertext ?? null, due_at: at }
        return run(
          sql`INSERT INTO one_time_passcodes ${sql.insert(stored)}
            ON CONFLICT (user_id) DO UPDATE SET id = excluded.id, hashed_passcode = excluded.hashed_passcode, expires_at = excluded.expires_at,
              unsent_key_id = excluded.unsent_key_id, unsent_passcode = excluded.unsent_passcode, due_at = excluded.due_at`
        )
      },
      unsent: (now, limit) =>
        all(
          (from) => {
            const { unsent_key_id: key_id, unsent_passcode: ciphertext } = sealed(from)
            return { ...unsent(from), sealed: { key_id, ciphertext } }
          },
          sql`SELECT p.id, p.user_id, p.expires_at, p.unsent_key_id, p.unsent_passcode, u.email, u.username, u.name
            FROM one_time_passcodes p JOIN users u ON u.id = p.user_id
            WHERE p.unsent_passcode IS NOT NULL AND p.due_at <= ${now} AND p.expires_at > ${now} AND NOT u.deleted ORDER BY p.due_at LIMIT ${limit}`
        ),
      postpone: (id, until) => run(sql`UPDATE one_time_passcodes SET due_at = ${until} WHERE id = ${id}`),
      forget: (id) => run(sql`UPDATE one_time_passcodes SET unsent_key_id = NULL, unsent_passcode = NULL WHERE id = ${id}`),
      purge: (before, limit) =>
        touched(
          sql`DELETE FROM one_time_passcodes WHERE id IN (
            SELECT id FROM one_time_passcodes WHERE expires_at < ${before} ORDER BY expires_at LIMIT ${limit}) RETURNING id`
        )
    })
  )
)
