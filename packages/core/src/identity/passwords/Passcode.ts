/** Codes that let users choose another password who have forgotten theirs. identity.md §6.5. */
import { productName } from "../../deployment/ProductName.js"
import { Duration } from "effect"
import { type EmailMessage } from "../../notifications/EmailMessage.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { User, UserId } from "../users/User.js"

/** How long a code can be used. */
export const passcodeLifetime = Duration.minutes(20)

/** The stored part of a code. A user has at most one. */
export interface Passcode {
  readonly id: Uuid
  readonly user_id: UserId
  /** Made by `PasswordHasher`. */
  readonly hashed_passcode: string
  readonly expires_at: Timestamp.Timestamp
}

/** A code is good until the instant it expires. `now` is in milliseconds since 1970. */
export const isUsable = ({ expires_at }: Pick<Passcode, "expires_at">, now: number): boolean => Timestamp.toMillis(expires_at) > now

/** The message that carries a code. The link leads to the page for a new password. notifications-audit-insights.md §A2. */
export const passcodeMessage = (
  user: Pick<User, "email" | "username" | "name">,
  code: string,
  { accessUrl, brand }: { readonly accessUrl: string; readonly brand: string }
): EmailMessage => ({
  subject: `Reset your password for ${productName(brand)}`,
  name: user.name || user.username,
  paragraphs: [
    `A password reset was requested for your account ${user.username} at ${accessUrl}.`,
    `Your one-time passcode is ${code}. It can be used once, within ${Duration.toMinutes(passcodeLifetime)} minutes of the request.`,
    "If this was not you, ignore this message: your password stays as it is."
  ],
  actions: [
    {
      label: "Reset password",
      url: `${accessUrl}/reset-password/change?otp=${encodeURIComponent(code)}&email=${encodeURIComponent(user.email)}`
    }
  ]
})
