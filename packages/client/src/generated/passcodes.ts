// Generated from the contract by `npm run generate`. Changes here are lost.
/** One-time passcodes for forgotten passwords. */
import type { Client } from "../Client.js"
import { call, nothing, type CallOptions } from "../call.js"

export interface RequestPasscodeInput {
  readonly body: {
    readonly email: string
  }
}

/**
 * Request a one-time passcode. Mails a passcode to the user with this email address. The answer does not show whether such a user exists.
 *
 * `POST /api/v2/users/otp/request`
 *
 * @throws AtelierError 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const requestPasscode = (client: Client, input: RequestPasscodeInput, options?: CallOptions): Promise<void> =>
  call(client, "POST", "/api/v2/users/otp/request", nothing, input, options)

export interface ChangePasswordWithPasscodeInput {
  readonly body: {
    readonly email: string
    readonly one_time_passcode: string
    readonly password: string
  }
}

/**
 * Reset a password. Sets a new password with a one-time passcode and ends the user's sessions.
 *
 * `POST /api/v2/users/otp/change-password`
 *
 * @throws AtelierError 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const changePasswordWithPasscode = (client: Client, input: ChangePasswordWithPasscodeInput, options?: CallOptions): Promise<void> =>
  call(client, "POST", "/api/v2/users/otp/change-password", nothing, input, options)
