/** How this area is wired: its services, its background work, and what it needs stored. */
import { Effect } from "effect"
import * as Worker from "../platform/background/Worker.js"
import { ExternalLogins } from "./logins/ExternalLogins.js"
import { HostLogins } from "./logins/HostLogins.js"
import { LoginConversions } from "./logins/LoginConversions.js"
import { LoginMethods } from "./logins/LoginMethods.js"
import type { UserLinkRepository } from "./logins/UserLinkRepository.js"
import { PasscodeDelivery } from "./passwords/PasscodeDelivery.js"
import type { PasscodeRepository } from "./passwords/PasscodeRepository.js"
import { Passcodes } from "./passwords/Passcodes.js"
import { UserPasswords } from "./passwords/UserPasswords.js"
import { ScimAccess } from "./scim/ScimAccess.js"
import type { ScimUserRepository } from "./scim/ScimUserRepository.js"
import { ScimUsers } from "./scim/ScimUsers.js"
import type { GitSshKeyRepository } from "./secrets/GitSshKey.js"
import { GitSshKeyPairs } from "./secrets/GitSshKeyPairs.js"
import { GitSshKeys } from "./secrets/GitSshKeys.js"
import { SecretValues } from "./secrets/SecretValues.js"
import type { UserSecretRepository } from "./secrets/UserSecretRepository.js"
import { UserSecrets } from "./secrets/UserSecrets.js"
import type { ApiKeyRepository } from "./sessions/ApiKeyRepository.js"
import { ApiKeys } from "./sessions/ApiKeys.js"
import type { SessionRepository } from "./sessions/SessionRepository.js"
import { Sessions } from "./sessions/Sessions.js"
import { TrustedUsers } from "./sessions/TrustedUsers.js"
import type { SshKeyRepository } from "./sshKeys/SshKey.js"
import { SshKeys } from "./sshKeys/SshKeys.js"
import { PersonalSettings } from "./settings/PersonalSettings.js"
import { QuietHours } from "./settings/QuietHours.js"
import type { UserSettingsRepository } from "./settings/UserSettingsRepository.js"
import type { ClaimRepository } from "./sync/ClaimRepository.js"
import { IdpSyncInForce } from "./sync/IdpSyncInForce.js"
import type { IdpSyncRepository } from "./sync/IdpSyncRepository.js"
import { IdpSyncSettings } from "./sync/IdpSyncSettings.js"
import type { LoginSyncRepository } from "./sync/LoginSyncRepository.js"
import type { AccountRepository } from "./users/AccountRepository.js"
import { Accounts } from "./users/Accounts.js"
import type { DormancyRepository } from "./users/DormancyRepository.js"
import { AccountNotifications } from "./users/AccountNotifications.js"
import { UserCreation } from "./users/UserCreation.js"
import type { UserDeletionRepository } from "./users/UserDeletionRepository.js"
import type { UserDirectoryRepository } from "./users/UserDirectoryRepository.js"
import { UserDormancy } from "./users/UserDormancy.js"
import { UserOrganizations } from "./users/UserOrganizations.js"
import type { UserRepository } from "./users/UserRepository.js"
import { UserRoles } from "./users/UserRoles.js"
import { SetupTokens } from "./users/SetupTokens.js"
import { Users } from "./users/Users.js"
import { together } from "../platform/wiring/Standing.js"

export const layer = together(
  AccountNotifications.layer,
  Accounts.layer,
  ApiKeys.layer,
  ExternalLogins.layer,
  GitSshKeyPairs.layer,
  GitSshKeys.layer,
  HostLogins.layer,
  IdpSyncInForce.layer,
  IdpSyncSettings.layer,
  LoginConversions.layer,
  LoginMethods.layer,
  PasscodeDelivery.layer,
  Passcodes.layer,
  PersonalSettings.layer,
  QuietHours.layer,
  ScimAccess.layer,
  ScimUsers.layer,
  SecretValues.layer,
  Sessions.layer,
  SshKeys.layer,
  TrustedUsers.layer,
  UserCreation.layer,
  UserDormancy.layer,
  UserOrganizations.layer,
  UserPasswords.layer,
  UserRoles.layer,
  Users.layer,
  SetupTokens.layer,
  UserSecrets.layer
)

export const workers = [
  Effect.flatMap(GitSshKeyPairs, ({ sealing }) => Worker.start(sealing)),
  Effect.flatMap(PasscodeDelivery, ({ worker }) => Worker.start(worker)),
  Effect.flatMap(Passcodes, ({ purge }) => Worker.start(purge)),
  Effect.flatMap(UserDormancy, ({ worker }) => Worker.start(worker))
]

export type Stored =
  | AccountRepository
  | ApiKeyRepository
  | ClaimRepository
  | DormancyRepository
  | GitSshKeyRepository
  | IdpSyncRepository
  | LoginSyncRepository
  | PasscodeRepository
  | ScimUserRepository
  | SessionRepository
  | SshKeyRepository
  | UserDeletionRepository
  | UserDirectoryRepository
  | UserLinkRepository
  | UserRepository
  | UserSecretRepository
  | UserSettingsRepository
