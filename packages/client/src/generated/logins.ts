// Generated from the contract by `npm run generate`. Changes here are lost.
/** Login with a password, and logout. */
import type { Client } from "../Client.js"
import { call, json, nothing, type CallOptions } from "../call.js"
import type { AuthMethods, Message, UserLoginType, ValidateUserPasswordResponse } from "./types.js"

/**
 * Log out. Ends the caller's session and clears its cookie.
 *
 * `POST /api/v2/users/logout`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const logOut = (client: Client, options?: CallOptions): Promise<Message> =>
  call(client, "POST", "/api/v2/users/logout", json, {}, options)

export interface GetLoginTypeInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
}

/**
 * Get a user's login type. Returns the login type of a user.
 *
 * `GET /api/v2/users/{user}/login-type`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getLoginType = (client: Client, input: GetLoginTypeInput, options?: CallOptions): Promise<UserLoginType> =>
  call(client, "GET", "/api/v2/users/{user}/login-type", json, input, options)

export interface UpdatePasswordInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
  readonly body: {
    readonly password: string
    readonly old_password?: string | undefined
  }
}

/**
 * Change a password. Sets a user's password. Users give their old password to change their own.
 *
 * `PUT /api/v2/users/{user}/password`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const updatePassword = (client: Client, input: UpdatePasswordInput, options?: CallOptions): Promise<void> =>
  call(client, "PUT", "/api/v2/users/{user}/password", nothing, input, options)

/**
 * List login methods. Returns the ways to log in that this deployment offers. Needs no credential.
 *
 * `GET /api/v2/users/authmethods`
 *
 * @throws AtelierError 414 UrlTooLong, 431 HeadTooLarge
 */
export const listLoginMethods = (client: Client, options?: CallOptions): Promise<AuthMethods> =>
  call(client, "GET", "/api/v2/users/authmethods", json, {}, options)

export interface LogInResult {
  readonly session_token: string
}

export interface LogInInput {
  readonly body: {
    readonly email: string
    readonly password: string
  }
}

/**
 * Log in with a password. Checks an email address and a password and returns a session token, also as a cookie.
 *
 * `POST /api/v2/users/login`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const logIn = (client: Client, input: LogInInput, options?: CallOptions): Promise<LogInResult> =>
  call(client, "POST", "/api/v2/users/login", json, input, options)

export interface ValidatePasswordInput {
  readonly body: {
    readonly password: string
  }
}

/**
 * Validate a password. Says whether a password is strong enough, without storing it.
 *
 * `POST /api/v2/users/validate-password`
 *
 * @throws AtelierError 414 UrlTooLong, 431 HeadTooLarge
 */
export const validatePassword = (client: Client, input: ValidatePasswordInput, options?: CallOptions): Promise<ValidateUserPasswordResponse> =>
  call(client, "POST", "/api/v2/users/validate-password", json, input, options)
